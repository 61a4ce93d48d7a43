//! The package holds the example `plan_approval`, and nothing else.
