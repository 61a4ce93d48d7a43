//! The package holds the example `agent`, and nothing else.
