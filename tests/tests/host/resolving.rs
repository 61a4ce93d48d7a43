//! The contract's section *Resolving*: what only the host can be asked about. What a guest sees of
//! the same rules is in the cases of `tests/conformance`, for every language.

mod cancelling;
mod choosing;
mod expiring;
mod failing;
mod hidden;
mod plugins;
mod racing;
mod results;
