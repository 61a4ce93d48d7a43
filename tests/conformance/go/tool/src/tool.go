// The conformance suite's tool, as tests/conformance/README.md has it.
package main

import (
	"encoding/json"
	"strings"

	airlock "airlock-tool"
)

func init() {
	airlock.Register(
		airlock.Tool{
			Name: "answer", Label: "Answer", Description: "Ends at once.", Traits: airlock.ReadOnly,
			Execute: airlock.Typed(answer),
		},
		airlock.Tool{
			Name: "stage", Label: "Stage", Description: "Pushes a durable action.",
			Traits:  airlock.Deferrable | airlock.Destructive,
			Execute: airlock.Typed(stage), Apply: airlock.Durable(apply), Reject: airlock.Durable(reject),
		},
		airlock.Tool{
			Name: "stage_quietly", Label: "Stage quietly", Description: "Pushes a durable action that hears of no discard.",
			Traits:  airlock.Deferrable,
			Execute: airlock.Typed(stageQuietly), Apply: airlock.Durable(apply),
		},
		airlock.Tool{
			Name: "hold", Label: "Hold", Description: "Pushes volatile actions.", Traits: airlock.Deferrable,
			Execute: airlock.Typed(hold),
		},
		airlock.Tool{
			Name: "surroundings", Label: "Surroundings", Description: "Tells of the session.", Traits: airlock.ReadOnly,
			Execute: airlock.Typed(tell),
		},
		airlock.Tool{
			Name: "whisper", Label: "Whisper", Description: "Is in no listing.", Traits: airlock.Hidden | airlock.ReadOnly,
			Execute: airlock.Typed(whisper),
		},
	)
}

func main() {}

// Answer is the params of `answer`.
type Answer struct {
	End Ending `json:"end"`
}

func answer(call *airlock.Call, params Answer) (*airlock.Result, error) {
	return params.End.end(call, nil)
}

// Stage is the params of `stage`.
type Stage struct {
	Label   string          `json:"label"`
	Details json.RawMessage `json:"details,omitempty"`
	Apply   *Ending         `json:"apply,omitempty"`
	Reject  *Ending         `json:"reject,omitempty"`
	Pad     int             `json:"pad,omitempty"`
}

// Plan is what waits for a decision.
type Plan struct {
	Apply, Reject *Ending
	Padding       string
}

func stage(call *airlock.Call, params Stage) (*airlock.Result, error) {
	plan := Plan{params.Apply, params.Reject, strings.Repeat("x", params.Pad)}
	action := airlock.Action{Label: params.Label, Details: orNil(params.Details), State: plan}
	if _, err := call.Push(action); err != nil {
		return nil, err
	}
	return airlock.Text("staged " + params.Label), nil
}

// StageQuietly is the params of `stage_quietly`.
type StageQuietly struct {
	Label string  `json:"label"`
	Apply *Ending `json:"apply,omitempty"`
}

func stageQuietly(call *airlock.Call, params StageQuietly) (*airlock.Result, error) {
	return stage(call, Stage{Label: params.Label, Apply: params.Apply})
}

func apply(resolution *airlock.Resolution, plan Plan) (*airlock.Result, error) {
	return orApplied(plan.Apply).end(resolution, resolution)
}

func reject(resolution *airlock.Resolution, plan Plan) (*airlock.Result, error) {
	if plan.Reject == nil {
		return nil, nil
	}
	return plan.Reject.end(resolution, resolution)
}

func orApplied(ending *Ending) Ending {
	if ending == nil {
		return Ending{How: "text", Text: "applied"}
	}
	return *ending
}

// Hold is the params of `hold`.
type Hold struct {
	Actions []Held `json:"actions"`
	Catch   bool   `json:"catch,omitempty"`
}

// Held is an action to push.
type Held struct {
	Label      string          `json:"label"`
	Source     *string         `json:"source,omitempty"`
	Details    json.RawMessage `json:"details,omitempty"`
	Unwritable bool            `json:"unwritable,omitempty"`
	Apply      *Ending         `json:"apply,omitempty"`
	Reject     *Ending         `json:"reject,omitempty"`
}

func hold(call *airlock.Call, params Hold) (*airlock.Result, error) {
	result, ids := new(airlock.Result), []string{}
	for _, held := range params.Actions {
		id, err := call.PushVolatile(held.action())
		switch {
		case err == nil:
			result.Text("pushed " + held.Label)
			ids = append(ids, id)
		case params.Catch:
			result.Text("refused: " + err.Error())
		default:
			return nil, err
		}
	}
	return result.Details(map[string]any{"ids": ids}), nil
}

func (h Held) action() airlock.VolatileAction {
	action := airlock.VolatileAction{
		Label:   h.Label,
		Details: orNil(h.Details),
		Source:  h.Source,
		Apply: func(resolution *airlock.Resolution) (*airlock.Result, error) {
			return orApplied(h.Apply).end(resolution, resolution)
		},
	}
	if h.Unwritable {
		action.Details = make(chan int)
	}
	if h.Reject != nil {
		action.Reject = func(resolution *airlock.Resolution) (*airlock.Result, error) {
			return h.Reject.end(resolution, resolution)
		}
	}
	return action
}

func tell(call *airlock.Call, _ struct{}) (*airlock.Result, error) {
	session, found := call.Session()
	if !found {
		return nil, airlock.ToolError("there is no session")
	}
	var workspace any
	if session.Workspace != "" {
		workspace = session.Workspace
	}
	return new(airlock.Result).Details(map[string]any{
		"id": session.ID, "workspace": workspace, "hasPendingStore": session.HasPendingStore,
	}), nil
}

// Whisper is the params of `whisper`.
type Whisper struct {
	Text string `json:"text"`
}

func whisper(_ *airlock.Call, params Whisper) (*airlock.Result, error) {
	return airlock.Text(strings.ToUpper(params.Text)), nil
}
