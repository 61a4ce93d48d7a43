//! Counts live guest instances, and reclaims idle ones to make room.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use airlock_model::error::Error;
use airlock_model::limits::LimitKind;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::budget::{Budget, Held, Portion};

/// Maximum memory of all idle instances together, in bytes. A new instance costs a fraction of a
/// millisecond, so keeping large idle ones is not worthwhile.
const IDLE_MEMORY: usize = 512 << 20;

/// Engines with fewer instances than this don't divide them between tenants.
const MIN_DIVIDED: usize = 64;

/// The right to have one live instance, and memory for it. Given back on drop.
#[derive(Debug)]
pub(crate) struct Room {
    pub memory: Held,
    pub permit: OwnedSemaphorePermit,
}

/// A place that may hold a live instance.
pub(crate) trait Reclaim: Send + Sync {
    /// Drops the instance, unless it is in use or holds a volatile action. After this returns
    /// `Empty`, the place must be registered again for its next instance.
    fn reclaim(&self) -> Reclaimed;

    /// Returns the time of the last use, as a value of [`LiveInstances::now`].
    fn last_used(&self) -> u64;
}

pub(crate) enum Reclaimed {
    /// The place no longer has an instance.
    Empty,
    /// The instance has to stay.
    Kept,
}

pub(crate) struct LiveInstances {
    total: usize,
    permits: Arc<Semaphore>,
    /// The memory of all guests, in bytes.
    memory: Arc<Budget>,
    /// Minimum bytes that an instance counts as. They limit one tenant to three quarters of all
    /// instances.
    least_memory: usize,
    /// Number of callers that wait for room.
    waiting: AtomicUsize,
    /// Counts uses.
    uses: AtomicU64,
    /// The memory of idle instances, in bytes.
    idle: Arc<AtomicUsize>,
    /// Places of instances, the least recently used on top, as far as is known here: it may have
    /// been used again since.
    holders: Mutex<BinaryHeap<Reverse<Holder>>>,
}

/// Counts an idle instance's memory while it is idle.
pub(crate) struct IdleMemory {
    all: Arc<AtomicUsize>,
    bytes: usize,
}

impl Drop for IdleMemory {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::SeqCst);
    }
}

struct Holder {
    used: u64,
    place: Weak<dyn Reclaim>,
}

impl LiveInstances {
    /// Allows `total` instances, with `memory` bytes together.
    pub fn new(total: u32, memory: usize) -> Self {
        let total = total as usize;
        Self {
            total,
            permits: Arc::new(Semaphore::new(total)),
            memory: Arc::new(Budget::new(memory)),
            least_memory: memory / 3 * 2 / total.max(MIN_DIVIDED),
            waiting: AtomicUsize::new(0),
            uses: AtomicU64::new(0),
            idle: Arc::default(),
            holders: Mutex::default(),
        }
    }

    pub fn count(&self) -> usize {
        self.total - self.permits.available_permits()
    }

    /// Returns whether a caller waits, so that an instance that becomes idle should make room at
    /// once.
    pub fn has_waiters(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Notes that an instance of this size becomes idle.
    pub fn idle(&self, bytes: usize) -> IdleMemory {
        self.idle.fetch_add(bytes, Ordering::SeqCst);
        IdleMemory {
            all: Arc::clone(&self.idle),
            bytes,
        }
    }

    /// Drops idle instances until their memory is within the limit. Call it after an instance
    /// became idle.
    pub fn limit_idle_memory(&self) {
        while self.idle.load(Ordering::SeqCst) > IDLE_MEMORY && self.reclaim_one() {}
    }

    /// Returns the current time in uses, for a place that is used now.
    pub fn now(&self) -> u64 {
        self.uses.fetch_add(1, Ordering::Relaxed)
    }

    /// Registers the place of a new instance. Call it once for each holder, and again only after
    /// the holder was found empty.
    pub fn register(&self, place: Weak<dyn Reclaim>) {
        let used = self.now();
        let mut holders = self.holders();
        if holders.len() > 2 * self.total + 64 {
            holders.retain(|Reverse(holder)| holder.place.strong_count() > 0);
        }
        holders.push(Reverse(Holder { used, place }));
    }

    /// Returns the memory budget of all guests.
    pub fn memory(&self) -> &Arc<Budget> {
        &self.memory
    }

    /// Waits for room for an instance of the tenant with this portion of [`memory`](Self::memory).
    /// Drops idle instances if necessary. Waits while all are busy.
    ///
    /// No room can be missed: a caller counts itself as waiting before it looks for an idle
    /// instance, and a caller whose instance becomes idle looks for waiting callers afterwards.
    pub async fn room(&self, of: &Portion) -> Room {
        // Memory comes first, so that a tenant at its limit holds no permit that others could use.
        let memory = match of.take(self.least_memory) {
            Some(memory) => memory,
            None => self.wait_for_memory(of).await,
        };
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Room { memory, permit };
        }
        let _waiting = Waiting::on(&self.waiting);
        self.reclaim_one();
        match Arc::clone(&self.permits).acquire_owned().await {
            Ok(permit) => Room { memory, permit },
            // The semaphore is never closed, and it lives as long as `self`.
            Err(_) => unreachable!("the semaphore was closed"),
        }
    }

