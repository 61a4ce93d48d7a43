//! The package holds the example `native_tool`, and nothing else.
