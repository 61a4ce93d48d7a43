//go:build wasip1

// Package wasm connects the SDK with the host by way of the generated bindings.
package wasm

import (
	"airlock-tool/internal/bindings/airlock_tool_host"
	"airlock-tool/internal/bindings/airlock_tool_pending_actions"
	"airlock-tool/internal/guest"
	"airlock-tool/internal/wasm/lower"
	"airlock-tool/internal/wit/types"

	// The exports.
	_ "airlock-tool/internal/bindings/wit_exports"
)

func init() { guest.Host = host{} }

type host struct{}

func (host) Push(action guest.Action) (string, *guest.Refusal) {
	state := types.None[[]uint8]()
	if action.State != nil {
		state = types.Some(action.State)
	}
	pushed := airlock_tool_pending_actions.PushPendingAction(airlock_tool_pending_actions.PendingAction{
		Label:          lower.Text(action.Label),
		SourceToolName: lower.Option(action.SourceToolName),
		Details:        lower.Option(action.Details),
		HasReject:      action.HasReject,
		State:          state,
	})
	if pushed.Tag() == types.ResultOk {
		return pushed.Ok(), nil
	}
	switch err := pushed.Err(); err.Tag() {
	case airlock_tool_pending_actions.PushErrorStoreUnavailable:
		return "", &guest.Refusal{Kind: guest.StoreUnavailable, Message: err.StoreUnavailable()}
	case airlock_tool_pending_actions.PushErrorLimitExceeded:
		return "", &guest.Refusal{Kind: guest.LimitExceeded, Message: err.LimitExceeded()}
	default:
		return "", &guest.Refusal{Kind: guest.Invalid, Message: err.Invalid()}
	}
}

func (host) Log(level uint8, message string) {
	airlock_tool_host.Log(level, lower.Text(message))
}

func (host) Progress(message string, progress, total *float64) {
	airlock_tool_host.ReportProgress(lower.Text(message), number(progress), number(total))
}

func (host) IsCancelled() bool { return airlock_tool_host.IsCancelled() }

func (host) Session() (guest.Session, bool) {
	session := airlock_tool_host.Session()
	if session.Tag() != types.OptionSome {
		return guest.Session{}, false
	}
	info := session.Some()
	found := guest.Session{ID: info.Id, HasPendingStore: info.HasPendingStore}
	if info.Workspace.Tag() == types.OptionSome {
		workspace := info.Workspace.Some()
		found.Workspace = &workspace
	}
	return found, true
}

func number(value *float64) types.Option[float64] {
	if value == nil {
		return types.None[float64]()
	}
	return types.Some(*value)
}
