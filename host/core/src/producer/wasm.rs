//! The binding of one plugin to one session, with its live instance if there is one.

mod command;
mod fresh;
mod roots;

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use airlock_model::content::ToolResult;
use airlock_model::error::Error;
use airlock_model::pending::{ActionId, PendingAction};
use airlock_model::policy::Policy;
use futures_util::future::BoxFuture;
use tokio::sync::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

use super::{CommitChanges, Executed, ProducerContext, committed};
use crate::instance::{
    Call, Conditions, Done, Ended, Instance, InstanceContext, VolatileActions, unless_cancelled,
    within,
};
use crate::params::Params;
use crate::plugin::Plugin;
use crate::pushing::{Called, PlaceOfOthers, StagedActions};
use crate::runtime::{IdleMemory, Reclaim, Reclaimed};
use crate::workspace::{PathBounds, Roots};
use crate::world::{CommandLine, DecidedAction, World};
use roots::roots;

pub(crate) struct Binding {
    this: Weak<Binding>,
    plugin: Plugin,
    roots: Arc<Roots>,
    context: ProducerContext,
    volatile: VolatileActions,
    live: Mutex<Option<Idle>>,
    /// Held by the one run that has a fresh instance.
    fresh: Mutex<()>,
    /// True if the engine knows that this binding may have an instance.
    registered: AtomicBool,
    /// Time of the last call, in the engine's count of uses.
    last_used: AtomicU64,
}

impl Binding {
    /// Binds a plugin to a session.
    ///
    /// # Errors
    /// [`Error::Workspace`] if there is no place outside the workspace for a scratch directory.
    pub fn new(plugin: &Plugin, context: ProducerContext) -> Result<Arc<Self>, Error> {
        let roots = roots(plugin, &context)?;
        Ok(Arc::new_cyclic(|this| Self {
            this: this.clone(),
            plugin: plugin.clone(),
            roots: Arc::new(roots),
            context,
            volatile: VolatileActions::default(),
            live: Mutex::default(),
            fresh: Mutex::default(),
            registered: AtomicBool::new(false),
            last_used: AtomicU64::new(0),
        }))
    }

    pub fn plugin(&self) -> &Plugin {
        &self.plugin
    }

    pub fn policy(&self) -> &Policy {
        &self.context.policy
    }

    pub fn has_scratch(&self) -> bool {
        self.roots.scratch.is_used()
    }

    pub async fn execute(
        &self,
        call: &Call<'_>,
        params: &Params<'_>,
        place: Option<&PlaceOfOthers>,
    ) -> Result<Executed, Error> {
        if *self.plugin.world() == World::Command {
            return Box::pin(self.execute_command(call, params, place)).await;
        }
        let mut entered = self.enter(call.cancel).await?;
        let text = params.text().as_str();
        let run = entered.run(async |instance| instance.execute(call, text).await);
        let (result, staged) = run.await?;
        if staged.is_empty() {
            return Ok(Executed::of(result?, Vec::new()));
        }
        let has_volatile = staged.has_volatile();
        let executed = match result {
            // No other call enters the plugin in the meantime, so the instance that holds its
            // volatile actions stays.
            Ok(result) => {
                let called = Called {
                    tool: call.tool,
                    params: params.text(),
                    content: &result.content,
                };
                let committed = self.commit(staged, called, call, place).await;
                committed.map(|pushed| Executed::of(result, pushed))
            }
            Err(error) => Err(error),
        };
        if executed.is_err() && has_volatile {
            entered.drop_unless_needed();
        }
        executed
    }

