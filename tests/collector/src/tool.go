// The tool `keep` asks for memory as the host does, and tells what the collector left of it.
package main

import (
	"runtime"
	"unsafe"

	airlock "airlock-tool"
)

func init() {
	airlock.Register(airlock.Tool{
		Name: "keep", Label: "Keep", Description: "Keeps what the host wrote.", Traits: airlock.ReadOnly,
		Execute: airlock.Typed(keep),
	})
}

func main() {}

const blocks, size = 200, 512

// Addresses, as the host holds them: the collector takes them for numbers.
var addresses [blocks]uintptr

var garbage [][]byte

func keep(_ *airlock.Call, _ struct{}) (*airlock.Result, error) {
	for i := range addresses {
		pointer := reallocate(nil, 0, 1, size)
		fill(unsafe.Slice((*byte)(pointer), size), byte(i))
		addresses[i] = uintptr(pointer)
	}
	runtime.GC()
	// What was freed is used again.
	for range 10 * blocks {
		block := make([]byte, size)
		fill(block, 0xff)
		garbage = append(garbage, block)
	}
	kept := 0
	for i, address := range addresses {
		if *(*byte)(unsafe.Pointer(address)) == byte(i) {
			kept++
		}
	}
	return airlock.Textf("kept %d of %d", kept, blocks), nil
}

func fill(block []byte, with byte) {
	for i := range block {
		block[i] = with
	}
}

// reallocate is what the host calls.
//
//go:linkname reallocate airlock-tool/internal/wit/runtime.reallocate
func reallocate(old unsafe.Pointer, oldSize, align, size uintptr) unsafe.Pointer
