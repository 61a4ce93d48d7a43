//! A live guest: its store, its resource usage, its imports, and how calls into it end.

mod call;
mod captured;
mod clock;
mod conditions;
mod failure;
mod host;
mod network;
mod output;
mod state;
mod usage;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use airlock_model::error::Error;
use tokio::sync::OwnedSemaphorePermit;
use wasmtime::Store;
use wasmtime::component::Linker;
use wasmtime_wasi::p2::bindings::filesystem::{preopens, types};

use crate::runtime::{Room, Runtime};
use crate::workspace::HasFiles;
use crate::world::{self, Guest, GuestPre};

pub(crate) use call::{Call, Done, Ended, unless_cancelled, within};
pub(crate) use conditions::{Conditions, LookedAt, new_seed};
use usage::Usage;

pub(crate) use state::{InstanceContext, State, VolatileActions};

/// A component instance and its wasmtime store. Dropped after any call that was not completed.
pub(crate) struct Instance {
    store: Store<State>,
    exports: Guest,
    /// Dropped last, when the slot in the pool is free again.
    _permit: OwnedSemaphorePermit,
}

impl Instance {
    /// Returns the size of its memories together, in bytes.
    pub fn memory(&self) -> usize {
        self.store.data().usage.memory
    }

    /// Creates an instance. No guest code has run before, except for a `start` function.
    pub async fn new(
        runtime: &Runtime,
        component: &GuestPre<State>,
        context: InstanceContext,
        room: Room,
    ) -> Result<Box<Self>, Error> {
        runtime.make_room_for_files();
        let limits = context.limits.clone();
        let plugin = Arc::clone(&context.plugin.name);
        let Room { memory, permit } = room;
        let usage = Usage::new(&limits, memory, runtime.live());
        let mut store = Store::new(runtime.wasmtime(), State::new(context, usage));
        store.limiter(|state| &mut state.usage);
        store.set_hostcall_fuel(limits.hostcall_bytes);
        store.set_max_component_handles(state::handles(&limits));
        store.epoch_deadline_async_yield_and_update(1);
        store.set_epoch_deadline(1);
        let started = {
            let starting = pin!(component.instantiate(&mut store));
            call::within(&limits, Duration::ZERO, None, starting).await
        };
        match started {
            call::Ended::Returned(Ok(exports)) => Ok(Box::new(Self {
                store,
                exports,
                _permit: permit,
            })),
            call::Ended::Returned(Err(error)) => {
                Err(failure::classify(error, store.data(), &plugin))
            }
            call::Ended::TimedOut | call::Ended::Cancelled => {
                Err(Error::timed_out(&plugin, &limits))
            }
        }
    }
}

/// Returns a linker with everything a guest may import: the world's own interfaces, and WASI 0.2
/// with our gate guarding the files.
///
/// Guests can import sockets, but every use of them is refused, see [`network`].
pub(crate) fn linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    linker.allow_shadowing(true);
    types::add_to_linker::<State, HasFiles>(&mut linker, State::files)?;
    preopens::add_to_linker::<State, HasFiles>(&mut linker, State::files)?;
    network::add_to_linker(&mut linker)?;
    clock::add_to_linker(&mut linker)?;
    linker.allow_shadowing(false);
    world::add_to_linker(&mut linker)?;
    Ok(linker)
}
