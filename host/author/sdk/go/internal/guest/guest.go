// Package guest stands between the SDK and the generated bindings, which exist only in a build for
// WebAssembly: what either side needs of the other is a variable here.
package guest

// Definition is a tool, as the host is told of it.
type Definition struct {
	Name, Label, Description, Parameters string
	Output                               *string
	Traits                               uint8
}

// Content is a block of a result.
type Content struct {
	Kind ContentKind
	// The text, the media type or the URI.
	Text     string
	Data     []byte
	MimeType *string
	Name     string
}

// ContentKind tells blocks apart.
type ContentKind uint8

// The kinds of blocks.
const (
	Text ContentKind = iota
	Image
	Link
)

// Result is what a call gives back.
type Result struct {
	Content []Content
	Details *string
}

// Failure is why a call gives nothing back.
type Failure struct {
	Kind    FailureKind
	Message string
}

// FailureKind tells failures apart.
type FailureKind uint8

// The kinds of failures.
const (
	ToolSaid FailureKind = iota
	Failed
	Cancelled
)

// Action is a pending action, as the host is told of it.
type Action struct {
	Label          string
	SourceToolName *string
	Details        *string
	HasReject      bool
	// Nil for a volatile action.
	State []byte
}

// Refusal is why a push was refused.
type Refusal struct {
	Kind    RefusalKind
	Message string
}

// RefusalKind tells refusals apart.
type RefusalKind uint8

// The kinds of refusals.
const (
	StoreUnavailable RefusalKind = iota
	LimitExceeded
	Invalid
)

// Resolution is a decision about an action.
type Resolution struct {
	ActionID, Label, SourceToolName, Reason string
	State                                   []byte
	HasState                                bool
	Extra                                   *string
	Attempt                                 uint32
}

// Session is the conversation that a call belongs to.
type Session struct {
	ID              string
	Workspace       *string
	HasPendingStore bool
}

// Exports is what the host calls. The SDK sets it.
var Exports struct {
	Definitions func() []Definition
	Execute     func(callID, name, params string) (Result, *Failure)
	Apply       func(Resolution) (Result, *Failure)
	// A nil result stands for none.
	Reject func(Resolution) (*Result, *Failure)
}

// Imports is what a tool asks of the host.
type Imports interface {
	Push(Action) (id string, refusal *Refusal)
	Log(level uint8, message string)
	Progress(message string, progress, total *float64)
	IsCancelled() bool
	Session() (Session, bool)
}

// Host is the host that there is. The bindings set it.
var Host Imports = absent{}

// absent stands for the host where there is none: in a test that runs on the author's own machine.
type absent struct{}

func (absent) Push(Action) (string, *Refusal) {
	return "", &Refusal{StoreUnavailable, "Pending action store unavailable for custom tools in this runtime."}
}
func (absent) Log(uint8, string)                   {}
func (absent) Progress(string, *float64, *float64) {}
func (absent) IsCancelled() bool                   { return false }
func (absent) Session() (Session, bool)            { return Session{}, false }
