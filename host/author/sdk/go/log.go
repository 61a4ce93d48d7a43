package airlock

import (
	"fmt"

	"airlock-tool/internal/guest"
)

// Level says how much a line of the log matters.
type Level uint8

// The levels.
const (
	LevelTrace Level = iota
	LevelDebug
	LevelInfo
	LevelWarn
	LevelError
)

// Logf writes a line to the host's log, as fmt.Sprintf writes it.
func Logf(level Level, format string, values ...any) {
	guest.Host.Log(uint8(level), fmt.Sprintf(format, values...))
}
