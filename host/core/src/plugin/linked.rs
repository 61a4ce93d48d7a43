//! A component linked with its imports.

use std::io;
use std::sync::OnceLock;

use airlock_model::error::{Error, HostError};
use wasmtime::component::Component;

use crate::compile::unless_busy;
use crate::engine::Engine;
use crate::instance::State;
use crate::world::GuestPre;

/// A component that is linked on first use. One from the compile cache was linked before, by the
/// same version of this host, so it is known to match. Linking takes a good part of the time of a
/// cached load.
pub(super) struct Linked {
    component: Component,
    linked: OnceLock<GuestPre<State>>,
}

impl Linked {
    pub fn later(component: Component) -> Self {
        let linked = OnceLock::new();
        Self { component, linked }
    }

    /// Links immediately, and reports an import that doesn't match.
    pub fn now(engine: &Engine, component: Component) -> wasmtime::Result<Self> {
        let linked = OnceLock::from(link(engine, &component)?);
        Ok(Self { component, linked })
    }

    pub fn get(&self, engine: &Engine) -> Result<&GuestPre<State>, Error> {
        if let Some(linked) = self.linked.get() {
            return Ok(linked);
        }
        let linked =
            link(engine, &self.component).map_err(|error| HostError::Link(error.into()))?;
        Ok(self.linked.get_or_init(|| linked))
    }
}

fn link(engine: &Engine, component: &Component) -> wasmtime::Result<GuestPre<State>> {
    // Create the initial memory image now, so that the first instance doesn't have to.
    unless_busy(is_busy, || component.initialize_copy_on_write_image())?;
    engine
        .linker()
        .instantiate_pre(component)
        .and_then(GuestPre::new)
}

fn is_busy(error: &wasmtime::Error) -> bool {
    let cause = error.root_cause().downcast_ref::<io::Error>();
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::ResourceBusy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_engine_says_of_a_busy_system_is_seen() {
        let check = |kind: io::ErrorKind, expected: bool| {
            let error = wasmtime::Error::from(io::Error::from(kind)).context("sealing");
            assert_eq!(is_busy(&error), expected, "{kind}");
        };
        check(io::ErrorKind::ResourceBusy, true);
        check(io::ErrorKind::OutOfMemory, false);
    }
}
