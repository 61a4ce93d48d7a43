//! Tests against Debian's docker-registry, and against servers that lie.
//!
//! `tests/registry/install` installs docker-registry and skopeo.

mod attaching;
mod fetching;
mod login;
mod manifests;
mod next_to;
mod others;
mod publishing;
mod referrers;
mod resuming;
mod support;
mod web;
