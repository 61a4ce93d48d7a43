//! Actions of a running call. They are kept here until the call succeeds, and then pushed onto the
//! stack all together.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use airlock_model::call_record::{CallRecord, PackedCall};
use airlock_model::content::Content;
use airlock_model::error::{Error, HostError};
use airlock_model::json::Json;
use airlock_model::limits::Limits;
use airlock_model::pending::{CallId, PendingAction};
use airlock_model::store::{NewAction, PluginBytes, Push, Room, SessionRoom, Stacks, StoreError};
use airlock_workspace::{ReadSet, View};

use super::{PlaceOfOthers, SessionContext};
use crate::workspace::read_files;

/// The actions of one call, in push order. Dropping them leaves nothing behind.
#[derive(Default)]
pub(crate) struct StagedActions {
    pub actions: Vec<NewAction>,
    /// The files that their tool has read.
    pub read: Option<(View, ReadSet)>,
    /// The call's id, once it has pushed anything.
    call: Option<CallId>,
    /// Room in the session that is reserved for them.
    reservation: Option<Reservation>,
    /// The store's last answer.
    known: Option<SessionRoom>,
}

/// Room that the calls of a session have reserved and not used yet. If another host takes the room
/// first, the store refuses the whole call.
#[derive(Default)]
pub(crate) struct Reserved(Mutex<Room>);

/// A part of the reserved room; given back on drop.
struct Reservation {
    of: Arc<Reserved>,
    taken: Room,
}

impl StagedActions {
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Returns whether any action's preview exists only in the memory of its instance.
    pub fn has_volatile(&self) -> bool {
        self.actions.iter().any(|new| !new.action.durable)
    }

    /// Returns the call's id.
    pub fn call(&mut self) -> &CallId {
        self.call
            .get_or_insert_with(|| CallId::generate(SystemTime::now()))
    }

    /// Returns the size that they count for together, in bytes.
    pub fn bytes(&self) -> u64 {
        let reservation = self.reservation.as_ref();
        reservation.map_or(0, |it| it.taken.bytes)
    }

    /// Reserves room for one more action.
    ///
    /// # Errors
    /// [`StoreError::Full`], [`StoreError::SessionFull`] and [`StoreError::StoreFull`] if there is
    /// none; [`StoreError::Backend`] if the store can't be queried.
    pub async fn reserve(
        &mut self,
        session: &SessionContext,
        stacks: &dyn Stacks,
        new: &NewAction,
        limits: &Limits,
    ) -> Result<(), StoreError> {
        let more = Room {
            actions: 1,
            bytes: new.bytes(),
        };
        let reservation = self.reservation.get_or_insert_with(|| Reservation {
            of: Arc::clone(&session.reserved),
            taken: Room::default(),
        });
        let bytes = reservation.taken.bytes.saturating_add(more.bytes);
        // The store was queried at the previous push, and its answer stays valid unless it is
        // nearly full.
        if let Some(known) = self.known
            && bytes <= known.store_bytes_left
            && reservation.take(known.held, more, limits).is_ok()
        {
            return Ok(());
        }
        let known = stacks.room(&session.id, bytes).await?;
        self.known = Some(known);
        reservation.take(known.held, more, limits)
    }

    /// Pushes them onto the session's stack, all or none, with the record of the call.
    ///
    /// # Errors
    /// [`Error::Store`] if the store refuses them; [`Error::ResolutionInProgress`] if the actions
    /// they replace can't be removed.
    pub async fn commit(
        mut self,
        session: &SessionContext,
        source: &PluginBytes,
        called: Called<'_>,
        limits: &Limits,
        place: Option<&PlaceOfOthers>,
    ) -> Result<Vec<Arc<PendingAction>>, Error> {
        let read = self.read.take();
        let call = called.pack(self.call().clone(), read).await?;
        let actions = self.actions.iter();
        let pushed: Vec<_> = actions.map(|new| Arc::clone(&new.action)).collect();
        let stacks = &*session.store()?.stacks;
        let push = Push::of_call(&session.id, self.actions, source)
            .with_call(call)
            .with_capacity(limits.pending_actions)
            .with_capacity_bytes(limits.pending_bytes);
        match place {
            Some(place) => place.take(stacks, push).await?,
            None => stacks.push(push).await?,
        }
        Ok(pushed)
    }
}

/// The called tool, and the preview for the decider.
#[derive(Clone, Copy)]
pub(crate) struct Called<'a> {
    pub tool: &'a str,
    pub params: &'a Json,
    pub content: &'a [Content],
}

/// Larger data is packed on another thread, to avoid blocking this one.
const PACKED_HERE: usize = 64 << 10;

impl Called<'_> {
    async fn pack(self, id: CallId, read: Option<(View, ReadSet)>) -> Result<PackedCall, Error> {
        let mut record = CallRecord::new(
            id,
            self.tool,
            self.params.clone(),
            self.content.to_vec(),
            SystemTime::now(),
        );
        let has_read = |reads: &ReadSet| reads.paths.values().any(|it| it.contents);
        let read = read.filter(|(_, reads)| reads.is_cut || has_read(reads));
        let content = record.content.iter().map(Content::byte_length);
        if read.is_none() && content.sum::<usize>() + record.params.as_str().len() <= PACKED_HERE {
            return Ok(record.pack());
        }
        let packing = tokio::task::spawn_blocking(move || {
            if let Some((view, reads)) = read {
                record.read = read_files(&view, &reads);
            }
            record.pack()
        });
        Ok(packing.await.map_err(HostError::CallRecord)?)
    }
}

impl Reservation {
    fn take(&mut self, held: Room, more: Room, limits: &Limits) -> Result<(), StoreError> {
        let mut reserved = self.of.lock();
        let taken = plus(held, *reserved);
        taken.check(more, limits.pending_actions, limits.pending_bytes)?;
        *reserved = plus(*reserved, more);
        self.taken = plus(self.taken, more);
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut reserved = self.of.lock();
        reserved.actions -= self.taken.actions;
        reserved.bytes -= self.taken.bytes;
    }
}

impl Reserved {
    fn lock(&self) -> MutexGuard<'_, Room> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn plus(one: Room, other: Room) -> Room {
    Room {
        actions: one.actions.saturating_add(other.actions),
        bytes: one.bytes.saturating_add(other.bytes),
    }
}
