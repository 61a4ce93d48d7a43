package airlock

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

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
type PushError struct {
	kind    guest.RefusalKind
	message string
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
		return &guest.Failure{Kind: guest.ToolSaid, Message: err.Error()}
	default:
		message := err.Error()
		if isOfNetwork(err) {
			message += "; " + noNetwork
		}
		return &guest.Failure{Kind: guest.Failed, Message: message}
	}
}

// What is said of each attempt to reach a network.
const noNetwork = "a tool has no network here"

// isOfNetwork tells whether an error comes from the package net, by the names of its types: to
// import it for them would make every tool larger by what it does.
func isOfNetwork(err error) bool {
	switch reflect.TypeOf(err).String() {
	case "*net.OpError", "*net.DNSError":
		return true
	}
	switch wrapping := err.(type) {
	case interface{ Unwrap() error }:
		inner := wrapping.Unwrap()
		return inner != nil && isOfNetwork(inner)
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(wrapping.Unwrap(), isOfNetwork)
	}
	return false
}
