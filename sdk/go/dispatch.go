package airlock

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"

	"airlock-tool/internal/guest"
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

// add takes a tool. One that can't be used is told to the host with the reason, which leaves it
// out: a text in place of the schema.
func (t *tools) add(tool Tool) {
	if err := t.describe(tool); err != nil {
		reason, _ := json.Marshal(err.Error())
		t.definitions = append(t.definitions, guest.Definition{Name: tool.Name, Parameters: string(reason)})
	}
}

func (t *tools) describe(tool Tool) error {
	if tool.Name == "" {
		return errors.New("it has no Name")
	}
	if _, taken := t.byName[tool.Name]; taken {
		return errors.New("another tool of this plugin has that name")
	}
	if tool.Execute.run == nil {
		return errors.New("it has no Execute")
	}
	if tool.Label == "" {
		tool.Label = tool.Name
	}
	parameters, err := schemaOf(tool.Execute.params)
	if err != nil {
		return fmt.Errorf("its params: %w", err)
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
			return fmt.Errorf("its output: %w", err)
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
	defer tellPanic(name)
	call := &Call{ID: callID, Tool: name, hasReject: tool.Reject.run != nil}
	result, err := tool.Execute.run(call, []byte(params))
	call.isOver = true
	if err != nil {
		return guest.Result{}, lowerError(err)
	}
	// Goroutines that are ready run now, and not in a call of somebody else's.
	runtime.Gosched()
	if len(call.late) > 0 {
		return guest.Result{}, lowerError(call.tooLate(call.late[0]))
	}
	return result.lower()
}

func (t *tools) apply(r guest.Resolution) (guest.Result, *guest.Failure) {
	defer tellPanic(r.SourceToolName)
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
	defer tellPanic(r.SourceToolName)
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
