package airlock

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"airlock-tool/internal/guest"
)

// store is a host that takes every action.
type store struct {
	guest.Imports
	actions []guest.Action
}

func (s *store) Push(action guest.Action) (string, *guest.Refusal) {
	s.actions = append(s.actions, action)
	return fmt.Sprintf("action-%d", len(s.actions)), nil
}

// with runs a test with tools and a host of its own.
func with(t *testing.T, host guest.Imports, tools ...Tool) {
	t.Helper()
	component, guest.Host = newTools(), host
	Register(tools...)
}

type params struct {
	Text string `json:"text"`
}

func answering(result *Result, err error) Handler {
	return Typed(func(*Call, params) (*Result, error) { return result, err })
}

func TestErrorsReachTheHostAsWhatTheyAre(t *testing.T) {
	check := func(err error, kind guest.FailureKind, message string) {
		t.Helper()
		with(t, &store{}, Tool{Name: "a", Execute: answering(nil, err)})
		_, failure := component.execute("1", "a", `{"text":""}`)
		if failure == nil || failure.Kind != kind || failure.Message != message {
			t.Errorf("%v: %+v", err, failure)
		}
	}
	check(ToolErrorf("no %s", "file"), guest.ToolSaid, "no file")
	check(fmt.Errorf("at line 1: %w", ToolError("no")), guest.ToolSaid, "at line 1: no")
	check(errors.New("disk"), guest.Failed, "disk")
	check(fmt.Errorf("stopped: %w", ErrCancelled), guest.Cancelled, "")
}

func TestADurableActionComesBackAsItWasPushed(t *testing.T) {
	type plan struct{ Names []string }
	host := &store{}
	with(t, host, Tool{
		Name: "a",
		Execute: Typed(func(call *Call, params params) (*Result, error) {
			_, err := call.Push(Action{Label: "Do it", Details: []int{1}, State: plan{[]string{"ü", params.Text}}})
			return nil, err
		}),
		Apply: Durable(func(resolution *Resolution, plan plan) (*Result, error) {
			return Textf("%v %s %d", plan.Names, resolution.Reason, resolution.Attempt), nil
		}),
	})
	if _, failure := component.execute("1", "a", `{"text":"x"}`); failure != nil {
		t.Fatal(failure.Message)
	}
	pushed := host.actions[0]
	if *pushed.SourceToolName != "a" || *pushed.Details != "[1]" || pushed.HasReject {
		t.Errorf("%+v", pushed)
	}
	resolution := guest.Resolution{ActionID: "action-1", SourceToolName: "a", State: pushed.State, HasState: true, Reason: "ok", Attempt: 2}
	result, failure := component.apply(resolution)
	if failure != nil || result.Content[0].Text != "[ü x] ok 2" {
		t.Errorf("%+v %+v", result, failure)
	}
	resolution.State = []byte("{")
	if _, failure := component.apply(resolution); failure == nil || !strings.Contains(failure.Message, "discard it and preview again") {
		t.Errorf("%+v", failure)
	}
}

func TestAVolatileActionIsKeptUntilItIsGone(t *testing.T) {
	tries := 0
	host := &store{}
	with(t, host, Tool{Name: "a", Execute: Typed(func(call *Call, params params) (*Result, error) {
		_, err := call.PushVolatile(VolatileAction{Label: "Do it", Apply: func(*Resolution) (*Result, error) {
			if tries++; tries == 1 {
				return nil, errors.New("not yet")
			}
			return Text(params.Text), nil
		}})
		return nil, err
	})})
	if _, failure := component.execute("1", "a", `{"text":"x"}`); failure != nil {
		t.Fatal(failure.Message)
	}
	if pushed := host.actions[0]; pushed.State != nil || *pushed.SourceToolName != "a" {
		t.Errorf("%+v", pushed)
	}
	resolution := guest.Resolution{ActionID: "action-1", SourceToolName: "a"}
	if _, failure := component.apply(resolution); failure == nil || failure.Message != "not yet" {
		t.Errorf("%+v", failure)
	}
	if result, failure := component.apply(resolution); failure != nil || result.Content[0].Text != "x" {
		t.Errorf("%+v %+v", result, failure)
	}
	if _, failure := component.apply(resolution); failure == nil || !strings.Contains(failure.Message, "no Apply for the action action-1") {
		t.Errorf("%+v", failure)
	}
}

func TestWithoutAHostAPushIsRefused(t *testing.T) {
	with(t, guest.Host, Tool{Name: "a", Execute: answering(nil, nil)})
	guest.Host = absentHost
	_, err := (&Call{}).Push(Action{Label: "Do it"})
	if !errors.Is(err, ErrStoreUnavailable) || errors.Is(err, ErrLimitExceeded) {
		t.Error(err)
	}
	if failure := lowerError(err); failure.Kind != guest.ToolSaid ||
		failure.Message != "Pending action store unavailable for custom tools in this runtime." {
		t.Errorf("%+v", failure)
	}
}

// strict is a host that finds every action invalid.
type strict struct{ guest.Imports }

func (strict) Push(guest.Action) (string, *guest.Refusal) {
	return "", &guest.Refusal{Kind: guest.Invalid, Message: "the label is empty"}
}

