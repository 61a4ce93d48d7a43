//go:build wasip1

// Package export_airlock_tool_tool is what the generated bindings call for the interface `tool`.
package export_airlock_tool_tool

import (
	"airlock-tool/internal/bindings/airlock_tool_types"
	"airlock-tool/internal/guest"
	"airlock-tool/internal/wasm/lower"
	"airlock-tool/internal/wit/types"
)

// Definitions lists the tools.
func Definitions() []airlock_tool_types.ToolDefinition {
	definitions := guest.Exports.Definitions()
	lowered := make([]airlock_tool_types.ToolDefinition, len(definitions))
	for i, d := range definitions {
		lowered[i] = airlock_tool_types.ToolDefinition{
			Name:        d.Name,
			Label:       d.Label,
			Description: d.Description,
			Parameters:  d.Parameters,
			Output:      lower.Option(d.Output),
			Traits:      d.Traits,
		}
	}
	return lowered
}

// Execute runs a tool.
func Execute(callID, name, params string) types.Result[airlock_tool_types.ToolResult, airlock_tool_types.ToolError] {
	result, failure := guest.Exports.Execute(callID, name, params)
	if failure != nil {
		return types.Err[airlock_tool_types.ToolResult](lower.Failure(failure))
	}
	return types.Ok[airlock_tool_types.ToolResult, airlock_tool_types.ToolError](lower.Result(result))
}
