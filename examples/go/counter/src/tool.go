// The tool counter: a number in the memory of the live instance, which an applied action raises.
package main

import (
	"fmt"

	airlock "airlock-tool"
)

// Params is what a caller passes.
type Params struct {
	By int `json:"by,omitempty" doc:"How much to add; 1 where left out." schema:"minimum=1,maximum=1000"`
}

// How much was applied in this instance.
var applied int

func init() {
	airlock.Register(airlock.Tool{
		Name:        "counter",
		Label:       "Counter",
		Description: "Adds to a number that lives as long as this instance of the tool.",
		Traits:      airlock.Deferrable,
		Execute:     airlock.Typed(preview),
	})
}

func main() {}

func preview(call *airlock.Call, params Params) (*airlock.Result, error) {
	by := max(params.By, 1)
	_, err := call.PushVolatile(airlock.VolatileAction{
		Label: fmt.Sprintf("Counter: add %d", by),
		Apply: func(*airlock.Resolution) (*airlock.Result, error) {
			applied += by
			return airlock.Textf("The counter is at %d.", applied), nil
		},
		Reject: func(resolution *airlock.Resolution) (*airlock.Result, error) {
			return airlock.Textf("The counter stays at %d. Reason: %s", applied, resolution.Reason), nil
		},
	})
	return airlock.Textf("The counter is at %d, and would be at %d.", applied, applied+by), err
}
