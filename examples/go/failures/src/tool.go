// The tool failures: fails in the way that it is asked for, to show what the host makes of it.
package main

import (
	"errors"
	"os"

	airlock "airlock-tool"
)

// Params is what a caller passes.
type Params struct {
	How string `json:"how" schema:"enum=tool-error|failed|cancelled|trap|divide|exit|loop|memory|recursion|bad-details"`
}

func init() {
	airlock.Register(airlock.Tool{
		Name:        "failures",
		Label:       "Failures",
		Description: "Fails in the way that it is asked for.",
		Traits:      airlock.ReadOnly,
		Execute:     airlock.Typed(fail),
	})
}

func main() {}

// Values that the compiler takes for used.
var (
	kept [][]byte
	sink int
)

func fail(_ *airlock.Call, params Params) (*airlock.Result, error) {
	switch params.How {
	case "tool-error":
		return nil, airlock.ToolError("this is what the tool wants you to know")
	case "failed":
		return nil, errors.New("something went wrong")
	case "cancelled":
		return nil, airlock.ErrCancelled
	case "trap":
		panic("the tool panics")
	case "divide":
		sink = 1 / (len(params.How) - len("divide"))
	case "exit":
		os.Exit(3)
	case "loop":
		for {
			sink++
		}
	case "memory":
		for {
			kept = append(kept, make([]byte, 1<<20))
		}
	case "recursion":
		sink = recurse(0)
	case "bad-details":
		return airlock.Text("").Details(make(chan int)), nil
	}
	return nil, airlock.ToolErrorf("there is no failure `%s`", params.How)
}

func recurse(depth int) int { return recurse(depth+1) + depth }
