//! A component and what it imports.

use std::sync::OnceLock;

use wasmtime::component::Component;

use crate::engine::Engine;
use crate::error::Error;
use crate::instance::State;
use crate::instance::bindings::CustomToolPre;

/// A component that is linked when first asked for. One from the compile cache was linked before, by the same version of
/// this host, so it is known to fit; and linking takes a good part of the time of a cached load.
pub(super) struct Linked {
    component: Component,
    linked: OnceLock<CustomToolPre<State>>,
}

impl Linked {
    pub fn later(component: Component) -> Self {
        let linked = OnceLock::new();
        Self { component, linked }
    }

    /// Links now, and tells what doesn't fit.
    pub fn now(engine: &Engine, component: Component) -> wasmtime::Result<Self> {
        let linked = OnceLock::from(link(engine, &component)?);
        Ok(Self { component, linked })
    }

    pub fn component(&self) -> &Component {
        &self.component
    }

    pub fn get(&self, engine: &Engine) -> Result<&CustomToolPre<State>, Error> {
        if let Some(linked) = self.linked.get() {
            return Ok(linked);
        }
        let linked = link(engine, &self.component).map_err(|error| {
            Error::host("could not link a plugin from the compile cache", error)
        })?;
        Ok(self.linked.get_or_init(|| linked))
    }
}

fn link(engine: &Engine, component: &Component) -> wasmtime::Result<CustomToolPre<State>> {
    engine
        .linker()
        .instantiate_pre(component)
        .and_then(CustomToolPre::new)
}