func TestAnInvalidActionIsToldWithThePlaceOfItsPush(t *testing.T) {
	check := func(push func(call *Call) error) {
		t.Helper()
		with(t, strict{}, Tool{Name: "a", Execute: Typed(func(call *Call, _ params) (*Result, error) {
			err := push(call)
			if said := err.Error(); !strings.HasSuffix(said, "the label is empty") {
				t.Errorf("the host said something else: %s", said)
			}
			return nil, err
		})})
		_, failure := component.execute("1", "a", `{"text":""}`)
		if failure == nil || failure.Kind != guest.ToolSaid || !strings.HasSuffix(failure.Message, fmt.Sprintf("the label is empty (tool_test.go:%d)", pushedAt)) {
			t.Errorf("%+v", failure)
		}
	}
	check(func(call *Call) error {
		pushedAt = line() + 1
		_, err := call.Push(Action{})
		return err
	})
	check(func(call *Call) error {
		pushedAt = line() + 1
		_, err := call.PushVolatile(VolatileAction{})
		return fmt.Errorf("at the end: %w", err)
	})
}

var pushedAt int

// line gives that of its caller.
func line() int {
	_, _, line, _ := runtime.Caller(1)
	return line
}

// What is there before a test puts a host of its own in its place.
var absentHost = guest.Host

func TestResultsAreWrittenInTheirOrder(t *testing.T) {
	details := map[string]any{"ids": []string{"a"}, "extra": json.RawMessage(`{"n":1}`)}
	result, failure := Text("one").Image([]byte{1}, "image/png").Link("file:///a", "a", "").Details(details).lower()
	if failure != nil || *result.Details != `{"extra":{"n":1},"ids":["a"]}` {
		t.Fatalf("%+v %+v", result, failure)
	}
	kinds := []guest.ContentKind{guest.Text, guest.Image, guest.Link}
	for i, content := range result.Content {
		if content.Kind != kinds[i] {
			t.Errorf("%d: %+v", i, content)
		}
	}
	if _, failure := Text("").Details(make(chan int)).lower(); failure == nil || failure.Kind != guest.Failed {
		t.Errorf("%+v", failure)
	}
}

func TestAToolThatCannotBeDescribedIsLeftOutWithTheReasonAndTheOthersAreThere(t *testing.T) {
	check := func(reason string, broken Tool) {
		t.Helper()
		with(t, &store{}, Tool{Name: "good", Execute: answering(nil, nil)}, broken)
		definitions := component.definitions
		var told string
		if err := json.Unmarshal([]byte(definitions[1].Parameters), &told); err != nil || told != reason {
			t.Errorf("%q, and not %q", told, reason)
		}
		if definitions[0].Name != "good" || !strings.HasPrefix(definitions[0].Parameters, "{") || definitions[1].Name != broken.Name {
			t.Errorf("%+v", definitions)
		}
	}
	check("it has no Name", Tool{})
	check("it has no Execute", Tool{Name: "a"})
	check("another tool of this plugin has that name", Tool{Name: "good", Execute: answering(nil, nil)})
	check("its params: string is not a struct", Tool{Name: "a", Execute: Typed(func(*Call, string) (*Result, error) { return nil, nil })})
}

func TestWhatJSONWouldLoseIsRefusedWithItsPlace(t *testing.T) {
	type secret struct{ text string }
	type open struct{ Text string }
	type mixed struct {
		open
		hidden int
		Inner  any
	}
	check := func(state any, expected string) {
		t.Helper()
		_, err := (&Call{}).Push(Action{Label: "L", State: state})
		if said := fmt.Sprint(err); !strings.Contains(said, expected) {
			t.Errorf("%q, without %q", said, expected)
		}
	}
	guest.Host = absentHost
	lost := "is a airlock.secret, none of whose fields is exported, so that JSON would lose them"
	check(secret{"x"}, `the state of "L" can't be written as JSON: state `+lost)
	check(map[string]any{"items": []any{1, &mixed{Inner: secret{}}}}, "state[items][1].Inner "+lost)
	check(errors.New("x"), "state is a errors.errorString, none of whose fields is exported")
	// These are written, and reach the host, which is not there.
	for _, state := range []any{nil, mixed{}, struct{}{}, time.Now(), []byte("x"), json.RawMessage("1"), (*secret)(nil)} {
		check(state, "Pending action store unavailable")
	}
	if _, failure := Text("").Details(secret{}).lower(); failure == nil || !strings.Contains(failure.Message, "details "+lost) {
		t.Errorf("%+v", failure)
	}
}

func TestAnErrorOfTheNetworkSaysThatThereIsNone(t *testing.T) {
	check := func(err error, expected string) {
		t.Helper()
		if failure := lowerError(err); failure.Message != expected {
			t.Errorf("%q, and not %q", failure.Message, expected)
		}
	}
	lookup := &net.DNSError{Err: "no answer", Name: "example.com"}
	check(lookup, "lookup example.com: no answer; "+noNetwork)
	check(fmt.Errorf("while fetching: %w", &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("refused")}), "while fetching: dial tcp: refused; "+noNetwork)
	check(errors.Join(errors.New("one"), lookup), "one\nlookup example.com: no answer; "+noNetwork)
	check(errors.New("dial tcp: refused"), "dial tcp: refused")
}
