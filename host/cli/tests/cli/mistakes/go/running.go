// Mistakes that show when a tool is called.
package main

import (
	"net"
	"os/exec"

	airlock "airlock-tool"
)

type Params struct{}

type Plan struct{}

func init() {
	tool := func(name string, preview func(*airlock.Call, Params) (*airlock.Result, error)) {
		airlock.Register(airlock.Tool{
			Name:        name,
			Label:       "Mistake",
			Description: "Has a mistake.",
			Traits:      airlock.Deferrable,
			Execute:     airlock.Typed(preview),
			Apply:       airlock.Durable(apply),
		})
	}
	tool("exception", exception)
	tool("processes", processes)
	tool("network", network)
	tool("forgotten_push", forgottenPush)
	tool("forgotten_await", forgottenAwait)
	tool("two_line_label", twoLineLabel)
}

func main() {}

func apply(resolution *airlock.Resolution, plan Plan) (*airlock.Result, error) {
	return airlock.Text("Applied."), nil
}

func exception(call *airlock.Call, params Params) (*airlock.Result, error) {
	lines := []string{"one", "two"}
	third := lines[len(lines)]
	return airlock.Text(third), nil
}

func processes(call *airlock.Call, params Params) (*airlock.Result, error) {
	said, err := exec.Command("git", "status").Output()
	if err != nil {
		return nil, err
	}
	return airlock.Text(string(said)), nil
}

func network(call *airlock.Call, params Params) (*airlock.Result, error) {
	connection, err := net.Dial("tcp", "example.com:80")
	if err != nil {
		return nil, err
	}
	return airlock.Text(connection.RemoteAddr().String()), nil
}

func forgottenPush(call *airlock.Call, params Params) (*airlock.Result, error) {
	_ = airlock.Action{Label: "Do it", State: Plan{}}
	return airlock.Text("Staged 1 change."), nil
}

func forgottenAwait(call *airlock.Call, params Params) (*airlock.Result, error) {
	// Nothing waits for it.
	go call.Push(airlock.Action{Label: "Do it", State: Plan{}})
	return airlock.Text("Staged 1 change."), nil
}

func twoLineLabel(call *airlock.Call, params Params) (*airlock.Result, error) {
	if _, err := call.Push(airlock.Action{Label: "Do it:\nhere", State: Plan{}}); err != nil {
		return nil, err
	}
	return airlock.Text("Would do it."), nil
}