    async fn wait_for_memory(&self, of: &Portion) -> Held {
        let _waiting = Waiting::on(&self.waiting);
        loop {
            let given_back = self.memory.given_back();
            loop {
                if let Some(memory) = of.take(self.least_memory) {
                    return memory;
                }
                if !self.reclaim_one() {
                    break;
                }
            }
            given_back.await;
        }
    }

    /// Waits for [`room`](Self::room) with a time limit. The error names `who`.
    pub async fn room_within(
        &self,
        patience: Duration,
        who: &str,
        of: &Portion,
    ) -> Result<Room, Error> {
        let room = tokio::time::timeout(patience, self.room(of)).await;
        room.map_err(|_| Error::Limit {
            tool: who.to_owned(),
            kind: LimitKind::LiveInstances,
            message: "could not start: the limit on live instances is reached, and each of them is busy or holds volatile actions".to_owned(),
        })
    }

    /// Reserves `more` bytes for a running instance. Drops idle instances if necessary. Returns
    /// false if that is not enough.
    pub fn grow(&self, held: &mut Held, more: usize) -> bool {
        loop {
            if held.grow(more) {
                return true;
            }
            if !self.reclaim_one() {
                return false;
            }
        }
    }

    /// Drops the least recently used idle instance. Returns false if there is none.
    pub fn reclaim_one(&self) -> bool {
        let mut candidates = self.holders().len();
        while candidates > 0 {
            let Some(Reverse(Holder { used, place })) = self.holders().pop() else {
                return false;
            };
            let Some(holder) = place.upgrade() else {
                candidates -= 1;
                continue;
            };
            let last_used = holder.last_used();
            if last_used > used {
                let used = last_used;
                self.holders().push(Reverse(Holder { used, place }));
                continue;
            }
            candidates -= 1;
            let before = self.permits.available_permits();
            match holder.reclaim() {
                // Look at all others before this one again.
                Reclaimed::Kept => {
                    let used = self.now();
                    self.holders().push(Reverse(Holder { used, place }));
                }
                Reclaimed::Empty if self.permits.available_permits() > before => return true,
                Reclaimed::Empty => {}
            }
        }
        false
    }

    fn holders(&self) -> MutexGuard<'_, BinaryHeap<Reverse<Holder>>> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ord for Holder {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.used.cmp(&other.used)
    }
}

