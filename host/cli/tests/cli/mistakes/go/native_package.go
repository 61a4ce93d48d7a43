package main

// int answer(void) { return 42; }
import "C"

import "airlock-tool"

type Params struct {
	Path string `json:"path"`
}

func init() {
	airlock.Register(airlock.Tool{Name: "a", Description: "Has a mistake.", Execute: airlock.Typed(answer)})
}

func main() {}

func answer(call *airlock.Call, params Params) (*airlock.Result, error) {
	return airlock.Textf("%d", C.answer()), nil
}
