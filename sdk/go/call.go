package airlock

import (
	"fmt"
	"runtime"

	"airlock-tool/internal/guest"
)

// Call is a call of a tool, while it runs.
type Call struct {
	// ID identifies the call in logs.
	ID string
	// Tool is the name that it was called by.
	Tool string

	hasReject bool
	// Whether it has returned.
	isOver bool
	// What was pushed behind that, by a goroutine that nobody waits for.
	late []string
}

// Action is a preview that waits for a decision, and outlives this instance. The tool's Apply is
// called with its state.
type Action struct {
	// Label says what would happen, in one line, for whoever decides.
	Label string
	// Details is for reviewers; it is written as JSON. Nil for none.
	Details any
	// State is what Apply will need; it is written as JSON.
	State any
}

// VolatileAction is a preview that lives in this instance's memory: once that is gone, it can only
// be discarded.
type VolatileAction struct {
	Label   string
	Details any
	// Source is the tool that made the preview. Where it is nil, that is the call's.
	Source *string
	// Apply does what was announced. After an error it may be called again.
	Apply func(resolution *Resolution) (*Result, error)
	// Reject cleans up after a discard. It may be nil.
	Reject func(resolution *Resolution) (*Result, error)
}

// Push puts a durable action on top of the session's stack, and gives its id. The error is a
// [*PushError] where the host refused it.
func (c *Call) Push(action Action) (id string, err error) {
	state, err := writeJSON("state", action.State)
	if err != nil {
		return "", fmt.Errorf("the state of %q can't be written as JSON: %w", action.Label, err)
	}
	if c.isOver {
		return "", c.tooLate(action.Label)
	}
	source := c.Tool
	return push(guest.Action{Label: action.Label, SourceToolName: &source, HasReject: c.hasReject, State: state}, action.Details)
}

// PushVolatile puts a volatile action on top of the session's stack, and gives its id. Errors are
// as with [Call.Push].
func (c *Call) PushVolatile(action VolatileAction) (id string, err error) {
	if c.isOver {
		return "", c.tooLate(action.Label)
	}
	source := action.Source
	if source == nil {
		source = &c.Tool
	}
	pending := guest.Action{Label: action.Label, SourceToolName: source, HasReject: action.Reject != nil}
	id, err = push(pending, action.Details)
	if err == nil {
		component.held[id] = action
	}
	return id, err
}

// tooLate keeps an action off the stack: it would become another call's.
func (c *Call) tooLate(label string) error {
	c.late = append(c.late, label)
	return fmt.Errorf("%q was pushed when tool `%s` had returned already: wait for the goroutine that pushes it", label, c.Tool)
}

func push(action guest.Action, details any) (string, error) {
	written, err := writeDetails(details)
	if err != nil {
		return "", fmt.Errorf("the details of %q can't be written as JSON: %w", action.Label, err)
	}
	action.Details = written
	id, refusal := guest.Host.Push(action)
	if refusal != nil {
		return "", &PushError{kind: refusal.Kind, message: refusal.Message, place: placeOfCaller(2)}
	}
	return id, nil
}

// placeOfCaller gives the file and line of the caller so many functions up, that of the caller
// being 0; nothing where Go doesn't know it.
func placeOfCaller(up int) string {
	_, file, line, known := runtime.Caller(up + 1)
	if !known {
		return ""
	}
	return fmt.Sprintf("%s:%d", shortened(file), line)
}

// IsCancelled tells whether nobody waits for the answer any more. A tool that runs for long asks
// now and then, and returns [ErrCancelled].
func (c *Call) IsCancelled() bool { return guest.Host.IsCancelled() }

// Progress tells whoever waits that something happens.
func (c *Call) Progress(message string) { guest.Host.Progress(message, nil, nil) }

// ProgressOf tells how far the call is, in a unit of the tool's own.
func (c *Call) ProgressOf(message string, progress, total float64) {
	guest.Host.Progress(message, &progress, &total)
}

// Session gives the session of the call; false where there is none.
func (c *Call) Session() (Session, bool) { return currentSession() }

// Session is the conversation that a call belongs to.
type Session struct {
	// ID is the same for every call of one conversation.
	ID string
	// Workspace is where the workspace is; empty where there is none.
	Workspace string
	// HasPendingStore tells whether Push has somewhere to put an action.
	HasPendingStore bool
}

func currentSession() (Session, bool) {
	info, found := guest.Host.Session()
	session := Session{ID: info.ID, HasPendingStore: info.HasPendingStore}
	if info.Workspace != nil {
		session.Workspace = *info.Workspace
	}
	return session, found
}
