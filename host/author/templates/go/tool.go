// The tool {{tool}}: adds a line to a file, once somebody agreed.
package main

import (
	"fmt"
	"os"

	airlock "airlock-tool"
)

// Params is what a caller passes.
type Params struct {
	Path string `json:"path" doc:"The file's path, relative to the workspace."`
	Line string `json:"line" doc:"The line to add."`
}

// Plan is what waits for a decision: enough to notice that the file has changed since.
type Plan struct {
	Path   string `json:"path"`
	Before string `json:"before"`
	After  string `json:"after"`
}

func init() {
	airlock.Register(airlock.Tool{
		Name:        "{{tool}}",
		Label:       "{{label}}",
		Description: "Adds a line at the end of a file.",
		Traits:      airlock.Deferrable | airlock.Idempotent,
		Execute:     airlock.Typed(preview),
		Apply:       airlock.Durable(apply),
	})
}

// A component is a library: nothing runs but what the host calls.
func main() {}

func preview(call *airlock.Call, params Params) (*airlock.Result, error) {
	before, err := os.ReadFile(params.Path)
	if err != nil {
		return nil, airlock.ToolErrorf("can't read %s: %v", params.Path, err)
	}
	plan := Plan{params.Path, string(before), fmt.Sprintf("%s%s\n", before, params.Line)}
	if _, err := call.Push(airlock.Action{Label: "{{label}}: " + params.Path, State: plan}); err != nil {
		return nil, err
	}
	return airlock.Textf("Would add to %s: %s", params.Path, params.Line), nil
}

func apply(resolution *airlock.Resolution, plan Plan) (*airlock.Result, error) {
	now, err := os.ReadFile(plan.Path)
	if err != nil {
		return nil, airlock.ToolErrorf("can't read %s: %v", plan.Path, err)
	}
	// An attempt before this one may have done it already.
	if string(now) != plan.After {
		if string(now) != plan.Before {
			return nil, airlock.ToolErrorf("%s changed since the preview: preview again.", plan.Path)
		}
		if err := os.WriteFile(plan.Path, []byte(plan.After), 0o644); err != nil {
			return nil, err
		}
	}
	return airlock.Textf("Added a line to %s. Reason: %s", plan.Path, resolution.Reason), nil
}
