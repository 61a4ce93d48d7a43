//! What the contract promises, as a history of turns and a stack in plain vectors.

use airlock_host::{Decision, ToolChoice, ToolChoicePolicy, TurnSettings};

use crate::transitions::{
    Deed, Interruption, Kind, Provider, Surroundings, Target, Transition, Turn,
};

#[derive(Debug, Clone)]
pub struct Model {
    pub surroundings: Surroundings,
    /// Topmost last.
    pub stack: Vec<Entry>,
    resolved: Vec<usize>,
    pushed: usize,
    turns: Vec<Past>,
    /// Settled by the last transition, for the machine to do.
    pub step: Step,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub number: usize,
    kind: Kind,
    pub attempts: u32,
    pub interrupted: bool,
    /// How it was when the model was told of it.
    told: Option<(u32, bool)>,
}

/// A turn that was sent.
#[derive(Debug, Clone, Copy)]
struct Past {
    had_pending: bool,
    choice: ToolChoice,
    thinking: bool,
    end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Complied,
    Ignored,
    /// It did not take place.
    Refused,
}

/// A transition, with the numbers of the actions that are meant.
#[derive(Debug, Clone)]
pub enum Step {
    Nothing,
    Turn {
        settings: TurnSettings,
        expected: Expected,
        /// Whether the provider refuses it.
        refused: bool,
        acts: Vec<Act>,
        /// Whether the model called `resolve`, where that is reported.
        reported: Option<bool>,
    },
    Elsewhere(Act),
}

/// Of [`airlock_host::NextTurn`].
#[derive(Debug, Clone)]
pub struct Expected {
    /// In the order in which they were pushed.
    pub reminders: Vec<Reminder>,
    pub choice: ToolChoice,
    pub pending: usize,
}

#[derive(Debug, Clone)]
pub enum Reminder {
    Preview,
    Interrupted { number: usize, attempt: u32 },
}

#[derive(Debug, Clone)]
pub enum Act {
    CallAnotherTool,
    Push { number: usize, kind: Kind },
    Resolve(Resolve),
    ResolveWrongly,
}

#[derive(Debug, Clone)]
pub struct Resolve {
    /// The topmost where none is given.
    pub number: Option<usize>,
    pub decision: Decision,
    pub interruption: Interruption,
    /// Whether it succeeds. None where its future is dropped.
    pub succeeds: Option<bool>,
}

impl Model {
    pub fn new(surroundings: Surroundings) -> Self {
        Self {
            surroundings,
            stack: Vec::new(),
            resolved: Vec::new(),
            pushed: 0,
            turns: Vec::new(),
            step: Step::Nothing,
        }
    }

    pub fn apply(mut self, transition: &Transition) -> Self {
        self.step = match transition {
            Transition::Turn(turn) => self.turn(turn),
            Transition::Elsewhere(deed) => Step::Elsewhere(self.act(deed)),
        };
        self
    }

    fn turn(&mut self, turn: &Turn) -> Step {
        let settings = TurnSettings {
            offers_resolve: turn.offers_resolve,
            can_force: self.surroundings.provider != Provider::CanNotForce,
            extended_thinking: turn.extended_thinking,
        };
        let expected = Expected {
            reminders: self.remind(),
            choice: self.choice(settings),
            pending: self.stack.len(),
        };
        let refused = expected.choice == ToolChoice::Resolve
            && match self.surroundings.provider {
                Provider::Refuses => true,
                Provider::RefusesWhileThinking => turn.extended_thinking,
                Provider::Forces | Provider::CanNotForce => false,
            };
        let had_pending = !self.stack.is_empty();
        let deeds = if refused { &[] } else { turn.deeds.as_slice() };
        let acts: Vec<Act> = deeds.iter().map(|deed| self.act(deed)).collect();
        let complied = acts.iter().any(Act::decides);
        self.turns.push(Past {
            had_pending,
            choice: expected.choice,
            thinking: turn.extended_thinking,
            end: match (refused, complied) {
                (true, _) => End::Refused,
                (false, true) => End::Complied,
                (false, false) => End::Ignored,
            },
        });
        Step::Turn {
            settings,
            expected,
            refused,
            acts,
            reported: turn.reported.then_some(complied),
        }
    }

    /// Each action once, and again where an apply of it has come to nothing since.
    fn remind(&mut self) -> Vec<Reminder> {
        if self.surroundings.policy == ToolChoicePolicy::Off {
            return Vec::new();
        }
        let untold = self.stack.iter_mut().filter(|entry| {
            let now = (entry.attempts, entry.interrupted);
            entry.told != Some(now)
        });
        let tell = |entry: &mut Entry| {
            entry.told = Some((entry.attempts, entry.interrupted));
            match entry.interrupted {
                false => Reminder::Preview,
                true => Reminder::Interrupted {
                    number: entry.number,
                    attempt: entry.attempts,
                },
            }
        };
        untold.map(tell).collect()
    }

