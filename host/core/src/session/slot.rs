//! The place of one plugin in one session, with its live instance if there is one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use tokio::sync::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

use crate::engine::{Reclaim, Reclaimed};
use crate::error::Error;
use crate::event::Observer;
use crate::instance::{Done, Home, Instance, SessionContext, VolatileActions};
use crate::limits::Limits;
use crate::pending::ActionId;
use crate::plugin::Plugin;
use crate::policy::Policy;
use crate::workspace::Roots;

pub(super) struct Slot {
    this: Weak<Slot>,
    plugin: Plugin,
    surroundings: Surroundings,
    volatile: VolatileActions,
    live: Mutex<Option<Box<Instance>>>,
    /// Whether the engine knows that an instance may be here.
    registered: AtomicBool,
}

/// What an instance needs beside its plugin.
pub(super) struct Surroundings {
    pub policy: Policy,
    pub roots: Arc<Roots>,
    pub limits: Arc<Limits>,
    pub observer: Option<Observer>,
    pub session: Arc<SessionContext>,
}

impl Slot {
    pub fn new(this: Weak<Self>, plugin: Plugin, surroundings: Surroundings) -> Self {
        Self {
            this,
            plugin,
            surroundings,
            volatile: VolatileActions::default(),
            live: Mutex::default(),
            registered: AtomicBool::new(false),
        }
    }

    pub fn plugin(&self) -> &Plugin {
        &self.plugin
    }

    pub fn policy(&self) -> &Policy {
        &self.surroundings.policy
    }

    pub fn volatile(&self) -> &VolatileActions {
        &self.volatile
    }

    /// A volatile action was resolved for good, so its instance may make room for another.
    pub fn release(&self, action: &ActionId) {
        self.volatile.remove(action);
        if self.plugin.engine().live().wanted() {
            self.make_room();
        }
    }

    /// Waits for its turn. Nobody else calls into the plugin until the answer is dropped.
    pub async fn enter<'a>(
        &'a self,
        cancel: Option<&'a CancellationToken>,
    ) -> Result<Entered<'a>, Error> {
        if cancel.is_some_and(CancellationToken::is_cancelled) {
            return Err(Error::Cancelled);
        }
        // The lock is fair: it can't be taken so while somebody waits for it.
        let live = match self.live.try_lock() {
            Ok(live) => live,
            Err(_) => unless_cancelled(cancel, self.live.lock()).await?,
        };
        Ok(Entered {
            slot: self,
            cancel,
            live: Some(live),
        })
    }

    async fn make_instance(
        &self,
        cancel: Option<&CancellationToken>,
    ) -> Result<Box<Instance>, Error> {
        let patience = self.surroundings.limits.call_time;
        let permit = self
            .plugin
            .engine()
            .live()
            .permit_within(patience, self.plugin.name());
        let permit = unless_cancelled(cancel, permit).await??;
        if !self.registered.swap(true, Ordering::SeqCst) {
            let holder: Weak<dyn Reclaim> = self.this.clone();
            self.plugin.engine().live().register(holder);
        }
        let Surroundings {
            policy,
            roots,
            limits,
            observer,
            session,
        } = &self.surroundings;
        let home = Home {
            plugin: self.plugin.source().clone(),
            policy: policy.clone(),
            limits: Arc::clone(limits),
            roots: Arc::clone(roots),
            observer: observer.clone(),
            volatile: self.volatile.clone(),
            session: Some(Arc::clone(session)),
        };
        Instance::new(self.plugin.engine(), self.plugin.component()?, home, permit).await
    }
}

async fn unless_cancelled<T>(
    cancel: Option<&CancellationToken>,
    waiting: impl Future<Output = T>,
) -> Result<T, Error> {
    let Some(cancel) = cancel else {
        return Ok(waiting.await);
    };
    tokio::select! {
        biased;
        done = waiting => Ok(done),
        () = cancel.cancelled() => Err(Error::Cancelled),
    }
}

impl Reclaim for Slot {
    fn reclaim(&self) -> Reclaimed {
        let Ok(mut live) = self.live.try_lock() else {
            return Reclaimed::Kept;
        };
        if live.is_some() && !self.volatile.is_empty() {
            return Reclaimed::Kept;
        }
        self.registered.store(false, Ordering::SeqCst);
        *live = None;
        Reclaimed::Empty
    }
}

/// The right to call into a plugin.
pub(super) struct Entered<'a> {
    slot: &'a Slot,
    cancel: Option<&'a CancellationToken>,
    /// Always there until it is dropped.
    live: Option<MutexGuard<'a, Option<Box<Instance>>>>,
}

impl Entered<'_> {
    /// Makes the instance where there is none.
    pub async fn start(&mut self) -> Result<(), Error> {
        if let Some(live) = self.live.as_mut()
            && live.is_none()
        {
            **live = Some(self.slot.make_instance(self.cancel).await?);
        }
        Ok(())
    }

    /// Makes one call, in the live instance where there is one. The instance stays if the call came to its end; where this future is
    /// dropped in the middle, the instance goes with it.
    pub async fn run<T>(
        &mut self,
        call: impl AsyncFnOnce(Box<Instance>) -> Done<T>,
    ) -> Result<T, Error> {
        let instance = match self.live.as_mut().and_then(|live| live.take()) {
            Some(instance) => instance,
            None => self.slot.make_instance(self.cancel).await?,
        };
        let (instance, result) = call(instance).await;
        // A cancelled guest may have stopped halfway through something.
        let keep = !matches!(result, Err(Error::Cancelled));
        if let Some(live) = &mut self.live {
            **live = instance.filter(|_| keep);
        }
        result
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        drop(self.live.take());
        // After the lock is free, see `LiveInstances::permit`.
        if self.slot.plugin.engine().live().wanted() {
            self.slot.make_room();
        }
    }
}

impl Slot {
    /// Drops an idle instance that holds no volatile action. The engine still lists this slot, and finds it empty later.
    pub fn make_room(&self) {
        if let Ok(mut live) = self.live.try_lock()
            && self.volatile.is_empty()
        {
            *live = None;
        }
    }
}
