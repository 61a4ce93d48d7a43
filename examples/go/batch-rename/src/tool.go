// The tool batch_rename: renames files by a regular expression, once somebody agreed.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	airlock "airlock-tool"
)

// Params is what a caller passes.
type Params struct {
	Files   []string `json:"files" doc:"The files' names." schema:"minItems=1"`
	Find    string   `json:"find" doc:"A regular expression." schema:"minLength=1"`
	Replace string   `json:"replace" doc:"What to put in its place; $1 is the first group."`
}

// Rename is a part of the plan, which waits for a decision.
type Rename struct {
	From string `json:"from"`
	To   string `json:"to"`
}

func init() {
	airlock.Register(airlock.Tool{
		Name:        "batch_rename",
		Label:       "Batch rename",
		Description: "Renames files of the workspace's top folder: what a regular expression finds in a name is replaced.",
		Traits:      airlock.Deferrable | airlock.Destructive | airlock.Idempotent,
		Execute:     airlock.Typed(preview),
		Apply:       airlock.Durable(apply),
	})
}

func main() {}

func preview(call *airlock.Call, params Params) (*airlock.Result, error) {
	find, err := regexp.Compile(params.Find)
	if err != nil {
		return nil, airlock.ToolErrorf("`find` is no regular expression: %v", err)
	}
	plan, err := plan(params, find)
	if err != nil {
		return nil, err
	}
	if len(plan) == 0 {
		return airlock.Text("No name would change."), nil
	}
	label := fmt.Sprintf("Batch rename: %d files", len(plan))
	if _, err := call.Push(airlock.Action{Label: label, Details: plan, State: plan}); err != nil {
		return nil, err
	}
	var list strings.Builder
	for _, rename := range plan {
		fmt.Fprintf(&list, "\n%s -> %s", rename.From, rename.To)
	}
	return airlock.Textf("Prepared rename plan for %d files.\n%s", len(plan), &list), nil
}

func plan(params Params, find *regexp.Regexp) ([]Rename, error) {
	var plan []Rename
	taken := map[string]bool{}
	for _, from := range params.Files {
		if !isPlain(from) || !exists(from) {
			return nil, airlock.ToolErrorf("there is no file `%s` here", from)
		}
		to := find.ReplaceAllString(from, params.Replace)
		switch {
		case to == from:
			continue
		case !isPlain(to):
			return nil, airlock.ToolErrorf("`%s` would become `%s`, which is no file name", from, to)
		case taken[to] || exists(to):
			return nil, airlock.ToolErrorf("`%s` would become `%s`, which is taken", from, to)
		}
		taken[to] = true
		plan = append(plan, Rename{from, to})
	}
	return plan, nil
}

func apply(resolution *airlock.Resolution, plan []Rename) (*airlock.Result, error) {
	renamed := 0
	for _, rename := range plan {
		// An attempt before this one may have renamed it already.
		if resolution.Attempt > 1 && !exists(rename.From) && exists(rename.To) {
			continue
		}
		if exists(rename.To) {
			return nil, airlock.ToolErrorf("`%s` is taken since the preview; %d files were renamed", rename.To, renamed)
		}
		if err := os.Rename(rename.From, rename.To); err != nil {
			return nil, fmt.Errorf("%w (%d files were renamed)", err, renamed)
		}
		renamed++
	}
	return airlock.Textf("Renamed %d files. Reason: %s", renamed, resolution.Reason), nil
}

// isPlain tells whether a name is one of the workspace's top folder, so that nothing is moved
// elsewhere.
func isPlain(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.Contains(name, "/")
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}
