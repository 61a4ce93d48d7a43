package airlock

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
)

// writeJSON gives value as JSON. What encoding/json would leave out in silence is an error, with
// its place: place is that of value itself.
func writeJSON(place string, value any) ([]byte, error) {
	written, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	// What could be written doesn't contain itself.
	if at, lost := findLost(place, reflect.ValueOf(value)); lost != nil {
		return nil, fmt.Errorf("%s is a %s, none of whose fields is exported, so that JSON would lose them", at, lost)
	}
	return written, nil
}

// findLost gives the first place of a struct of which nothing would be written, and its type; nil
// where there is none.
func findLost(place string, value reflect.Value) (string, reflect.Type) {
	if !value.IsValid() || writesItself(value.Type()) {
		return "", nil
	}
	switch value.Kind() {
	case reflect.Interface, reflect.Pointer:
		return findLost(place, value.Elem())
	case reflect.Slice, reflect.Array:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			return "", nil
		}
		for i := range value.Len() {
			if at, lost := findLost(fmt.Sprintf("%s[%d]", place, i), value.Index(i)); lost != nil {
				return at, lost
			}
		}
	case reflect.Map:
		for entries := value.MapRange(); entries.Next(); {
			if at, lost := findLost(fmt.Sprintf("%s[%v]", place, entries.Key()), entries.Value()); lost != nil {
				return at, lost
			}
		}
	case reflect.Struct:
		return findLostField(place, value)
	}
	return "", nil
}

func findLostField(place string, value reflect.Value) (string, reflect.Type) {
	fields, written := value.NumField(), false
	for i := range fields {
		field := value.Type().Field(i)
		// The exported fields of one that is embedded are written, also where its type is not exported.
		if !field.IsExported() && !field.Anonymous {
			continue
		}
		written = true
		if field.Tag.Get("json") == "-" || !field.IsExported() {
			continue
		}
		if at, lost := findLost(place+"."+field.Name, value.Field(i)); lost != nil {
			return at, lost
		}
	}
	if fields > 0 && !written {
		return place, value.Type()
	}
	return "", nil
}

// writesItself tells whether values of a type say what they are in JSON.
func writesItself(of reflect.Type) bool {
	for _, method := range []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()} {
		if of.Implements(method) || reflect.PointerTo(of).Implements(method) {
			return true
		}
	}
	return false
}
