package airlock

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"syscall"

	"airlock-tool/internal/guest"
)

// ToolError is an error that a tool says on purpose: it reaches the caller word for word. Any other
// error is a failure, which the caller of an apply reads behind "Apply failed: ".
type ToolError string

// Error gives the message.
func (e ToolError) Error() string { return string(e) }

// ToolErrorf is a [ToolError], as fmt.Sprintf writes it.
func ToolErrorf(format string, values ...any) ToolError {
	return ToolError(fmt.Sprintf(format, values...))
}

// ErrCancelled is returned by a tool that noticed [Call.IsCancelled] and stopped.
var ErrCancelled = errors.New("cancelled")

// What a refused push is, for errors.Is.
var (
	// ErrStoreUnavailable tells that actions can't be pushed here.
	ErrStoreUnavailable = errors.New("the store of pending actions is unavailable")
	// ErrLimitExceeded tells that the session holds too many actions, or that a part of this one is
	// too large.
	ErrLimitExceeded = errors.New("a limit is exceeded")
	// ErrInvalidAction tells that the action can't be shown to a person.
	ErrInvalidAction = errors.New("the action is invalid")
)

// PushError tells why the host refused an action. Nothing was pushed, and the tool may go on.
// Returned from a tool, it reaches the caller word for word, as a [ToolError] does.
//
// Where the action is invalid, which is a mistake of the tool's, the caller reads the place of the
// push behind it.
type PushError struct {
	kind    guest.RefusalKind
	message string
	place   string
}

// Error gives the host's message.
func (e *PushError) Error() string { return e.message }

// Is makes errors.Is tell one refusal from another.
func (e *PushError) Is(target error) bool {
	switch e.kind {
	case guest.StoreUnavailable:
		return target == ErrStoreUnavailable
	case guest.LimitExceeded:
		return target == ErrLimitExceeded
	default:
		return target == ErrInvalidAction
	}
}

// lowerError gives the form that the host knows.
func lowerError(err error) *guest.Failure {
	var said ToolError
	var refused *PushError
	switch {
	case errors.Is(err, ErrCancelled):
		return &guest.Failure{Kind: guest.Cancelled}
	case errors.As(err, &said), errors.As(err, &refused):
		// Word for word includes what was wrapped around it.
		message := err.Error()
		if refused != nil && refused.kind == guest.Invalid && refused.place != "" {
			message += " (" + refused.place + ")"
		}
		return &guest.Failure{Kind: guest.ToolSaid, Message: message}
	default:
		message := err.Error()
		switch {
		case isOf(err, "*net.OpError", "*net.DNSError"):
			message += "; " + noNetwork
		case isOf(err, "*exec.Error"), errors.Is(err, syscall.ENOSYS):
			message += "; " + noProcesses
		}
		return &guest.Failure{Kind: guest.Failed, Message: message}
	}
}

// What is said of each attempt to do what a sandbox has nothing for.
const (
	noNetwork   = "a tool has no network here: it gets what it needs as params, or as files of the workspace"
	noProcesses = "a tool starts no other programs here: it does all by itself, on files of the workspace"
)

// isOf tells whether an error is of one of these types, or wraps such a one. They go by their names:
// to import their packages would make every tool larger by what they do.
func isOf(err error, types ...string) bool {
	if slices.Contains(types, reflect.TypeOf(err).String()) {
		return true
	}
	switch wrapping := err.(type) {
	case interface{ Unwrap() error }:
		inner := wrapping.Unwrap()
		return inner != nil && isOf(inner, types...)
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(wrapping.Unwrap(), func(inner error) bool { return isOf(inner, types...) })
	}
	return false
}
