//! The package holds the example `embed`, and nothing else.
