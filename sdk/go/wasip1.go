//go:build wasip1

package airlock

// In a component there is a host.
import _ "github.com/airlock-dev/airlock/sdk/go/internal/wasm"
