package airlock

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// Traits are what a host may assume about a tool without having called it. They are hints; the
// sandbox doesn't rely on them.
type Traits uint8

// The traits.
const (
	// Hidden tools are left out of listings; they can still be called by name.
	Hidden Traits = 1 << iota
	// Deferrable tools may push actions instead of acting at once.
	Deferrable
	// ReadOnly tools never change anything, and so never push an action.
	ReadOnly
	// Destructive tools have actions that can't be undone by calling them again.
	Destructive
	// Idempotent tools have actions that do the same applied twice as applied once.
	Idempotent
	// OpenWorld tools reach beyond the workspace.
	OpenWorld
)

// Tool is one tool of a component.
type Tool struct {
	// Name is 1 to 64 of the characters A-Z a-z 0-9 _ . -
	Name string
	// Label is what a person reads in a list, one line. Where it is empty, it is the name.
	Label string
	// Description is what the model reads.
	Description string
	// Output has the type of the details of the tool's results; nil where it promises none.
	Output any
	Traits Traits
	// Execute runs the tool, with the workspace read-only. It is made by [Typed].
	Execute Handler
	// Apply does what a durable action announced, with the workspace writable. It is made by
	// [Durable].
	Apply Resolver
	// Reject cleans up after a durable action that was discarded. It may be left out.
	Reject Resolver
}

// Handler is a function that runs a tool, together with the schema of its params.
type Handler struct {
	params reflect.Type
	run    func(call *Call, params []byte) (*Result, error)
}

// Typed makes a handler of a function with typed params: a struct, whose fields become the
// properties of the tool's schema.
//
// The name of a property is that of the field's json tag. One without omitempty or omitzero that is
// no pointer is required. The tag doc describes it, and the tag schema narrows it:
// `schema:"minLength=1,maxLength=80"`, with minLength, maxLength, minItems, maxItems, minimum,
// maximum, format and enum (whose values stand between bars: `enum=left|right`). A type with a
// method `JSONSchema() json.RawMessage` says its schema itself.
func Typed[P any](run func(call *Call, params P) (*Result, error)) Handler {
	return Handler{
		params: reflect.TypeFor[P](),
		run: func(call *Call, text []byte) (*Result, error) {
			var params P
			if err := json.Unmarshal(text, &params); err != nil {
				return nil, ToolError("the params don't fit: " + err.Error())
			}
			return run(call, params)
		},
	}
}

// Resolver is a function that is told of a decision about a durable action.
type Resolver struct {
	run func(resolution *Resolution) (*Result, error)
}

// Durable makes a resolver of a function with the state that was pushed, which went through JSON.
func Durable[S any](run func(resolution *Resolution, state S) (*Result, error)) Resolver {
	return Resolver{func(resolution *Resolution) (*Result, error) {
		var state S
		if err := json.Unmarshal(resolution.state, &state); err != nil {
			return nil, fmt.Errorf("can't read the action's state (%w); discard it and preview again", err)
		}
		return run(resolution, state)
	}}
}

// Register adds tools to the component. Call it from an init function, for nothing else runs before
// the host asks for them.
//
// A tool that can't be described is left out by the host, with the reason: without a name or
// Execute, under a name that is taken, or with params that have no JSON Schema. The others are
// there all the same.
func Register(tools ...Tool) {
	for _, tool := range tools {
		component.add(tool)
	}
}
