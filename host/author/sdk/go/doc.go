// Package airlock is for tools that preview, and act only once somebody decided.
//
// A tool is a function from typed params to a result. What would change something is not done but
// pushed, as an action that waits for a decision; the tool's Apply does it, with the state that was
// pushed, perhaps in another process on another day:
//
//	type Params struct {
//		Path string `json:"path" doc:"The file to empty, relative to the workspace." schema:"minLength=1"`
//	}
//
//	type Plan struct{ Path string }
//
//	func init() {
//		airlock.Register(airlock.Tool{
//			Name:        "empty_file",
//			Label:       "Empty file",
//			Description: "Removes everything from a file, and keeps the file.",
//			Traits:      airlock.Deferrable | airlock.Destructive,
//			Execute:     airlock.Typed(preview),
//			Apply:       airlock.Durable(apply),
//		})
//	}
//
//	func preview(call *airlock.Call, params Params) (*airlock.Result, error) {
//		info, err := os.Stat(params.Path)
//		if err != nil {
//			return nil, airlock.ToolError(err.Error())
//		}
//		_, err = call.Push(airlock.Action{Label: "Empty file: " + params.Path, State: Plan{params.Path}})
//		return airlock.Textf("Would remove %d bytes.", info.Size()), err
//	}
//
//	func apply(resolution *airlock.Resolution, plan Plan) (*airlock.Result, error) {
//		return airlock.Text("Emptied " + plan.Path), os.WriteFile(plan.Path, nil, 0o644)
//	}
//
//	func main() {}
//
// Tools are registered in init, since main never runs: a component is a library. `airlock build`
// compiles it.
//
// # Memory
//
// Go's collector is free to run within any call. What it must not do is run while the host asks for
// memory to write into; this package's runtime sees to that.
package airlock
