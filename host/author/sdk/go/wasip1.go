//go:build wasip1

package airlock

// In a component there is a host.
import _ "airlock-tool/internal/wasm"
