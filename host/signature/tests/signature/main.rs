//! Tests with bundles and signatures that other programs make, beside other verifiers.
//!
//! `tests/signature/install` installs the programs.

mod altered;
mod bundles;
mod minisign;
mod real;
mod support;
