package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	airlock "airlock-tool"
)

// Ending says how a call ends.
type Ending struct {
	How     string          `json:"how"`
	Text    string          `json:"text,omitempty"`
	Times   *int            `json:"times,omitempty"`
	Details json.RawMessage `json:"details,omitempty"`
	Attempt int             `json:"attempt,omitempty"`
}

var count int

// surroundings are what a call and a resolution have in common.
type surroundings interface {
	IsCancelled() bool
	Progress(message string)
	ProgressOf(message string, progress, total float64)
}

// end ends a call; the resolution is nil in one of a tool.
func (e Ending) end(call surroundings, resolution *airlock.Resolution) (*airlock.Result, error) {
	switch e.How {
	case "text":
		return e.say(), nil
	case "blocks":
		image := make([]byte, 256)
		for i := range image {
			image[i] = byte(i)
		}
		return airlock.Text(e.Text).Image(image, "image/png").Link("file:///workspace/report.html", "report", "text/html"), nil
	case "nothing":
		return nil, nil
	case "tool-error":
		return nil, airlock.ToolError(e.Text)
	case "failed":
		return nil, errors.New(e.Text)
	case "crash":
		panic("as told")
	case "wait":
		call.Progress("waiting")
		for !call.IsCancelled() {
		}
		return nil, airlock.ErrCancelled
	case "flaky":
		attempt := 1
		if resolution != nil {
			attempt = resolution.Attempt
		}
		if attempt < e.Attempt {
			return nil, fmt.Errorf("attempt %d fails", attempt)
		}
		return e.say(), nil
	case "resolution":
		return told(resolution), nil
	case "report":
		airlock.Logf(airlock.LevelTrace, "a trace")
		airlock.Logf(airlock.LevelDebug, "a debug")
		airlock.Logf(airlock.LevelInfo, "an info")
		airlock.Logf(airlock.LevelWarn, "a warn")
		airlock.Logf(airlock.LevelError, "an error")
		call.ProgressOf("half", 1, 2)
		call.Progress("some")
		return e.say(), nil
	case "count":
		count++
		return airlock.Text(strconv.Itoa(count)), nil
	case "vary":
		if err := vary(); err != nil {
			return nil, err
		}
		return e.say(), nil
	case "push":
		return pushAgain(e.Text)
	case "glob":
		return e.glob()
	default:
		return nil, airlock.ToolErrorf("no such ending: %s", e.How)
	}
}

func (e Ending) say() *airlock.Result {
	times := 1
	if e.Times != nil {
		times = *e.Times
	}
	return airlock.Text(strings.Repeat(e.Text, times)).Details(orNil(e.Details))
}

func (e Ending) glob() (*airlock.Result, error) {
	if orNil(e.Details) == nil {
		found, err := airlock.Glob(e.Text)
		return new(airlock.Result).Details(found), err
	}
	var paths []string
	if err := json.Unmarshal(e.Details, &paths); err != nil {
		return nil, err
	}
	matching := []string{}
	for _, path := range paths {
		if airlock.MatchesGlob(e.Text, path) {
			matching = append(matching, path)
		}
	}
	return new(airlock.Result).Details(matching), nil
}

func vary() error {
	if err := os.WriteFile("/workspace/varied", nil, 0o644); err != nil {
		return err
	}
	written, err := os.Stat("/workspace/varied")
	if err != nil {
		return err
	}
	table := map[int]bool{}
	for i := range 50 {
		table[i] = true
	}
	order := []int{}
	for i := range table {
		order = append(order, i)
	}
	bytes := make([]byte, 8)
	if _, err := rand.Read(bytes); err != nil {
		return err
	}
	varied := fmt.Sprint(order, bytes, mathrand.Int(), time.Now().UnixNano(), written.ModTime().UnixNano())
	return os.WriteFile("/workspace/varied", []byte(varied), 0o644)
}

// pushAgain pushes as a call does, though there may be none.
func pushAgain(label string) (*airlock.Result, error) {
	nothing := func(*airlock.Resolution) (*airlock.Result, error) { return nil, nil }
	if _, err := new(airlock.Call).PushVolatile(airlock.VolatileAction{Label: label, Apply: nothing}); err != nil {
		return nil, err
	}
	return airlock.Text("pushed " + label), nil
}

func told(resolution *airlock.Resolution) *airlock.Result {
	if resolution == nil {
		return nil
	}
	return new(airlock.Result).Details(map[string]any{
		"actionId":       resolution.ActionID,
		"label":          resolution.Label,
		"sourceToolName": resolution.Source,
		"reason":         resolution.Reason,
		"extra":          resolution.Extra,
		"attempt":        resolution.Attempt,
	})
}

// orNil gives nil for what was left out, and for null.
func orNil(details json.RawMessage) any {
	if len(details) == 0 || string(details) == "null" {
		return nil
	}
	return details
}
