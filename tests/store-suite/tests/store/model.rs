//! What a store is to do, said in plain vectors.

use std::collections::BTreeMap;

use crate::actions::{self, ACCOUNTS, Reasons, SESSIONS, Spec, TEXTS};
use crate::transitions::{Expense, HOSTS, Pick, Target, Transition, Use};
use airlock_model::actor::DecidedBy;
use airlock_model::pending::{
    ActionId, ActionState, Decision, Interruption, Resolution, StackedAction,
};
use airlock_model::store::{
    APPLY_INTERRUPTED, DISCARD_INTERRUPTED, Replacement, Spending, Spent, Standing,
};

#[derive(Debug, Clone)]
pub struct Model {
    /// A stack for each session, topmost last.
    pub stacks: Vec<Vec<Entry>>,
    /// In the order in which they ended.
    pub ended: Vec<Ended>,
    /// All that were ever given.
    pub leases: Vec<Held>,
    /// What each action has spent of each account.
    pub spendings: Vec<BTreeMap<usize, Spending>>,
    /// How many actions were pushed.
    pub pushed: usize,
    /// What the last transition means in this state, and how the store is to answer.
    pub step: Step,
}

/// An action on a stack, or claimed.
#[derive(Debug, Clone)]
pub struct Entry {
    pub number: usize,
    pub spec: Spec,
    pub attempts: u32,
    pub last_error: Option<String>,
    /// Whose memory a volatile action is in.
    home: usize,
    interrupted: bool,
    lost: bool,
    /// The claim's place in [`Model::leases`].
    pub claim: Option<usize>,
}

impl Entry {
    pub fn state(&self) -> ActionState {
        match self {
            Entry { claim: Some(_), .. } => ActionState::Resolving,
            Entry { lost: true, .. } => ActionState::Lost,
            Entry {
                interrupted: true, ..
            } => ActionState::Interrupted,
            _ => ActionState::Pending,
        }
    }

    pub fn stacked(&self) -> StackedAction {
        let mut stacked = StackedAction::new(self.spec.action(self.number), self.state());
        stacked.attempts = self.attempts;
        stacked.last_error = self.last_error.clone();
        if self.interrupted {
            stacked.interruption = Interruption::InWorkspace;
        }
        stacked
    }

    /// Its claim ended, and nobody knows how the decision did.
    fn interrupt(&mut self, decision: Decision) {
        self.claim = None;
        if decision == Decision::Apply {
            self.interrupted = true;
            self.last_error = Some(APPLY_INTERRUPTED.to_owned());
        } else if !self.interrupted {
            self.last_error = Some(DISCARD_INTERRUPTED.to_owned());
        }
    }
}

#[derive(Debug, Clone)]
pub struct Held {
    pub session: usize,
    number: usize,
    pub decision: Decision,
    pub reasons: Reasons,
    pub host: usize,
    pub live: bool,
    /// Its host was killed, so that nobody has it any more. Tests still use it once the action went
    /// to somebody else, as a process would that was only thought to be dead.
    orphaned: bool,
}

/// An action that was resolved.
#[derive(Debug, Clone)]
pub struct Ended {
    pub session: usize,
    pub entry: Entry,
    pub decision: Decision,
    pub reasons: Reasons,
    pub end: End,
}

