//! Tests against Debian's docker-registry, and against servers that lie.
//!
//! `tests/registry/install` installs docker-registry and skopeo.

mod fetching;
mod login;
mod manifests;
mod others;
mod publishing;
mod resuming;
mod support;
mod web;
