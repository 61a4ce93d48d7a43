package airlock

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

type inner struct {
	Size int `json:"size"`
}

type tree struct {
	Name     string `json:"name"`
	Children []tree `json:"children,omitempty"`
}

type side string

func (side) JSONSchema() json.RawMessage { return json.RawMessage(`{"enum":["left","right"]}`) }

func TestSchemasOfTypes(t *testing.T) {
	check := func(params any, expected string) {
		t.Helper()
		found, err := schemaOfValue(params)
		if err != nil {
			t.Errorf("%T: %v", params, err)
		} else if found != expected {
			t.Errorf("%T:\n%s, not\n%s", params, found, expected)
		}
	}
	check(struct{}{}, `{"type":"object","additionalProperties":false}`)
	check(struct {
		Files []string `json:"files" doc:"What to rename." schema:"minItems=1,maxItems=3"`
		Mode  string   `json:"mode,omitempty" schema:"enum=fast|safe"`
		Depth *int8    `json:"depth"`
		Ratio float64  `json:"ratio" schema:"minimum=0,maximum=0.5"`
		Name  string   `schema:"minLength=1,maxLength=8,format=uri"`
	}{}, `{"type":"object","properties":{`+
		`"files":{"type":"array","description":"What to rename.","minItems":1,"maxItems":3,"items":{"type":"string"}},`+
		`"mode":{"type":"string","enum":["fast","safe"]},`+
		`"depth":{"type":"integer","minimum":-128,"maximum":127},`+
		`"ratio":{"type":"number","minimum":0,"maximum":0.5},`+
		`"Name":{"type":"string","format":"uri","minLength":1,"maxLength":8}},`+
		`"required":["files","ratio","Name"],"additionalProperties":false}`)
	check(struct {
		inner
		At    time.Time         `json:"at"`
		Data  []byte            `json:"data"`
		Extra any               `json:"extra,omitempty"`
		Raw   json.RawMessage   `json:"raw,omitempty"`
		Map   map[string]uint16 `json:"map,omitzero"`
		Pair  [2]bool           `json:"pair"`
		Side  side              `json:"side"`
		Gone  string            `json:"-"`
		own   int
	}{}, `{"type":"object","properties":{`+
		`"size":{"type":"integer"},`+
		`"at":{"type":"string","format":"date-time"},`+
		`"data":{"type":"string","contentEncoding":"base64"},`+
		`"extra":{},"raw":{},`+
		`"map":{"type":"object","additionalProperties":{"type":"integer","minimum":0,"maximum":65535}},`+
		`"pair":{"type":"array","minItems":2,"maxItems":2,"items":{"type":"boolean"}},`+
		`"side":{"enum":["left","right"]}},`+
		`"required":["size","at","data","pair","side"],"additionalProperties":false}`)
}

func TestATypeThatContainsItselfIsReferredTo(t *testing.T) {
	found, err := schemaOf(reflect.TypeFor[tree]())
	if err != nil {
		t.Fatal(err)
	}
	properties := `"properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/tree1"}}},` +
		`"required":["name"],"additionalProperties":false`
	expected := `{"type":"object",` + properties + `,"$defs":{"tree1":{"type":"object",` + properties + `}}}`
	if found != expected {
		t.Errorf("%s, not\n%s", found, expected)
	}
	if _, err := schemaOf(reflect.TypeFor[struct{ Left, Right tree }]()); err != nil {
		t.Error(err)
	}
}

func TestWhatHasNoSchemaIsNamed(t *testing.T) {
	check := func(params reflect.Type, part string) {
		t.Helper()
		if _, err := schemaOf(params); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, without %q", params, err, part)
		}
	}
	check(reflect.TypeFor[string](), "string is not a struct")
	check(reflect.TypeFor[struct{ Done chan int }](), "the field Done")
	check(reflect.TypeFor[struct{ Sizes map[int]int }](), "keys that are not strings")
	check(reflect.TypeFor[struct {
		Size int `schema:"minLength=1"`
	}](), `the rule "minLength=1" of the tag schema: the field is not of type string`)
	check(reflect.TypeFor[struct {
		Size int `schema:"least=1"`
	}](), "unknown keyword")
	check(reflect.TypeFor[struct {
		Size string `schema:"maxLength=many"`
	}](), "invalid syntax")
	check(reflect.TypeFor[struct {
		Side side `doc:"A side."`
	}](), "defines its own schema")
}