/// What is kept of how it ended.
#[derive(Debug, Clone)]
pub enum End {
    Result(&'static str),
    RejectFailed(&'static str),
    /// Something took its place.
    Replaced,
}

#[derive(Debug, Clone)]
pub enum Step {
    Nothing,
    Push {
        host: usize,
        session: usize,
        /// Of the first of them.
        number: usize,
        specs: Vec<Spec>,
        capacity: usize,
        full: bool,
    },
    Replace {
        host: usize,
        session: usize,
        replacement: Replacement,
        /// Of the first of those that are pushed.
        number: usize,
        specs: Vec<Spec>,
        capacity: usize,
        /// Which go, or that there is no room.
        goes: Result<Vec<ActionId>, ()>,
    },
    Claim {
        host: usize,
        session: usize,
        resolution: Resolution,
        decided_by: DecidedBy,
        answer: Answer,
    },
    Use {
        lease: usize,
        host: usize,
        how: Use,
        lost: bool,
    },
    Spend(Expense, Spent),
    Kill(usize),
    Look,
}

/// To a claim.
#[derive(Debug, Clone)]
pub enum Answer {
    Claimed {
        number: usize,
        spec: Spec,
        attempt: u32,
    },
    NothingPending,
    Unknown(ActionId),
    InProgress(ActionId),
    Resolved(ActionId, Decision),
}

impl Model {
    pub fn empty() -> Self {
        Self {
            stacks: vec![Vec::new(); SESSIONS.len()],
            ended: Vec::new(),
            leases: Vec::new(),
            spendings: vec![BTreeMap::new(); ACCOUNTS.len()],
            pushed: 0,
            step: Step::Nothing,
        }
    }

    /// What is to be listed, topmost first.
    pub fn listed(&self, session: usize) -> Vec<StackedAction> {
        let pending = self.stacks[session]
            .iter()
            .rev()
            .filter(|entry| entry.claim.is_none());
        pending.map(Entry::stacked).collect()
    }

    pub fn apply(mut self, transition: &Transition) -> Self {
        self.step = match transition.clone() {
            Transition::Push {
                host,
                session,
                specs,
                capacity,
            } => self.push(host, session, specs, capacity),
            Transition::Replace {
                host,
                session,
                target,
                others,
                specs,
                capacity,
                reasons,
            } => {
                let stack = self.stacks[session].iter();
                let open: Vec<ActionId> = stack.map(|entry| actions::id(entry.number)).collect();
                let others = others.iter().filter(|_| !open.is_empty());
                let replacement = Replacement {
                    action: self.target(session, &target).expect("it is named"),
                    others: others.map(|it| open[it % open.len()].clone()).collect(),
                    reason: TEXTS[reasons.reason].to_owned(),
                    decided_by: reasons.decided_by(),
                };
                let number = self.pushed;
                let goes = self.replace(host, session, &replacement, &specs, capacity, reasons);
                Step::Replace {
                    host,
                    session,
                    replacement,
                    number,
                    specs,
                    capacity,
                    goes,
                }
            }
            Transition::Claim {
                host,
                session,
                decision,
                target,
                reasons,
            } => {
                let target = self.target(session, &target);
                let resolution = reasons.resolution(decision, target);
                let decided_by = reasons.decided_by();
                let answer = self.claim(host, session, &resolution, reasons);
                Step::Claim {
                    host,
                    session,
                    resolution,
                    decided_by,
                    answer,
                }
            }
            Transition::Use { lease, how } => match self.pick(&lease) {
                Some(lease) => self.use_lease(lease, how),
                None => Step::Nothing,
            },
            Transition::Spend(expense) => {
                let spent = self.spend(&expense);
                Step::Spend(expense, spent)
            }
            Transition::Kill { host } => self.kill(host),
            Transition::Look => Step::Look,
        };
        self
    }

    fn spend(&mut self, expense: &Expense) -> Spent {
        let Expense {
            action,
            spending,
            budget,
            ..
        } = expense;
        let spendings = &mut self.spendings[expense.account];
        let others = spendings.iter().filter(|(id, _)| *id != action);
        let already = if budget.within.is_zero() {
            Spending::default()
        } else {
            others.fold(Spending::default(), |sum, (_, other)| sum + *other)
        };
        let limits = [
            (budget.files, spending.files, already.files),
            (budget.bytes, spending.bytes, already.bytes),
            (budget.deletions, spending.deletions, already.deletions),
        ];
        let exceeds = limits.iter().any(|(limit, more, already)| {
            let limit = limit.filter(|limit| *limit < Spending::MAX);
            let sum = u128::from(*more) + u128::from(*already);
            limit.is_some_and(|limit| *more > 0 && sum > u128::from(limit))
        });
        if exceeds {
            return Spent::Exceeded { already };
        }
        spendings.insert(*action, *spending);
        Spent::Within
    }

    fn push(&mut self, host: usize, session: usize, specs: Vec<Spec>, capacity: usize) -> Step {
        let full = self.stacks[session].len() + specs.len() > capacity;
        let number = self.pushed;
        if !full {
            let pushed = self.entries(host, &specs);
            self.stacks[session].extend(pushed);
        }
        Step::Push {
            host,
            session,
            number,
            specs,
            capacity,
            full,
        }
    }

    fn entries(&mut self, host: usize, specs: &[Spec]) -> Vec<Entry> {
        let first = self.pushed;
        self.pushed += specs.len();
        let numbered = specs.iter().zip(first..);
        let entries = numbered.map(|(spec, number)| Entry {
            number,
            spec: spec.clone(),
            attempts: 0,
            last_error: None,
            home: host,
            interrupted: false,
            lost: false,
            claim: None,
        });
        entries.collect()
    }

    fn replace(
        &mut self,
        host: usize,
        session: usize,
        replacement: &Replacement,
        specs: &[Spec],
        capacity: usize,
        mut reasons: Reasons,
    ) -> Result<Vec<ActionId>, ()> {
        let goes = |entry: &Entry| {
            let id = actions::id(entry.number);
            let is_named = replacement.ids().any(|named| *named == id);
            is_named && entry.claim.is_none() && !entry.interrupted
        };
        let stack = &self.stacks[session];
        let going: Vec<Entry> = stack.iter().filter(|it| goes(it)).cloned().collect();
        let ids: Vec<_> = going.iter().map(|it| actions::id(it.number)).collect();
        if !ids.contains(&replacement.action) {
            return Ok(Vec::new());
        }
        if !specs.is_empty() && stack.len() - going.len() + specs.len() > capacity {
            return Err(());
        }
        let topmost = stack.iter().rposition(goes).expect("one of them goes");
        let pushed = self.entries(host, specs);
        let stack = &mut self.stacks[session];
        let above = stack.split_off(topmost + 1);
        stack.retain(|entry| !goes(entry));
        stack.extend(pushed);
        stack.extend(above);
        reasons.extra = 0;
        self.ended.extend(going.into_iter().map(|entry| Ended {
            session,
            entry,
            decision: Decision::Discard,
            reasons: reasons.clone(),
            end: End::Replaced,
        }));
        Ok(ids)
    }

    fn target(&self, session: usize, target: &Target) -> Option<ActionId> {
        let open = |session: usize| self.stacks[session].iter().map(|entry| entry.number);
        let (numbers, index): (Vec<usize>, usize) = match target {
            Target::Topmost => return None,
            Target::Open(index) => (open(session).collect(), *index),
            Target::Resolved(index) => {
                let ended = self.ended.iter().filter(|ended| ended.session == session);
                (ended.map(|ended| ended.entry.number).collect(), *index)
            }
            Target::OfAnotherSession(index) => {
                let others = (0..SESSIONS.len()).filter(|other| *other != session);
                (others.flat_map(open).collect(), *index)
            }
            Target::Unknown => (Vec::new(), 0),
        };
        Some(match numbers.len() {
            0 => "0198c5f0-ffff-7fff-8fff-ffffffffffff".into(),
            count => actions::id(numbers[index % count]),
        })
    }

    fn claim(
        &mut self,
        host: usize,
        session: usize,
        resolution: &Resolution,
        reasons: Reasons,
    ) -> Answer {
        let lease = self.leases.len();
        let stack = &mut self.stacks[session];
        let entry = match &resolution.id {
            None => match stack.iter_mut().rfind(|entry| entry.claim.is_none()) {
                Some(entry) => entry,
                None => return Answer::NothingPending,
            },
            Some(id) => {
                let found = stack
                    .iter_mut()
                    .find(|entry| actions::id(entry.number) == *id);
                match found {
                    Some(entry) if entry.claim.is_some() => return Answer::InProgress(id.clone()),
                    Some(entry) => entry,
                    None => return self.answer_for(session, id),
                }
            }
        };
        let attempt = entry.attempts + 1;
        if resolution.decision == Decision::Apply {
            entry.attempts = attempt;
        }
        entry.claim = Some(lease);
        self.leases.push(Held {
            session,
            number: entry.number,
            decision: resolution.decision,
            reasons,
            host,
            live: true,
            orphaned: false,
        });
        Answer::Claimed {
            number: entry.number,
            spec: entry.spec.clone(),
            attempt,
        }
    }

    pub fn standing(&self, session: usize, id: &ActionId) -> Standing {
        let mut open = self.stacks[session].iter();
        match open.find(|entry| actions::id(entry.number) == *id) {
            Some(entry) if entry.claim.is_some() => Standing::InProgress,
            Some(_) => Standing::Pending,
            None => match self.answer_for(session, id) {
                Answer::Resolved(_, decision) => Standing::Resolved(decision),
                _ => Standing::Unknown,
            },
        }
    }

    fn answer_for(&self, session: usize, id: &ActionId) -> Answer {
        let found = self
            .ended
            .iter()
            .find(|ended| ended.session == session && actions::id(ended.entry.number) == *id);
        match found {
            Some(ended) => Answer::Resolved(id.clone(), ended.decision),
            None => Answer::Unknown(id.clone()),
        }
    }

    fn pick(&self, pick: &Pick) -> Option<usize> {
        let (among, index): (Vec<usize>, usize) = match pick {
            Pick::Live(index) => {
                let live = (0..self.leases.len()).filter(|lease| self.leases[*lease].live);
                (live.collect(), *index)
            }
            Pick::Any(index) => {
                let given = (0..self.leases.len()).filter(|lease| self.can_be_used(*lease));
                (given.collect(), *index)
            }
        };
        match among.len() {
            0 => None,
            count => Some(among[index % count]),
        }
    }

    fn can_be_used(&self, lease: usize) -> bool {
        let held = &self.leases[lease];
        let mut later = self.leases[lease + 1..].iter();
        !held.orphaned || later.any(|later| later.number == held.number)
    }

    fn use_lease(&mut self, lease: usize, mut how: Use) -> Step {
        let held = self.leases[lease].clone();
        if let Use::Complete { reject_failed, .. } = &mut how {
            *reject_failed &= held.decision == Decision::Discard;
        }
        let step = Step::Use {
            lease,
            host: held.host,
            how: how.clone(),
            lost: !held.live,
        };
        if !held.live || matches!(how, Use::Renew) {
            return step;
        }
        self.leases[lease].live = false;
        let stack = &mut self.stacks[held.session];
        let position = stack.iter().position(|entry| entry.claim == Some(lease));
        let position = position.expect("a live lease is of an open action");
        match how {
            Use::Complete {
                text,
                reject_failed,
            } => {
                let entry = stack.remove(position);
                self.ended.push(Ended {
                    session: held.session,
                    entry,
                    decision: held.decision,
                    reasons: held.reasons,
                    end: if reject_failed {
                        End::RejectFailed(TEXTS[text])
                    } else {
                        End::Result(TEXTS[text])
                    },
                });
            }
            Use::Requeue { failure } => {
                let mut entry = stack.remove(position);
                entry.claim = None;
                entry.interrupted = false;
                entry.last_error = Some(TEXTS[failure].to_owned());
                stack.push(entry);
            }
            Use::Release => {
                stack[position].claim = None;
                if held.decision == Decision::Apply {
                    stack[position].attempts -= 1;
                }
            }
            Use::Recovered { what } => {
                let entry = &mut stack[position];
                entry.claim = None;
                entry.interrupted = false;
                entry.last_error = Some(TEXTS[what].to_owned());
                if held.decision == Decision::Apply {
                    entry.attempts -= 1;
                }
            }
            Use::Abandon => stack[position].interrupt(held.decision),
            Use::Renew => {}
        }
        step
    }

    fn kill(&mut self, host: usize) -> Step {
        for entry in self.stacks.iter_mut().flatten() {
            // A host that comes in its place has another number, as far as volatile actions go.
            if entry.spec.guest_state.is_none() && entry.home == host {
                entry.lost = true;
            }
            if let Some(lease) = entry.claim
                && self.leases[lease].host == host
            {
                self.leases[lease].live = false;
                self.leases[lease].orphaned = true;
                entry.interrupt(self.leases[lease].decision);
            }
        }
        Step::Kill(host)
    }
}

const _: () = assert!(HOSTS > 1, "some things happen only between two hosts");