    fn choice(&self, settings: TurnSettings) -> ToolChoice {
        let forced = !self.stack.is_empty() && self.can_force(settings) && self.wants_to_force();
        match forced {
            true => ToolChoice::Resolve,
            false => ToolChoice::Auto,
        }
    }

    fn can_force(&self, settings: TurnSettings) -> bool {
        let mut refused = self.turns.iter().filter(|turn| turn.end == End::Refused);
        settings.offers_resolve
            && settings.can_force
            && refused.all(|turn| turn.thinking && !settings.extended_thinking)
    }

    fn wants_to_force(&self) -> bool {
        match self.surroundings.policy {
            ToolChoicePolicy::Force => true,
            ToolChoicePolicy::Off => false,
            ToolChoicePolicy::Remind { max_forced } => {
                let ignored = self.ignored();
                ignored.last().is_some_and(|turn| turn.had_pending)
                    && self.forced_in_a_row() < max_forced
            }
        }
    }

    /// The last turns that took place, back to one that complied or had nothing to decide.
    fn ignored(&self) -> Vec<&Past> {
        let took_place = self.turns.iter().filter(|turn| turn.end != End::Refused);
        let mut ignored: Vec<&Past> = took_place
            .rev()
            .take_while(|turn| turn.end == End::Ignored && turn.had_pending)
            .collect();
        ignored.reverse();
        ignored
    }

    /// How often the model was made to decide since, and did not.
    pub fn forced_in_a_row(&self) -> u32 {
        let forced = self.ignored().into_iter();
        let forced = forced.filter(|turn| turn.choice == ToolChoice::Resolve);
        forced.count().try_into().expect("few turns")
    }

    fn act(&mut self, deed: &Deed) -> Act {
        match deed {
            Deed::CallAnotherTool => Act::CallAnotherTool,
            Deed::ResolveWrongly => Act::ResolveWrongly,
            Deed::Push(kind) => {
                let number = self.pushed;
                self.pushed += 1;
                self.stack.push(Entry {
                    number,
                    kind: *kind,
                    attempts: 0,
                    interrupted: false,
                    told: None,
                });
                Act::Push {
                    number,
                    kind: *kind,
                }
            }
            Deed::Resolve {
                target,
                decision,
                interruption,
            } => Act::Resolve(self.resolve(target, *decision, *interruption)),
        }
    }

    fn resolve(
        &mut self,
        target: &Target,
        decision: Decision,
        interruption: Interruption,
    ) -> Resolve {
        let number = match target {
            Target::Pending(index) if !self.stack.is_empty() => Some(index.get(&self.stack).number),
            Target::Resolved(index) if !self.resolved.is_empty() => {
                Some(*index.get(&self.resolved))
            }
            _ => None,
        };
        let place = match number {
            Some(number) => self.stack.iter().position(|entry| entry.number == number),
            None => self.stack.len().checked_sub(1),
        };
        let blocks = place.is_some_and(|place| self.stack[place].kind == Kind::Blocks)
            && decision == Decision::Apply;
        let interruption = match (interruption, blocks) {
            (Interruption::Before, _) => Interruption::Before,
            (Interruption::Dropped, true) => Interruption::Dropped,
            // It would never end.
            (_, true) => Interruption::Cancelled,
            (_, false) => Interruption::None,
        };
        let succeeds = match place {
            _ if interruption == Interruption::Before => Some(false),
            None => Some(false),
            Some(place) => self.carry_out(place, decision, interruption),
        };
        Resolve {
            number,
            decision,
            interruption,
            succeeds,
        }
    }

    fn carry_out(
        &mut self,
        place: usize,
        decision: Decision,
        interruption: Interruption,
    ) -> Option<bool> {
        let entry = &mut self.stack[place];
        if decision == Decision::Apply {
            entry.attempts += 1;
            if interruption == Interruption::Dropped {
                entry.interrupted = true;
                return None;
            }
            let fails = match entry.kind {
                Kind::Blocks => true,
                Kind::Fails(times) => entry.attempts <= times,
            };
            if fails {
                entry.interrupted = false;
                let entry = self.stack.remove(place);
                self.stack.push(entry);
                return Some(false);
            }
        }
        self.resolved.push(self.stack.remove(place).number);
        Some(true)
    }
}

impl Act {
    /// Whether it is an answer to what is pending, whatever comes of it.
    fn decides(&self) -> bool {
        match self {
            Act::Resolve(resolve) => resolve.interruption != Interruption::Before,
            Act::CallAnotherTool | Act::Push { .. } | Act::ResolveWrongly => false,
        }
    }
}
