package airlock

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// schema is a JSON Schema, with its keywords in the order in which people read them.
type schema struct {
	Ref                  string             `json:"$ref,omitempty"`
	Type                 any                `json:"type,omitempty"`
	Description          string             `json:"description,omitempty"`
	Format               string             `json:"format,omitempty"`
	ContentEncoding      string             `json:"contentEncoding,omitempty"`
	Enum                 []any              `json:"enum,omitempty"`
	MinLength            *uint64            `json:"minLength,omitempty"`
	MaxLength            *uint64            `json:"maxLength,omitempty"`
	MinItems             *uint64            `json:"minItems,omitempty"`
	MaxItems             *uint64            `json:"maxItems,omitempty"`
	Minimum              *json.Number       `json:"minimum,omitempty"`
	Maximum              *json.Number       `json:"maximum,omitempty"`
	Items                *schema            `json:"items,omitempty"`
	Properties           properties         `json:"properties,omitempty"`
	Required             []string           `json:"required,omitempty"`
	AdditionalProperties any                `json:"additionalProperties,omitempty"`
	Defs                 map[string]*schema `json:"$defs,omitempty"`

	// Said by the type itself.
	own json.RawMessage
}

// MarshalJSON writes what the type says itself, where it does.
func (s *schema) MarshalJSON() ([]byte, error) {
	if s.own != nil {
		return s.own, nil
	}
	type plain schema
	return json.Marshal((*plain)(s))
}

type property struct {
	name   string
	schema *schema
}

// properties keep the order of the struct's fields.
type properties []property

// MarshalJSON writes them as an object.
func (p properties) MarshalJSON() ([]byte, error) {
	var text strings.Builder
	for i, property := range p {
		name, err := json.Marshal(property.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(property.schema)
		if err != nil {
			return nil, err
		}
		separator := byte(',')
		if i == 0 {
			separator = '{'
		}
		text.WriteByte(separator)
		text.Write(name)
		text.WriteByte(':')
		text.Write(value)
	}
	return []byte(text.String() + "}"), nil
}

// describer is a type that says its schema itself.
type describer interface{ JSONSchema() json.RawMessage }

// schemaOf gives the schema of a tool's params: an object.
func schemaOf(params reflect.Type) (string, error) {
	text, err := write(params)
	if err != nil {
		return "", err
	}
	var top struct{ Type any }
	if err := json.Unmarshal([]byte(text), &top); err != nil || top.Type != "object" {
		return "", fmt.Errorf("%s is not a struct", params)
	}
	return text, nil
}

// schemaOfValue gives the schema of any type.
func schemaOfValue(value any) (string, error) { return write(reflect.TypeOf(value)) }

func write(t reflect.Type) (string, error) {
	r := reflector{defs: map[string]*schema{}, names: map[reflect.Type]string{}, open: map[reflect.Type]bool{}}
	top, err := r.of(t, true)
	if err != nil {
		return "", err
	}
	if len(r.defs) > 0 {
		top.Defs = r.defs
	}
	text, err := json.Marshal(top)
	return string(text), err
}

// reflector makes schemas of types. A type that contains itself is put among the definitions, and
// referred to.
type reflector struct {
	defs  map[string]*schema
	names map[reflect.Type]string
	// The types that the current one is a part of.
	open map[reflect.Type]bool
}

func (r *reflector) of(t reflect.Type, top bool) (*schema, error) {
	if own, ok := reflect.New(t).Interface().(describer); ok {
		text := own.JSONSchema()
		if !json.Valid(text) {
			return nil, fmt.Errorf("the method JSONSchema of %s does not return JSON", t)
		}
		return &schema{own: text}, nil
	}
	switch t {
	case reflect.TypeFor[time.Time]():
		return &schema{Type: "string", Format: "date-time"}, nil
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[any]():
		return &schema{}, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return &schema{Type: "boolean"}, nil
	case reflect.String:
		return &schema{Type: "string"}, nil
	case reflect.Float32, reflect.Float64:
		return &schema{Type: "number"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &schema{Type: "integer", Minimum: limit(t, -1), Maximum: limit(t, 1)}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &schema{Type: "integer", Minimum: limit(t, -1), Maximum: limit(t, 1)}, nil
	case reflect.Pointer:
		// A pointer is how Go says that a value may be absent; on its own it may be null too.
		return r.of(t.Elem(), top)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &schema{Type: "string", ContentEncoding: "base64"}, nil
		}
		items, err := r.of(t.Elem(), false)
		return &schema{Type: "array", Items: items}, err
	case reflect.Array:
		items, err := r.of(t.Elem(), false)
		length := uint64(t.Len())
		return &schema{Type: "array", Items: items, MinItems: &length, MaxItems: &length}, err
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return nil, fmt.Errorf("%s has keys that are not strings", t)
		}
		values, err := r.of(t.Elem(), false)
		return &schema{Type: "object", AdditionalProperties: values}, err
	case reflect.Struct:
		return r.structure(t, top)
	default:
		return nil, fmt.Errorf("%s has no form in JSON", t)
	}
}

func (r *reflector) structure(t reflect.Type, top bool) (*schema, error) {
	if r.open[t] {
		return &schema{Ref: "#/$defs/" + r.name(t)}, nil
	}
	r.open[t] = true
	object := &schema{Type: "object", AdditionalProperties: false}
	err := r.fields(t, object)
	delete(r.open, t)
	if name, referred := r.names[t]; referred && err == nil {
		definition := *object
		r.defs[name] = &definition
		if !top {
			return &schema{Ref: "#/$defs/" + name}, nil
		}
	}
	return object, err
}

// name gives a name that no other type has.
func (r *reflector) name(t reflect.Type) string {
	name, known := r.names[t]
	if !known {
		name = fmt.Sprintf("%s%d", t.Name(), len(r.names)+1)
		r.names[t] = name
	}
	return name
}

func (r *reflector) fields(t reflect.Type, object *schema) error {
	for i := range t.NumField() {
		field := t.Field(i)
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if tag == "-" && options == "" {
			continue
		}
		embedded := field.Type
		if embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		if field.Anonymous && tag == "" && embedded.Kind() == reflect.Struct {
			// Its fields are the outer one's, as encoding/json has it.
			if err := r.fields(embedded, object); err != nil {
				return err
			}
			continue
		}
		if !field.IsExported() {
			continue
		}
		name := field.Name
		if tag != "" {
			name = tag
		}
		value, err := r.of(field.Type, false)
		if err == nil {
			value, err = narrow(value, field)
		}
		if err != nil {
			return fmt.Errorf("the field %s of %s: %w", field.Name, t, err)
		}
		object.Properties = append(object.Properties, property{name, value})
		if !optional(field, options) {
			object.Required = append(object.Required, name)
		}
	}
	return nil
}

func optional(field reflect.StructField, options string) bool {
	for option := range strings.SplitSeq(options, ",") {
		if option == "omitempty" || option == "omitzero" {
			return true
		}
	}
	return field.Type.Kind() == reflect.Pointer
}

// narrow adds what the field's tags say.
func narrow(value *schema, field reflect.StructField) (*schema, error) {
	doc, rules := field.Tag.Get("doc"), field.Tag.Get("schema")
	if doc == "" && rules == "" {
		return value, nil
	}
	if value.own != nil {
		return nil, errors.New("its type defines its own schema, so the tags doc and schema don't apply")
	}
	value.Description = doc
	if rules == "" {
		return value, nil
	}
	for rule := range strings.SplitSeq(rules, ",") {
		if err := value.apply(rule); err != nil {
			return nil, err
		}
	}
	return value, nil
}