    async fn commit(
        &self,
        staged: StagedActions,
        called: Called<'_>,
        call: &Call<'_>,
        place: Option<&PlaceOfOthers>,
    ) -> Result<Vec<Arc<PendingAction>>, Error> {
        let (session, source) = (&self.context.session, self.plugin.source());
        let mut committing = pin!(staged.commit(session, source, called, call.limits, place));
        let ended = within(call.limits, call.spent, call.cancel, committing.as_mut()).await;
        let pushed = match (ended, place) {
            (Ended::Returned(pushed), _) => pushed?,
            // It can't be taken back, so wait for its result.
            (_, Some(_)) => committing.await?,
            (Ended::Cancelled, None) => return Err(Error::Cancelled),
            (Ended::TimedOut, None) => return Err(Error::timed_out(call.tool, call.limits)),
        };
        let volatile = pushed.iter().filter(|action| !action.durable);
        volatile.for_each(|action| self.volatile.insert(action.id.clone()));
        Ok(pushed)
    }

    pub async fn apply(
        &self,
        call: &Call<'_>,
        action: &PendingAction,
        resolution: &DecidedAction<'_>,
        conditions: Conditions,
        commit: &dyn CommitChanges,
    ) -> Result<ToolResult, Error> {
        if action.durable {
            return self
                .apply_in_fresh_instance(call, resolution, conditions, commit)
                .await;
        }
        let mut entered = self.enter(call.cancel).await?;
        // Checked while holding the instance: an earlier call may have ended it.
        if !self.can_resolve(action) {
            return Err(Error::InstanceGone);
        }
        let apply = async |instance: Box<Instance>| {
            let (instance, result) = instance.apply(call, resolution).await;
            let changes = instance.as_ref().and_then(|instance| instance.changes());
            let result = committed(changes, result, commit).await;
            (instance, result)
        };
        entered.run(apply).await
    }

    /// Calls the plugin's reject handler. Returns `None` if it returns nothing or can't be called
    /// any more.
    pub async fn reject(
        &self,
        call: &Call<'_>,
        action: &PendingAction,
        resolution: &DecidedAction<'_>,
    ) -> Result<Option<ToolResult>, Error> {
        let mut entered = self.enter(call.cancel).await?;
        if !self.can_resolve(action) {
            return Ok(None);
        }
        entered
            .run(async |instance| instance.reject(call, resolution).await)
            .await
    }

    fn can_resolve(&self, action: &PendingAction) -> bool {
        action.durable || self.volatile.contains(&action.id)
    }

    /// Makes the instance if there is none.
    pub async fn start(&self) -> Result<(), Error> {
        self.enter(None).await?.start().await
    }

    /// Notes that a volatile action was finally resolved, so that its instance may make room for
    /// another.
    pub fn release(&self, action: &ActionId) {
        self.volatile.remove(action);
        if self.plugin.engine().live().has_waiters() {
            self.make_room();
        }
    }

    /// Waits for its turn. No other call enters the plugin until the returned value is dropped.
    async fn enter<'a>(
        &'a self,
        cancel: Option<&'a CancellationToken>,
    ) -> Result<Entered<'a>, Error> {
        if cancel.is_some_and(CancellationToken::is_cancelled) {
            return Err(Error::Cancelled);
        }
        // The lock is fair: `try_lock` fails while others wait for it.
        let live = match self.live.try_lock() {
            Ok(live) => live,
            Err(_) => unless_cancelled(cancel, self.live.lock()).await?,
        };
        let now = self.plugin.engine().live().now();
        self.last_used.store(now, Ordering::Relaxed);
        Ok(Entered {
            binding: self,
            cancel,
            live: Some(live),
        })
    }

    /// Makes an instance. Boxed, because this rare path would make the future of every call
    /// kilobytes larger.
    fn make_instance<'a>(
        &'a self,
        cancel: Option<&'a CancellationToken>,
    ) -> BoxFuture<'a, Result<Box<Instance>, Error>> {
        Box::pin(self.instance_with(cancel, Arc::clone(&self.roots), None, None))
    }

    async fn instance_with(
        &self,
        cancel: Option<&CancellationToken>,
        roots: Arc<Roots>,
        conditions: Option<Conditions>,
        command: Option<CommandLine>,
    ) -> Result<Box<Instance>, Error> {
        let patience = self.context.limits.call_time;
        let live = self.plugin.engine().live();
        let memory = self.context.session.tenant.memory(live.memory());
        let room = live.room_within(patience, self.plugin.name(), &memory);
        let room = unless_cancelled(cancel, room).await??;
        if !self.registered.swap(true, Ordering::SeqCst) {
            let holder: Weak<dyn Reclaim> = self.this.clone();
            live.register(holder);
        }
        let ProducerContext {
            policy,
            limits,
            session,
            ..
        } = &self.context;
        let context = InstanceContext {
            plugin: self.plugin.source().clone(),
            names: Some(Arc::clone(self.plugin.tool_names())),
            policy: policy.clone(),
            bounds: policy.limits_paths().then(|| {
                let wanted = self.plugin.effective_policy(Policy::default());
                Arc::new(PathBounds::new(policy.clone(), wanted))
            }),
            limits: Arc::clone(limits),
            roots,
            // The live instance's volatile actions don't end with another instance.
            volatile: match conditions {
                Some(_) => VolatileActions::default(),
                None => self.volatile.clone(),
            },
            session: Some(Arc::clone(session)),
            conditions,
            command,
        };
        Instance::new(
            self.plugin.engine().runtime(),
            self.plugin.component()?,
            context,
            room,
        )
        .await
    }
}

