// Package types holds the generic types of the generated bindings.
package types

// The tags of an [Option].
const (
	OptionNone uint8 = iota
	OptionSome
)

// Option is a value that may be absent.
type Option[T any] struct {
	tag   uint8
	value T
}

// Some is a value that is there.
func Some[T any](value T) Option[T] { return Option[T]{tag: OptionSome, value: value} }

// None is a value that is not there.
func None[T any]() Option[T] { return Option[T]{} }

// Tag is OptionNone or OptionSome.
func (o Option[T]) Tag() uint8 { return o.tag }

// Some gives the value, and panics where there is none.
func (o Option[T]) Some() T {
	if o.tag != OptionSome {
		panic("the option is none")
	}
	return o.value
}

// The tags of a [Result].
const (
	ResultOk uint8 = iota
	ResultErr
)

// Result is a value or an error.
type Result[T, E any] struct {
	tag uint8
	ok  T
	err E
}

// Ok is a value.
func Ok[T, E any](value T) Result[T, E] { return Result[T, E]{tag: ResultOk, ok: value} }

// Err is an error.
func Err[T, E any](err E) Result[T, E] { return Result[T, E]{tag: ResultErr, err: err} }

// Tag is ResultOk or ResultErr.
func (r Result[T, E]) Tag() uint8 { return r.tag }

// Ok gives the value, and panics where there is an error.
func (r Result[T, E]) Ok() T {
	if r.tag != ResultOk {
		panic("the result is an error")
	}
	return r.ok
}

// Err gives the error, and panics where there is a value.
func (r Result[T, E]) Err() E {
	if r.tag != ResultErr {
		panic("the result is not an error")
	}
	return r.err
}
