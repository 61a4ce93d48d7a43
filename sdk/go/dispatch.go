package airlock

import (
	"errors"
	"fmt"

	"github.com/airlock-dev/airlock/sdk/go/internal/guest"
)

// tools is what the host reaches.
type tools struct {
	definitions []guest.Definition
	byName      map[string]Tool
	// Volatile actions, by their ids.
	held map[string]VolatileAction
}

var component = newTools()

func newTools() *tools {
	return &tools{byName: map[string]Tool{}, held: map[string]VolatileAction{}}
}

func init() {
	guest.Exports.Definitions = func() []guest.Definition { return component.definitions }
	guest.Exports.Execute = func(callID, name, params string) (guest.Result, *guest.Failure) {
		return component.execute(callID, name, params)
	}
	guest.Exports.Apply = func(resolution guest.Resolution) (guest.Result, *guest.Failure) {
		return component.apply(resolution)
	}
	guest.Exports.Reject = func(resolution guest.Resolution) (*guest.Result, *guest.Failure) {
		return component.reject(resolution)
	}
}

func (t *tools) add(tool Tool) error {
	if tool.Name == "" {
		return errors.New("a tool has no name")
	}
	if _, taken := t.byName[tool.Name]; taken {
		return fmt.Errorf("two tools have the name %q", tool.Name)
	}
	if tool.Execute.run == nil {
		return fmt.Errorf("the tool %q has no Execute", tool.Name)
	}
	if tool.Label == "" {
		tool.Label = tool.Name
	}
	parameters, err := schemaOf(tool.Execute.params)
	if err != nil {
		return fmt.Errorf("the params of the tool %q: %w", tool.Name, err)
	}
	definition := guest.Definition{
		Name:        tool.Name,
		Label:       tool.Label,
		Description: tool.Description,
		Parameters:  parameters,
		Traits:      uint8(tool.Traits),
	}
	if tool.Output != nil {
		output, err := schemaOfValue(tool.Output)
		if err != nil {
			return fmt.Errorf("the output of the tool %q: %w", tool.Name, err)
		}
		definition.Output = &output
	}
	t.definitions = append(t.definitions, definition)
	t.byName[tool.Name] = tool
	return nil
}

func (t *tools) execute(callID, name, params string) (guest.Result, *guest.Failure) {
	tool, found := t.byName[name]
	if !found {
		return guest.Result{}, lowerError(fmt.Errorf("this component has no tool %q", name))
	}
	call := &Call{ID: callID, Tool: name, hasReject: tool.Reject.run != nil}
	result, err := tool.Execute.run(call, []byte(params))
	if err != nil {
		return guest.Result{}, lowerError(err)
	}
	return result.lower()
}

func (t *tools) apply(r guest.Resolution) (guest.Result, *guest.Failure) {
	resolution := lift(r)
	run := t.byName[r.SourceToolName].Apply.run
	if action, isHeld := t.held[r.ActionID]; isHeld {
		run = action.Apply
	} else if !r.HasState {
		run = nil
	}
	if run == nil {
		return guest.Result{}, lowerError(fmt.Errorf("this component has no Apply for the action %s", r.ActionID))
	}
	result, err := run(resolution)
	if err != nil {
		// It may be tried again.
		return guest.Result{}, lowerError(err)
	}
	lowered, failure := result.lower()
	if failure == nil {
		delete(t.held, r.ActionID)
	}
	return lowered, failure
}

func (t *tools) reject(r guest.Resolution) (*guest.Result, *guest.Failure) {
	resolution := lift(r)
	run := t.byName[r.SourceToolName].Reject.run
	if action, isHeld := t.held[r.ActionID]; isHeld {
		run = action.Reject
		delete(t.held, r.ActionID)
	} else if !r.HasState {
		run = nil
	}
	if run == nil {
		return nil, nil
	}
	result, err := run(resolution)
	if err != nil {
		return nil, lowerError(err)
	}
	if result == nil {
		return nil, nil
	}
	lowered, failure := result.lower()
	return &lowered, failure
}

func lift(r guest.Resolution) *Resolution {
	resolution := &Resolution{
		ActionID: r.ActionID,
		Label:    r.Label,
		Source:   r.SourceToolName,
		Reason:   r.Reason,
		Attempt:  int(r.Attempt),
		state:    r.State,
	}
	if r.Extra != nil {
		resolution.Extra = []byte(*r.Extra)
	}
	return resolution
}
