//! A simulated disk that loses and reorders unsynced writes.
//!
//! Each system call makes one change: to the contents of a file, to the attributes of an object,
//! or to one or two names, as a rename does. A power failure keeps any subset of the unsynced
//! changes, within the promises that all journaling file systems make:
//!
//! - a change of names is kept or lost as a whole, and is lost if an earlier one of the same name
//!   or object is lost; moves of directories keep their order;
//! - the contents of a file may be there in part, or as zeros;
//! - syncing a file keeps its contents and attributes, but not its name: for that its directory
//!   must be synced.

use std::collections::HashSet;
use std::rc::Rc;

use super::super::script::Random;
use super::state::{Attributes, Body, Name, Number, State};
use crate::fault::Seen;

/// A name, with the objects that it led to before and after.
type Renamed = (Name, Option<Number>, Option<Number>);

#[derive(Debug, Clone)]
enum Change {
    Names(Vec<Renamed>),
    Contents(Number, Rc<[u8]>),
    Attributes(Number, Attributes),
}

#[derive(Debug, Clone)]
struct Logged {
    change: Change,
    made: usize,
    /// The time of the first sync that covers it.
    synced: Option<usize>,
}

/// The changes to a folder, in order. Time is counted in changes and syncs.
pub struct Disk {
    start: State,
    now: State,
    log: Vec<Logged>,
    time: usize,
    syncs: usize,
    /// The number of a sync that is ignored, from 0.
    but: Option<usize>,
}

/// The unsynced changes that a power failure loses.
#[derive(Debug, Clone, Copy)]
enum Loss {
    None,
    All,
    /// Everything from a change on.
    From(usize),
    /// One change.
    One(usize),
    /// Everything but one change.
    AllBut(usize),
    /// Each with a chance of so many in 8.
    Some(usize),
}

/// Names and objects whose changes are lost, or synced.
#[derive(Default)]
struct Touched {
    names: HashSet<Name>,
    objects: HashSet<Number>,
    directories: bool,
}

impl Touched {
    fn add(&mut self, renamed: &[Renamed], state: &State) {
        for (name, before, after) in renamed {
            self.names.insert(name.clone());
            self.objects.extend([before, after].into_iter().flatten());
        }
        self.directories |= moves_directory(renamed, state);
    }

    fn has(&self, renamed: &[Renamed], state: &State) -> bool {
        let has = |(name, before, after): &Renamed| {
            let mut objects = [before, after].into_iter().flatten();
            self.names.contains(name) || objects.any(|it| self.objects.contains(it))
        };
        renamed.iter().any(has) || self.directories && moves_directory(renamed, state)
    }
}

fn moves_directory(renamed: &[Renamed], state: &State) -> bool {
    let mut objects = renamed.iter().filter_map(|(_, before, _)| *before);
    objects.any(|it| matches!(state.objects[&it].0, Body::Directory))
}

impl Disk {
    /// With everything in `start` synced. `but`: the number of a sync that it ignores, from 0.
    pub fn new(start: State, but: Option<usize>) -> Self {
        Self {
            now: start.clone(),
            start,
            log: Vec::new(),
            time: 0,
            syncs: 0,
            but,
        }
    }

    /// How many times there are; the last one is when everything was done.
    pub fn time(&self) -> usize {
        self.time
    }

    /// How many syncs it was asked for.
    pub fn syncs(&self) -> usize {
        self.syncs
    }

    /// `state`: of the folder.
    pub fn see(&mut self, seen: Seen, state: State) {
        self.note_changes(state);
        let of = match seen {
            Seen::Step => return,
            Seen::Synced(number) => Some(number),
            Seen::AllSynced => None,
        };
        self.syncs += 1;
        if self.but == Some(self.syncs - 1) {
            return;
        }
        self.time += 1;
        let mut synced = Touched::default();
        for logged in self.log.iter_mut().rev() {
            let is_synced = match (&logged.change, of) {
                (_, None) => true,
                (Change::Contents(it, _) | Change::Attributes(it, _), Some(of)) => *it == of,
                (Change::Names(renamed), Some(of)) => {
                    let is_in = renamed.iter().any(|((directory, _), ..)| *directory == of);
                    let is_synced = is_in || synced.has(renamed, &self.now);
                    if is_synced {
                        synced.add(renamed, &self.now);
                    }
                    is_synced
                }
            };
            if is_synced {
                logged.synced.get_or_insert(self.time);
            }
        }
    }

