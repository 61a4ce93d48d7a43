package airlock

import (
	"fmt"

	"airlock-tool/internal/guest"
)

// Result is what a call gives back. Its methods add to it and return it.
type Result struct {
	content []guest.Content
	details any
}

// Text is a result of one block of text.
func Text(text string) *Result { return new(Result).Text(text) }

// Textf is a result of one block of text, as fmt.Sprintf writes it.
func Textf(format string, values ...any) *Result { return Text(fmt.Sprintf(format, values...)) }

// Text adds a block of text.
func (r *Result) Text(text string) *Result {
	r.content = append(r.content, guest.Content{Kind: guest.Text, Text: text})
	return r
}

// Image adds a picture of a media type, for example image/png.
func (r *Result) Image(data []byte, mimeType string) *Result {
	r.content = append(r.content, guest.Content{Kind: guest.Image, Text: mimeType, Data: data})
	return r
}

// Link adds a link to an absolute URI. The media type may be empty.
func (r *Result) Link(uri, name, mimeType string) *Result {
	link := guest.Content{Kind: guest.Link, Text: uri, Name: name}
	if mimeType != "" {
		link.MimeType = &mimeType
	}
	r.content = append(r.content, link)
	return r
}

// Details sets a value for programs, which is written as JSON.
func (r *Result) Details(details any) *Result {
	r.details = details
	return r
}

func (r *Result) lower() (guest.Result, *guest.Failure) {
	if r == nil {
		return guest.Result{}, nil
	}
	details, err := writeDetails(r.details)
	if err != nil {
		return guest.Result{}, &guest.Failure{Kind: guest.Failed, Message: "the details can't be written as JSON: " + err.Error()}
	}
	return guest.Result{Content: r.content, Details: details}, nil
}

// writeDetails gives no text for nil.
func writeDetails(details any) (*string, error) {
	if details == nil {
		return nil, nil
	}
	written, err := writeJSON("details", details)
	if err != nil {
		return nil, err
	}
	text := string(written)
	return &text, nil
}
