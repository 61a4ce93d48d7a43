//go:build wasip1

// Package lower turns the SDK's values into those of the generated bindings.
package lower

import (
	"strings"

	"airlock-tool/internal/bindings/airlock_tool_types"
	"airlock-tool/internal/guest"
	"airlock-tool/internal/wit/types"
)

// Text is a text that the host can read: what is no UTF-8 would be the end of this instance.
func Text(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// Option is a text that may be absent.
func Option(text *string) types.Option[string] {
	if text == nil {
		return types.None[string]()
	}
	return types.Some(Text(*text))
}

// Result is a result.
func Result(result guest.Result) airlock_tool_types.ToolResult {
	content := make([]airlock_tool_types.Content, len(result.Content))
	for i, c := range result.Content {
		switch c.Kind {
		case guest.Image:
			content[i] = airlock_tool_types.MakeContentImage(airlock_tool_types.Blob{Data: c.Data, MimeType: Text(c.Text)})
		case guest.Link:
			content[i] = airlock_tool_types.MakeContentResourceLink(airlock_tool_types.Link{
				Uri: Text(c.Text), Name: Text(c.Name), MimeType: Option(c.MimeType),
			})
		default:
			content[i] = airlock_tool_types.MakeContentText(Text(c.Text))
		}
	}
	return airlock_tool_types.ToolResult{Content: content, Details: Option(result.Details)}
}

// Failure is an error.
func Failure(failure *guest.Failure) airlock_tool_types.ToolError {
	switch failure.Kind {
	case guest.ToolSaid:
		return airlock_tool_types.MakeToolErrorTool(Text(failure.Message))
	case guest.Cancelled:
		return airlock_tool_types.MakeToolErrorCancelled()
	default:
		return airlock_tool_types.MakeToolErrorFailed(Text(failure.Message))
	}
}