impl PartialOrd for Holder {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Holder {
    fn eq(&self, other: &Self) -> bool {
        self.used == other.used
    }
}

impl Eq for Holder {}

struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn on(counter: &'a AtomicUsize) -> Self {
        counter.fetch_add(1, Ordering::SeqCst);
        Self(counter)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::tenant::Tenant;

    const MEMORY: usize = 1 << 30;

    struct Slot {
        live: Mutex<Option<Room>>,
        used: AtomicU64,
        holds_volatile: bool,
        idle: Mutex<Option<IdleMemory>>,
    }

    impl Reclaim for Slot {
        fn reclaim(&self) -> Reclaimed {
            if self.holds_volatile {
                return Reclaimed::Kept;
            }
            self.live.lock().unwrap().take();
            self.idle.lock().unwrap().take();
            Reclaimed::Empty
        }

        fn last_used(&self) -> u64 {
            self.used.load(Ordering::Relaxed)
        }
    }

    impl Slot {
        async fn make(live: &LiveInstances, holds_volatile: bool) -> Arc<Self> {
            let place = Arc::new(Self {
                live: Mutex::default(),
                used: AtomicU64::new(live.now()),
                holds_volatile,
                idle: Mutex::default(),
            });
            place.fill(live).await;
            place
        }

        async fn fill(self: &Arc<Self>, live: &LiveInstances) {
            let own = Tenant::new().memory(live.memory());
            let permit = live.room(&own).await;
            let holder: Arc<dyn Reclaim> = self.clone();
            live.register(Arc::downgrade(&holder));
            *self.live.lock().unwrap() = Some(permit);
            self.use_it(live);
        }

        fn use_it(&self, live: &LiveInstances) {
            self.used.store(live.now(), Ordering::Relaxed);
        }

        fn is_live(&self) -> bool {
            self.live.lock().unwrap().is_some()
        }
    }

    #[tokio::test]
    async fn the_instance_goes_whose_last_use_is_the_longest_ago_and_none_that_has_to_stay() {
        let live = LiveInstances::new(4, MEMORY);
        let mut places = Vec::new();
        for holds_volatile in [true, false, false, false] {
            places.push(Slot::make(&live, holds_volatile).await);
        }
        let are_live = |places: &[Arc<Slot>]| -> Vec<bool> {
            places.iter().map(|place| place.is_live()).collect()
        };
        // Made before the others, and used after them.
        places[1].use_it(&live);
        places.push(Slot::make(&live, false).await);
        assert_eq!(are_live(&places), [true, true, false, true, true]);
        places[4].use_it(&live);
        places[3].use_it(&live);
        places[2].fill(&live).await;
        assert_eq!(are_live(&places), [true, false, true, true, true]);
        places[1].fill(&live).await;
        assert_eq!(are_live(&places), [true, true, true, true, false]);
        assert_eq!(live.count(), 4);
    }

    #[tokio::test]
    async fn idle_instances_go_while_they_keep_more_memory_than_they_may_together() {
        let live = LiveInstances::new(9, MEMORY);
        let mut places = Vec::new();
        for holds_volatile in [true, false, false, false] {
            let place = Slot::make(&live, holds_volatile).await;
            *place.idle.lock().unwrap() = Some(live.idle(IDLE_MEMORY / 3));
            places.push(place);
        }
        live.limit_idle_memory();
        let are_live: Vec<_> = places.iter().map(|place| place.is_live()).collect();
        assert_eq!(are_live, [true, false, true, true]);
        assert_eq!(live.idle.load(Ordering::SeqCst), IDLE_MEMORY / 3 * 3);
        // Instances that have to stay don't make this loop forever.
        let _all = live.idle(2 * IDLE_MEMORY);
        live.limit_idle_memory();
        let are_live: Vec<_> = places.iter().map(|place| place.is_live()).collect();
        assert_eq!(are_live, [true, false, false, false]);
    }

    #[tokio::test]
    async fn one_tenant_leaves_room_to_others_and_goes_on_when_it_has_given_some_back() {
        let live = Arc::new(LiveInstances::new(128, MEMORY));
        let greedy = Tenant::new().memory(live.memory());
        let mut rooms: Vec<_> = std::iter::from_fn(|| live.room(&greedy).now_or_never()).collect();
        assert_eq!(rooms.len(), 96);
        let mut other = live.room(&Tenant::new().memory(live.memory())).await;
        assert!(live.grow(&mut other.memory, MEMORY / 16));
        let waiting = {
            let live = Arc::clone(&live);
            tokio::spawn(async move { live.room(&greedy).await.memory.count() })
        };
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        rooms.pop();
        drop(other);
        assert_eq!(waiting.await.unwrap(), MEMORY / 3 * 2 / 128);
    }
}
