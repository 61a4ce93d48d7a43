//! A component and what it imports.

use std::io;
use std::sync::OnceLock;

use airlock_model::error::Error;
use wasmtime::component::Component;

use crate::engine::Engine;
use crate::instance::State;
use crate::world::GuestPre;

/// A component that is linked when first asked for. One from the compile cache was linked before,
/// by the same version of this host, so it is known to fit; and linking takes a good part of the
/// time of a cached load.
pub(super) struct Linked {
    component: Component,
    linked: OnceLock<GuestPre<State>>,
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

    pub fn get(&self, engine: &Engine) -> Result<&GuestPre<State>, Error> {
        if let Some(linked) = self.linked.get() {
            return Ok(linked);
        }
        let linked = link(engine, &self.component).map_err(|error| {
            Error::host("could not link a plugin that was compiled before", error)
        })?;
        Ok(self.linked.get_or_init(|| linked))
    }
}

fn link(engine: &Engine, component: &Component) -> wasmtime::Result<GuestPre<State>> {
    unless_busy(|| component.initialize_copy_on_write_image())?;
    engine
        .linker()
        .instantiate_pre(component)
        .and_then(GuestPre::new)
}

/// How often to ask a system that is busy. It waits by itself for a sixth of a second each time.
const TRIES: usize = 6;

/// Makes the memory that all instances begin with, so that the first of them needn't. On Linux it
/// is sealed, and the system refuses that while it has one of the pages in hand itself, to move it
/// or to see whether it is used: EBUSY, which passes.
fn unless_busy(mut make: impl FnMut() -> wasmtime::Result<()>) -> wasmtime::Result<()> {
    for _ in 1..TRIES {
        match make() {
            Err(error) if is_busy(&error) => {}
            done => return done,
        }
    }
    make()
}

fn is_busy(error: &wasmtime::Error) -> bool {
    let cause = error.root_cause().downcast_ref::<io::Error>();
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::ResourceBusy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_system_is_asked_again_and_no_other() {
        let check = |kind: io::ErrorKind, failures: usize, is_made: bool, expected: usize| {
            let mut calls = 0;
            let made = unless_busy(|| {
                calls += 1;
                match calls > failures {
                    true => Ok(()),
                    false => Err(wasmtime::Error::from(io::Error::from(kind)).context("sealing")),
                }
            });
            assert_eq!(
                (made.is_ok(), calls),
                (is_made, expected),
                "{kind} {failures}"
            );
        };
        check(io::ErrorKind::ResourceBusy, 0, true, 1);
        check(io::ErrorKind::ResourceBusy, TRIES - 1, true, TRIES);
        check(io::ErrorKind::ResourceBusy, usize::MAX, false, TRIES);
        check(io::ErrorKind::OutOfMemory, 1, false, 1);
    }
}
