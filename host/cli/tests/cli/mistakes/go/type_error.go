package main

import "airlock-tool"

type Params struct {
	Path string `json:"path"`
}

func init() {
	airlock.Register(airlock.Tool{Name: "a", Description: "Has a mistake.", Execute: airlock.Typed(answer)})
}

func main() {}

func answer(call *airlock.Call, params Params) (*airlock.Result, error) {
	var length int = params.Path
	return airlock.Textf("%d", length), nil
}
