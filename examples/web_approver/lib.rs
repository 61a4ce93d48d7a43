//! The package holds the example `web_approver`, and nothing else.