    fn note_changes(&mut self, state: State) {
        let names: HashSet<&Name> = self.now.names.keys().chain(state.names.keys()).collect();
        let mut renamed: Vec<Renamed> = names
            .into_iter()
            .map(|name| {
                let of = |state: &State| state.names.get(name).copied();
                (name.clone(), of(&self.now), of(&state))
            })
            .filter(|(_, before, after)| before != after)
            .collect();
        renamed.sort();
        // More than one system call would not be kept or lost as a whole.
        assert!(renamed.len() <= 2, "a system call has changed {renamed:?}");
        let mut changes = Vec::new();
        for (number, (body, attributes)) in &state.objects {
            match self.now.objects.get(number) {
                Some((before, had)) => {
                    if let Body::File(bytes) = body
                        && body != before
                    {
                        changes.push(Change::Contents(*number, Rc::clone(bytes)));
                    }
                    if attributes != had {
                        changes.push(Change::Attributes(*number, attributes.clone()));
                    }
                }
                None => {
                    if let Body::File(bytes) = body {
                        assert!(bytes.is_empty(), "a file was made with contents");
                    }
                    self.start
                        .objects
                        .insert(*number, (body.clone(), attributes.clone()));
                }
            }
        }
        if !renamed.is_empty() {
            changes.push(Change::Names(renamed));
        }
        for change in changes {
            self.time += 1;
            self.log.push(Logged {
                change,
                made: self.time,
                synced: None,
            });
        }
        self.now.names = state.names;
        self.now.objects.extend(state.objects);
    }

    /// The state after a power failure at a time.
    pub fn lose_power(&self, time: usize, random: &mut Random) -> State {
        let log = self.log.iter().filter(|logged| logged.made <= time);
        let log: Vec<(&Change, bool)> = log
            .map(|it| (&it.change, it.synced.is_some_and(|synced| synced <= time)))
            .collect();
        let waiting: Vec<usize> = (0..log.len()).filter(|at| !log[*at].1).collect();
        let any = |random: &mut Random| match waiting.len() {
            0 => 0,
            count => waiting[random.below(count)],
        };
        let loss = match random.below(9) {
            0 => Loss::None,
            1 => Loss::All,
            2 => Loss::From(any(random)),
            3 => Loss::One(any(random)),
            4 => Loss::AllBut(any(random)),
            _ => Loss::Some(1 + random.below(7)),
        };
        let mut left = self.start.clone();
        let mut lost = Touched::default();
        let mut torn = HashSet::new();
        for (at, (change, is_synced)) in log.into_iter().enumerate() {
            let mut is_lost = !is_synced
                && match loss {
                    Loss::None => false,
                    Loss::All => true,
                    Loss::From(first) => at >= first,
                    Loss::One(one) => at == one,
                    Loss::AllBut(one) => at != one,
                    Loss::Some(of_eight) => random.below(8) < of_eight,
                };
            match change {
                Change::Names(renamed) => {
                    is_lost |= !is_synced && lost.has(renamed, &self.now);
                    if is_lost {
                        lost.add(renamed, &self.now)
                    } else {
                        rename(&mut left, renamed)
                    }
                }
                Change::Contents(number, bytes) => {
                    if let Some((Body::File(had), _)) = left.objects.get_mut(number) {
                        match is_lost {
                            false => *had = Rc::clone(bytes),
                            true if torn.insert(*number) => *had = tear(had, bytes, random),
                            true => {}
                        }
                    }
                }
                Change::Attributes(number, attributes) => {
                    if let Some((_, had)) = left.objects.get_mut(number)
                        && !is_lost
                    {
                        *had = attributes.clone();
                    }
                }
            }
        }
        left
    }

    /// All changes, to look for a fault in.
    pub fn told(&self) -> String {
        let lines = self.log.iter().map(|logged| {
            let change = match &logged.change {
                Change::Contents(number, bytes) => format!("{number} has {} bytes", bytes.len()),
                change => format!("{change:?}"),
            };
            format!("{} to {:?}: {change}\n", logged.made, logged.synced)
        });
        lines.collect()
    }
}

fn rename(state: &mut State, renamed: &[Renamed]) {
    for (name, _, after) in renamed {
        match after {
            Some(number) => state.names.insert(name.clone(), *number),
            None => state.names.remove(name),
        };
    }
}

/// Possible contents of a file whose last change was not synced.
fn tear(had: &[u8], bytes: &[u8], random: &mut Random) -> Rc<[u8]> {
    let same = had.iter().zip(bytes).take_while(|(a, b)| a == b).count();
    let cut = same + random.below(bytes.len() - same + 1);
    match random.below(4) {
        0 => had.into(),
        // Its length is there, and its contents aren't.
        1 => [&bytes[..same], &vec![0; bytes.len() - same]]
            .concat()
            .into(),
        2 => [&bytes[..cut], &vec![0; bytes.len() - cut]].concat().into(),
        _ => bytes[..cut].into(),
    }
}
