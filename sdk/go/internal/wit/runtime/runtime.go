//go:build wasip1

// Package runtime allocates what the host writes into this instance, and what it reads from there.
package runtime

import (
	"runtime"
	"unsafe"
)

// Allocate gives zeroed memory that stays in its place until pinner is unpinned.
func Allocate(pinner *runtime.Pinner, size, align uintptr) unsafe.Pointer {
	if size == 0 {
		return nil
	}
	// The element's type decides the alignment.
	var pointer unsafe.Pointer
	switch count := (size + align - 1) / align; align {
	case 1:
		pointer = unsafe.Pointer(unsafe.SliceData(make([]uint8, count)))
	case 2:
		pointer = unsafe.Pointer(unsafe.SliceData(make([]uint16, count)))
	case 4:
		pointer = unsafe.Pointer(unsafe.SliceData(make([]uint32, count)))
	case 8:
		pointer = unsafe.Pointer(unsafe.SliceData(make([]uint64, count)))
	default:
		panic("no type of the canonical ABI has this alignment")
	}
	pinner.Pin(pointer)
	return pointer
}

// What the host wrote, until somebody in Go holds it.
var received runtime.Pinner

// Unpin is called when what the host wrote is held by Go values.
func Unpin() { received.Unpin() }

// The host may write before Go has a heap.
var hasHeap = false

func init() { hasHeap = true }

// reallocate is where the host asks for memory.
//
// While it runs, this instance may not call the host: it would be the end of it ("cannot leave
// component instance"). A collection would, for it looks at the clock and lets other goroutines
// run. With the processor pinned, none begins here; the next allocation outside of it begins the
// one that was due.
//
//go:wasmexport cabi_realloc
func reallocate(old unsafe.Pointer, oldSize, align, size uintptr) unsafe.Pointer {
	if old != nil || oldSize != 0 {
		panic("the host does not grow this instance's memory")
	}
	if !hasHeap {
		start := uintptr(sbrk(size + align - 1))
		return unsafe.Pointer((start + align - 1) &^ (align - 1))
	}
	procPin()
	// The heap's own bookkeeping may look at the clock too: the adapter then answers with a time that
	// it remembers.
	pauseClock(true)
	pointer := Allocate(&received, size, align)
	pauseClock(false)
	procUnpin()
	return pointer
}

//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()

//go:linkname sbrk runtime.sbrk
func sbrk(size uintptr) unsafe.Pointer

//go:wasmimport wasi_snapshot_preview1 adapter_monotonic_clock_set_paused
func pauseClock(paused bool)