impl Reclaim for Binding {
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

    fn last_used(&self) -> u64 {
        self.last_used.load(Ordering::Relaxed)
    }
}

/// The right to call into a plugin.
struct Entered<'a> {
    binding: &'a Binding,
    cancel: Option<&'a CancellationToken>,
    /// `Some` until it is dropped.
    live: Option<MutexGuard<'a, Option<Idle>>>,
}

/// A live instance between two calls.
struct Idle {
    instance: Box<Instance>,
    _memory: IdleMemory,
}

impl Entered<'_> {
    async fn start(&mut self) -> Result<(), Error> {
        if let Some(live) = self.live.as_mut()
            && live.is_none()
        {
            let instance = self.binding.make_instance(self.cancel).await?;
            **live = Some(self.binding.idle(instance));
        }
        Ok(())
    }

    /// Makes one call, in the live instance if there is one. The instance stays if the guest
    /// finished the call, even if only to acknowledge a cancellation. If the guest was interrupted
    /// in the middle, or this future is dropped, the instance and its volatile actions are dropped
    /// too, because the guest may have stopped halfway through something.
    async fn run<T>(
        &mut self,
        call: impl AsyncFnOnce(Box<Instance>) -> Done<T>,
    ) -> Result<T, Error> {
        let instance = match self.live.as_mut().and_then(|live| live.take()) {
            Some(idle) => idle.instance,
            None => self.binding.make_instance(self.cancel).await?,
        };
        let (instance, result) = call(instance).await;
        if let Some(live) = &mut self.live {
            **live = instance.map(|instance| self.binding.idle(instance));
        }
        result
    }

    /// Drops the instance unless it holds volatile actions. A guest keeps the data of a volatile
    /// action even if that action never got onto the stack.
    fn drop_unless_needed(&mut self) {
        if let Some(live) = &mut self.live
            && self.binding.volatile.is_empty()
        {
            **live = None;
        }
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        drop(self.live.take());
        // Must run after the lock is released, see `LiveInstances::room`.
        let all = self.binding.plugin.engine().live();
        if all.has_waiters() {
            self.binding.make_room();
        }
        all.limit_idle_memory();
    }
}

impl Binding {
    fn idle(&self, instance: Box<Instance>) -> Idle {
        let live = self.plugin.engine().live();
        Idle {
            _memory: live.idle(instance.memory()),
            instance,
        }
    }

    /// Drops an idle instance that holds no volatile action. The engine still lists this slot, and
    /// finds it empty later.
    pub fn make_room(&self) {
        if let Ok(mut live) = self.live.try_lock()
            && self.volatile.is_empty()
        {
            *live = None;
        }
    }
}
