//go:build wasip1

// Package export_airlock_tool_resolver is what the generated bindings call for the interface
// `resolver`.
package export_airlock_tool_resolver

import (
	"airlock-tool/internal/bindings/airlock_tool_resolver"
	"airlock-tool/internal/bindings/airlock_tool_types"
	"airlock-tool/internal/guest"
	"airlock-tool/internal/wasm/lower"
	"airlock-tool/internal/wit/types"
)

type (
	result = airlock_tool_types.ToolResult
	err    = airlock_tool_types.ToolError
)

// Apply does what an action announced.
func Apply(resolution airlock_tool_resolver.Resolution) types.Result[result, err] {
	applied, failure := guest.Exports.Apply(lift(resolution))
	if failure != nil {
		return types.Err[result](lower.Failure(failure))
	}
	return types.Ok[result, err](lower.Result(applied))
}

// Reject cleans up after a discarded action.
func Reject(resolution airlock_tool_resolver.Resolution) types.Result[types.Option[result], err] {
	rejected, failure := guest.Exports.Reject(lift(resolution))
	switch {
	case failure != nil:
		return types.Err[types.Option[result]](lower.Failure(failure))
	case rejected == nil:
		return types.Ok[types.Option[result], err](types.None[result]())
	default:
		return types.Ok[types.Option[result], err](types.Some(lower.Result(*rejected)))
	}
}

func lift(r airlock_tool_resolver.Resolution) guest.Resolution {
	lifted := guest.Resolution{
		ActionID:       r.ActionId,
		Label:          r.Label,
		SourceToolName: r.SourceToolName,
		Reason:         r.Reason,
		Attempt:        r.Attempt,
	}
	if r.State.Tag() == types.OptionSome {
		lifted.State, lifted.HasState = r.State.Some(), true
	}
	if r.Extra.Tag() == types.OptionSome {
		extra := r.Extra.Some()
		lifted.Extra = &extra
	}
	return lifted
}
