//! What a call has pushed before it has ended: kept here until it ends well, and then put onto the
//! stack all together.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use airlock_model::call_record::{CallRecord, PackedCall};
use airlock_model::content::Content;
use airlock_model::error::Error;
use airlock_model::json::Json;
use airlock_model::limits::Limits;
use airlock_model::pending::{CallId, PendingAction};
use airlock_model::store::{
    NewAction, PendingStore, PluginBytes, Push, Room, SessionRoom, StoreError,
};
use airlock_workspace::{ReadSet, View};

use super::{PlaceOfOthers, SessionContext};
use crate::workspace::read_files;

/// The actions of one call, in the order in which they were pushed. Dropped, they leave nothing.
#[derive(Default)]
pub(crate) struct StagedActions {
    pub actions: Vec<NewAction>,
    /// What their tool has read for them.
    pub read: Option<(View, ReadSet)>,
    /// The call's id, once it has pushed anything.
    call: Option<CallId>,
    /// What of the session's room is taken for them.
    reservation: Option<Reservation>,
    /// What the store said when it was last asked.
    known: Option<SessionRoom>,
}

/// What the calls of a session have taken of its room, and not used yet. Another host may be faster
/// all the same: then the store refuses the whole call.
#[derive(Default)]
pub(crate) struct Reserved(Mutex<Room>);

/// A part of that; given back when dropped.
struct Reservation {
    of: Arc<Reserved>,
    taken: Room,
}

impl StagedActions {
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Whether there is one whose preview is in the memory of its instance.
    pub fn has_volatile(&self) -> bool {
        self.actions.iter().any(|new| !new.action.durable)
    }

    /// The id that they know the call by.
    pub fn call(&mut self) -> &CallId {
        self.call
            .get_or_insert_with(|| CallId::generate(SystemTime::now()))
    }

    /// What they count for together, in bytes.
    pub fn bytes(&self) -> u64 {
        let reservation = self.reservation.as_ref();
        reservation.map_or(0, |it| it.taken.bytes)
    }

    /// Takes room for one more action.
    ///
    /// # Errors
    /// [`StoreError::Full`], [`StoreError::SessionFull`] and [`StoreError::StoreFull`] where there
    /// is none; [`StoreError::Backend`] where the store can't be asked.
    pub async fn reserve(
        &mut self,
        session: &SessionContext,
        store: &Arc<dyn PendingStore>,
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
        // The store was asked at the push before, and answers the same unless it is nearly full.
        if let Some(known) = self.known
            && bytes <= known.store_bytes_left
            && reservation.take(known.held, more, limits).is_ok()
        {
            return Ok(());
        }
        let known = store.room(&session.id, bytes).await?;
        self.known = Some(known);
        reservation.take(known.held, more, limits)
    }

    /// Puts them onto the session's stack, all of them or none, with the record of the call.
    ///
    /// # Errors
    /// [`Error::Store`] where the store doesn't take them; [`Error::ResolutionInProgress`] where
    /// others are to make room for them, and can't.
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
        let store = session.store.as_ref().ok_or(Error::NoStore)?;
        let push = Push::of_call(&session.id, self.actions, source)
            .with_call(call)
            .with_capacity(limits.pending_actions)
            .with_capacity_bytes(limits.pending_bytes);
        match place {
            Some(place) => place.take(&**store, push).await?,
            None => store.push(push).await?,
        }
        Ok(pushed)
    }
}

/// What was called, and the preview as whoever decides is to see it.
#[derive(Clone, Copy)]
pub(crate) struct Called<'a> {
    pub tool: &'a str,
    pub params: &'a Json,
    pub content: &'a [Content],
}

/// What takes longer to pack is packed where it holds up nobody.
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
        packing
            .await
            .map_err(|error| Error::host("could not pack the record of a call", error))
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
