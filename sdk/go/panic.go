package airlock

import (
	"fmt"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"strings"

	"airlock-tool/internal/guest"
)

// tellPanic ends the instance after a panic as Go would, but with one line, which names the tool and
// the place in its sources: a host puts what it last read into its own report. The stack goes to the
// log. To be deferred.
func tellPanic(tool string) {
	value := recover()
	if value == nil {
		return
	}
	guest.Host.Log(uint8(LevelError), string(debug.Stack()))
	message := strings.Join(strings.Fields(fmt.Sprint(value)), " ")
	fmt.Fprintf(os.Stderr, "tool `%s` panicked at %s: %s\n", tool, panicked(), message)
	os.Exit(2)
}

// panicked is where the panic began: the first place that is neither Go's own nor the SDK's.
func panicked() string {
	pcs := make([]uintptr, 64)
	// Without itself and the function that recovers.
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		frame, more := frames.Next()
		if isTools(frame.Function) {
			return fmt.Sprintf("%s:%d", shortened(frame.File), frame.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}

func isTools(function string) bool {
	if function == "" || strings.HasPrefix(function, "airlock-tool.") {
		return false
	}
	// Packages of modules have a dot in their first part, and the tool's own is called main.
	first, _, _ := strings.Cut(function, "/")
	return strings.HasPrefix(function, "main.") || strings.Contains(function, "/") && strings.Contains(first, ".")
}

// shortened leaves out the module in front of a folder `src`: with -trimpath, a file's name begins
// with it.
func shortened(file string) string {
	if index := strings.Index(file, "/src/"); index >= 0 {
		return file[index+1:]
	}
	return path.Base(file)
}
