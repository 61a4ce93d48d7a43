//! The stack of one session.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::SystemTime;

use super::REMEMBERED;
use crate::call_record::PackedCall;
use crate::denial::{Denial, DenialRecord};
use crate::effects::EffectsRecord;
use crate::pending::{
    ActionId, ActionState, BriefAction, Decision, Interruption, PendingAction, Resolution,
    SessionId, StackedAction,
};
use crate::store::{
    Claim, Claimed, DENIALS_KEPT, Lease, NewAction, Push, Replacement, Room, Standing, StoreError,
};

#[derive(Debug, Default)]
pub(super) struct Stack {
    /// The open actions, topmost last.
    pub open: Vec<Open>,
    /// The total size of the open actions, as counted for limits.
    pub bytes: u64,
    /// The resolved actions, oldest first. Searched only for an id that is not open, which is rare.
    pub resolved: VecDeque<(ActionId, Decision)>,
    pub last_token: u64,
}

#[derive(Debug)]
pub(super) struct Open {
    pub action: Arc<PendingAction>,
    pub guest_state: Option<Vec<u8>>,
    pub call: Option<Arc<PackedCall>>,
    pub effects: Option<Arc<EffectsRecord>>,
    /// The part of `bytes` that the effects take.
    pub effects_bytes: u64,
    pub bytes: u64,
    pub attempts: u32,
    pub last_error: Option<String>,
    pub interruption: Interruption,
    /// True if the action is volatile and its instance is gone.
    pub lost: bool,
    /// The decision that is being carried out, and the token of its claim.
    pub claim: Option<(Decision, u64)>,
    /// The latest denials, oldest first.
    pub denials: VecDeque<DenialRecord>,
}

impl Open {
    /// Undoes a claim under which nothing was tried.
    pub fn unclaim(&mut self, decision: Decision) {
        self.claim = None;
        if decision == Decision::Apply {
            self.attempts -= 1;
        }
    }

    pub fn new(pushed: NewAction, bytes: u64, call: Option<Arc<PackedCall>>) -> Self {
        Self {
            bytes,
            action: pushed.action,
            guest_state: pushed.guest_state,
            call,
            effects: None,
            effects_bytes: 0,
            attempts: 0,
            last_error: None,
            interruption: Interruption::None,
            lost: false,
            claim: None,
            denials: VecDeque::new(),
        }
    }

    pub fn deny(&mut self, denial: &Denial) {
        let number = self.denials.back().map_or(1, |last| last.number + 1);
        let at = SystemTime::now();
        let denied = DenialRecord::new(number, at, denial.clone());
        self.denials.push_back(denied);
        if self.denials.len() as u64 > DENIALS_KEPT {
            self.denials.pop_front();
        }
    }

    pub fn is_pending(&self) -> bool {
        self.claim.is_none()
    }

    pub fn stacked(&self) -> StackedAction {
        StackedAction {
            action: Arc::clone(&self.action),
            attempts: self.attempts,
            last_error: self.last_error.clone(),
            effects: self.effects.as_ref().map(|it| it.effects.summary()),
            state: self.state(),
            interruption: self.interruption,
        }
    }

    pub fn brief(&self) -> BriefAction {
        let mut brief = BriefAction::of(Arc::clone(&self.action), self.state());
        brief.attempts = self.attempts;
        brief
    }

    /// Returns the state of an action that is not claimed.
    fn state(&self) -> ActionState {
        match (self.lost, self.interruption.is_some()) {
            (true, _) => ActionState::Lost,
            (false, true) => ActionState::Interrupted,
            (false, false) => ActionState::Pending,
        }
    }
}

impl Stack {
    pub fn room(&self) -> Room {
        Room {
            actions: self.open.len(),
            bytes: self.bytes,
        }
    }

    /// Replaces pending actions with new ones, and returns the replaced ones.
    pub fn replace(
        &mut self,
        push: Push,
        replacement: &Replacement,
    ) -> Result<Vec<ActionId>, StoreError> {
        let ids: HashSet<&ActionId> = replacement.ids().collect();
        let goes = |open: &Open| {
            open.is_pending() && !open.interruption.is_some() && ids.contains(&open.action.id)
        };
        let replaced = || self.open.iter().filter(|open| goes(open));
        let Some(topmost) = self.open.iter().rposition(goes) else {
            return Ok(Vec::new());
        };
        if !replaced().any(|open| open.action.id == replacement.action) {
            return Ok(Vec::new());
        }
        let left = Room {
            actions: self.open.len() - replaced().count(),
            bytes: self.bytes - replaced().map(|open| open.bytes).sum::<u64>(),
        };
        let more = push.room();
        left.check(more, push.capacity, push.capacity_bytes)?;
        let bytes: Vec<u64> = push.bytes().collect();
        let call = push.call.map(Arc::new);
        let above = self.open.split_off(topmost + 1);
        let (replaced, below): (Vec<_>, Vec<_>) = self.open.drain(..).partition(goes);
        let pushed = push.actions.into_iter().zip(bytes);
        let pushed = pushed.map(|(pushed, bytes)| Open::new(pushed, bytes, call.clone()));
        self.open = below.into_iter().chain(pushed).chain(above).collect();
        self.bytes = left.bytes + more.bytes;
        let replaced: Vec<_> = replaced
            .into_iter()
            .map(|it| it.action.id.clone())
            .collect();
        for id in &replaced {
            self.remember(id.clone(), Decision::Discard);
        }
        Ok(replaced)
    }

    pub fn standing(&self, id: &ActionId) -> Standing {
        match self.open.iter().find(|open| open.action.id == *id) {
            Some(open) if open.is_pending() => Standing::Pending,
            Some(_) => Standing::InProgress,
            None => match self.resolved.iter().find(|(resolved, _)| resolved == id) {
                Some((_, decision)) => Standing::Resolved(*decision),
                None => Standing::Unknown,
            },
        }
    }

    pub fn claim(&mut self, session: &SessionId, resolution: &Resolution) -> Claim {
        let open = match &resolution.id {
            None => match self.open.iter_mut().rfind(|open| open.is_pending()) {
                Some(open) => open,
                None => return Claim::NothingPending,
            },
            Some(id) => {
                let standing = self.standing(id);
                let mut open = self.open.iter_mut();
                match open.rfind(|open| open.action.id == *id && open.is_pending()) {
                    Some(open) => open,
                    None => return Claim::refused(id.clone(), standing),
                }
            }
        };
        let attempt = open.attempts + 1;
        if resolution.decision == Decision::Apply {
            open.attempts = attempt;
        }
        self.last_token += 1;
        open.claim = Some((resolution.decision, self.last_token));
        Claim::Claimed(Claimed {
            action: Arc::clone(&open.action),
            guest_state: open.guest_state.clone(),
            attempt,
            lease: Lease {
                session: session.clone(),
                action: open.action.id.clone(),
                token: self.last_token,
            },
        })
    }

    /// Returns the position of the action that was claimed under this lease, and the decision about
    /// it.
    pub fn claimed(&self, lease: &Lease) -> Option<(usize, Decision)> {
        // Tokens start over in a session that was forgotten, but ids don't repeat.
        let same = |open: &Open| open.action.id == lease.action;
        let position = self.open.iter().rposition(same)?;
        let (decision, token) = self.open[position].claim?;
        (token == lease.token).then_some((position, decision))
    }

    pub fn remember(&mut self, id: ActionId, decision: Decision) {
        if self.resolved.len() == REMEMBERED {
            self.resolved.pop_front();
        }
        self.resolved.push_back((id, decision));
    }
}
