package airlock

import (
	"encoding/json"

	"airlock-tool/internal/guest"
)

// Resolution is a decision about an action that this component pushed.
type Resolution struct {
	// ActionID is what the push gave.
	ActionID string
	Label    string
	// Source is the action's tool.
	Source string
	// Reason says why it was decided so. It should not change what happens.
	Reason string
	// Extra is a JSON object with whatever else came with the decision; nil where nothing did.
	Extra json.RawMessage
	// Attempt is 1 for the first try, and more after one that failed or was interrupted.
	Attempt int

	state []byte
}

// IsCancelled is as [Call.IsCancelled].
func (r *Resolution) IsCancelled() bool { return guest.Host.IsCancelled() }

// Progress is as [Call.Progress].
func (r *Resolution) Progress(message string) { guest.Host.Progress(message, nil, nil) }

// ProgressOf is as [Call.ProgressOf].
func (r *Resolution) ProgressOf(message string, progress, total float64) {
	guest.Host.Progress(message, &progress, &total)
}

// Session is as [Call.Session].
func (r *Resolution) Session() (Session, bool) { return currentSession() }
