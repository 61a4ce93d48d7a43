//! A power failure during a commit or a recovery, on a disk that loses and reorders unsynced
//! writes, leaves the folder either as it was before the commit or as it is after it.

mod disk;
mod state;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::ops::AddAssign;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::io::Errno;
use tempfile::TempDir;

use super::crash::check_nothing_left;
use super::from_environment;
use super::model::{kept, open, scratch, ticket};
use super::script::{Bytes, Op, Random, Subject, Viewed, fill, script, tree};
use crate::fault::{Fault, Seen, watched, with, with_inodes};
use crate::{CommitError, LayerOptions, Ticket};
use disk::Disk;
use state::State;

/// How many recoveries are tried at least; more by `AIRLOCK_POWER`.
fn recoveries() -> usize {
    from_environment("AIRLOCK_POWER").unwrap_or(12_000)
}

/// Power failures tried for each commit.
const FOR_EACH_COMMIT: usize = 400;

/// One in so many recoveries is interrupted by power failures too.
const WITH_LOSSES: usize = 16;

/// Power failures tried for each of those.
const FOR_EACH_RECOVERY: usize = 12;

/// The most power failures in a row, in a commit and its recoveries.
const MAX_LOSSES: usize = 4;

type Tree = BTreeMap<String, String>;

/// A commit that was done once, with the folder before and after it.
struct Tried {
    _folders: TempDir,
    folder: PathBuf,
    before: Tree,
    after: Tree,
    /// Whether something was committed to the folder before.
    has_earlier: bool,
    /// Hashes of the states that were recovered: each is tried once.
    known: HashSet<u64>,
    hasher: RandomState,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    recoveries: usize,
    before: usize,
    after: usize,
    /// Recoveries after a recovery that was interrupted.
    repeated: usize,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, more: Self) {
        self.recoveries += more.recoveries;
        self.before += more.before;
        self.after += more.after;
        self.repeated += more.repeated;
    }
}

/// A commit that is to be tried.
#[derive(Clone, Copy)]
struct Case<'a> {
    ops: &'a [Op],
    /// Whether something was committed to the folder before.
    has_earlier: bool,
    /// The number of a sync that the disk ignores, from 0.
    but: Option<usize>,
    cut: Option<(u64, Fault)>,
    ticket: fn(&str) -> Ticket,
}

impl Case<'_> {
    /// Commits it on a watched disk. None if it changes nothing. `after`: the folder after it, if
    /// that is known.
    fn commit(self, after: Option<Tree>) -> Option<Committed> {
        let folders = TempDir::new_in(scratch()).unwrap();
        let [folder, spill] = ["folder", "spill"].map(|name| {
            let folder = folders.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            folder
        });
        fill(&folder);
        let workspace = open(&folder);
        if self.has_earlier {
            let view = workspace.view(0).unwrap();
            view.begin(&LayerOptions::new(&spill)).unwrap();
            view.root().create_directory("earlier").unwrap();
            view.commit(&workspace, &ticket("earlier")).unwrap();
        }
        let before = tree(&folder);
        let view = workspace.view(0).unwrap();
        view.begin(&LayerOptions::new(&spill)).unwrap();
        let mut subject = Viewed::of(&view);
        for op in self.ops {
            subject.run(op);
        }
        let commit = || view.commit(&workspace, &(self.ticket)("it"));
        let commit = || with(self.cut, || catch_unwind(AssertUnwindSafe(commit)));
        // After a host is killed, another one commits before the power fails.
        let commit_twice = || {
            let (committed, steps) = commit();
            let again = |_| view.commit(&workspace, &(self.ticket)("it"));
            (committed.unwrap_or_else(again), steps)
        };
        let ((committed, steps), disk) = noted(&folder, self.but, commit_twice);
        let is_after = match (committed, self.cut) {
            (Ok(committed), _) if committed.changes.is_empty() => return None,
            (Ok(_), _) => true,
            // The other host has finished it.
            (Err(CommitError::AlreadyCommitted(_)), Some((_, Fault::Stop))) => true,
            (Err(_), Some((_, Fault::Error(_)))) => false,
            (Err(error), _) => panic!("{error}"),
        };
        let tried = Tried {
            before,
            after: after.unwrap_or_else(|| tree(&folder)),
            folder,
            has_earlier: self.has_earlier,
            known: HashSet::new(),
            hasher: RandomState::new(),
            counts: Counts::default(),
            _folders: folders,
        };
        Some(Committed {
            tried,
            disk,
            is_after,
            steps,
        })
    }
}

struct Committed {
    tried: Tried,
    disk: Disk,
    /// Whether its caller was told that it is committed.
    is_after: bool,
    /// The number of its system calls.
    steps: u64,
}

impl Committed {
    fn lose_power(mut self, times: usize, losses: (&mut Random, usize)) -> Result<Counts, String> {
        self.tried
            .lose_power(&self.disk, times, self.is_after, losses)?;
        Ok(self.tried.counts)
    }
}

impl Tried {
    /// Tries so many power failures at random times of what the disk has recorded. `is_after`:
    /// whether the caller was told at the end that it is committed.
    ///
    /// # Errors
    /// The first wrong state.
    fn lose_power(
        &mut self,
        disk: &Disk,
        times: usize,
        is_after: bool,
        (random, losses): (&mut Random, usize),
    ) -> Result<(), String> {
        for _ in 0..times {
            let time = random.below(disk.time() + 1);
            let left = disk.lose_power(time, random);
            let told = (time == disk.time()).then_some(is_after);
            if self.known.insert(self.hasher.hash_one((&left, told))) {
                let recovered = self.recover(&left, told, (random, losses));
                let told = || format!("at {time} of:\n{}", disk.told());
                recovered.map_err(|error| format!("{error}\n{}", told()))?;
            }
        }
        Ok(())
    }

    /// Recovers the state that a power failure has left, and checks the result. `told`: whether the
    /// caller was told that it is committed, if it was told anything.
    fn recover(
        &mut self,
        left: &State,
        told: Option<bool>,
        (random, losses): (&mut Random, usize),
    ) -> Result<(), String> {
        let has_losses = losses < MAX_LOSSES && random.below(WITH_LOSSES) == 0;
        let inodes = left.put(&self.folder);
        let (checked, disk) = with_inodes(inodes, || {
            let workspace = open(&self.folder);
            let (recovered, disk) = if has_losses {
                let (recovered, disk) = noted(&self.folder, None, || workspace.recover());
                (recovered, Some(disk))
            } else {
                (workspace.recover(), None)
            };
            let checked = match recovered {
                Ok(recovered) if recovered.not_ours.is_empty() && recovered.kept.is_empty() => {
                    self.check(told)
                }
                other => Err(format!("{other:?}")),
            };
            (checked, disk)
        });
        let is_after = checked?;
        self.counts += Counts {
            recoveries: 1,
            before: usize::from(!is_after),
            after: usize::from(is_after),
            repeated: usize::from(losses > 1),
        };
        match disk {
            Some(disk) => {
                let losses = (random, losses + 1);
                self.lose_power(&disk, FOR_EACH_RECOVERY, is_after, losses)
            }
            None => Ok(()),
        }
    }

    /// Whether the folder is as after the commit. Checks that the records agree, and that nothing
    /// is left over.
    fn check(&self, told: Option<bool>) -> Result<bool, String> {
        let found = tree(&self.folder);
        let is_after = found == self.after;
        if !is_after && found != self.before {
            let (before, after) = (&self.before, &self.after);
            return Err(format!(
                "before {before:#?}\nafter {after:#?}\nfound {found:#?}"
            ));
        }
        if told.is_some_and(|told| told != is_after) {
            return Err(format!("the caller was told otherwise than {is_after}"));
        }
        let workspace = open(&self.folder);
        let outcomes = workspace.outcomes().unwrap();
        let waiting: Vec<_> = outcomes.iter().map(|outcome| &*outcome.id).collect();
        let ids = [("earlier", self.has_earlier), ("it", is_after)];
        let committed: Vec<_> = ids.iter().filter(|it| it.1).map(|it| it.0).collect();
        let is_known = |(id, is_committed)| workspace.is_committed(id).unwrap() == is_committed;
        if waiting != committed || !ids.into_iter().all(is_known) {
            return Err(format!("{waiting:?} is known, for {committed:?}"));
        }
        check_nothing_left(&self.folder);
        Ok(is_after)
    }
}

/// Runs something on a watched disk. `but`: the number of a sync that the disk ignores.
fn noted<T>(folder: &Path, but: Option<usize>, run: impl FnOnce() -> T) -> (T, Disk) {
    let disk = Rc::new(RefCell::new(Disk::new(State::of(folder), but)));
    let (watching, folder) = (Rc::clone(&disk), folder.to_owned());
    let of = folder.clone();
    let see = move |seen| watching.borrow_mut().see(seen, State::of(&folder));
    let result = watched(see, run);
    let disk = Rc::into_inner(disk).expect("the watch has ended");
    let mut disk = disk.into_inner();
    disk.see(Seen::Step, State::of(&of));
    (result, disk)
}

const FULL: Fault = Fault::Error(Errno::NOSPC.raw_os_error());

/// More files than are synced one by one.
fn many() -> impl Iterator<Item = Op> {
    (0..20).map(|number| put(&format!("many{number}")))
}

fn put(path: &str) -> Op {
    Op::Put {
        start: 0,
        path: path.to_owned(),
        bytes: Bytes(b"put".to_vec()),
    }
}

#[test]
fn a_commit_during_which_the_power_fails_is_whole_or_never_was() {
    let mut all = Counts::default();
    for seed in from_environment("AIRLOCK_SEED").unwrap_or(1).. {
        let random = &mut Random::new(seed);
        let mut ops = script(seed, 4 + random.below(60));
        if random.below(8) == 0 {
            ops.extend(many());
        }
        let case = Case {
            ops: &ops,
            has_earlier: random.below(2) == 0,
            but: None,
            cut: None,
            ticket: [ticket, kept][random.below(2)],
        };
        let Some(mut committed) = case.commit(None) else {
            continue;
        };
        let fault = match random.below(6) {
            0 => Some(FULL),
            1 => Some(Fault::Stop),
            _ => None,
        };
        if let Some(fault) = fault {
            let after = committed.tried.after;
            let at = 1 + random.below(committed.steps as usize) as u64;
            let cut = Some((at, fault));
            let again = Case { cut, ..case }.commit(Some(after));
            committed = again.expect("it makes the same changes again");
        }
        let counts = committed.lose_power(FOR_EACH_COMMIT, (random, 1));
        all += counts.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        if all.recoveries >= recoveries() {
            break;
        }
    }
    println!("{all:?}");
    let tenth = all.recoveries / 10;
    assert!(all.before > tenth && all.after > tenth && all.repeated > tenth);
}

/// And the test above would notice if one were missing.
#[test]
fn each_sync_of_a_commit_is_needed() {
    let few = vec![put("a"), put("d/new")];
    let many: Vec<_> = few.iter().cloned().chain(many()).collect();
    let check = |ops: &[Op], has_earlier, fails: bool, not_needed: &[usize]| {
        let mut case = Case {
            ops,
            has_earlier,
            but: None,
            cut: None,
            ticket,
        };
        let mut committed = case.commit(None).unwrap();
        // As late as it can.
        let (steps, after) = (committed.steps, committed.tried.after.clone());
        for at in (1..=steps).rev() {
            if committed.is_after != fails {
                break;
            }
            case.cut = Some((at, FULL));
            committed = case.commit(Some(after.clone())).unwrap();
        }
        let noticed = |but| {
            let case = Case {
                but: Some(but),
                ..case
            };
            let losses = (&mut Random::new(1), MAX_LOSSES);
            let committed = case.commit(Some(after.clone())).unwrap();
            committed.lose_power(2000, losses).is_err()
        };
        let syncs = 0..committed.disk.syncs();
        let found: Vec<_> = syncs.clone().filter(|but| !noticed(*but)).collect();
        let what = format!("{} changes, {has_earlier}, {fails}", ops.len());
        assert_eq!(found, not_needed, "{what}: of {syncs:?}");
    };
    check(&few, false, false, &[]);
    check(&few, true, false, &[]);
    check(&many, true, false, &[]);
    // That of the workspace's folder, with the private folder's name: syncfs covers it.
    check(&many, false, false, &[0]);
    // That of the directory of the failed step, which has nothing to take back.
    check(&few, true, true, &[8]);
    check(&many, true, true, &[3]);
}

/// The first one made the private folder, and may not have synced its name.
#[test]
fn a_commit_after_one_that_was_killed_anywhere_is_whole_or_never_was() {
    let ops = [put("a"), put("d/new")];
    let case = Case {
        ops: &ops,
        has_earlier: false,
        but: None,
        cut: None,
        ticket: kept,
    };
    let committed = case.commit(None).unwrap();
    for at in 1..=committed.steps {
        let cut = Some((at, Fault::Stop));
        let after = Some(committed.tried.after.clone());
        let again = Case { cut, ..case }.commit(after).unwrap();
        let counts = again.lose_power(150, (&mut Random::new(at), MAX_LOSSES));
        counts.unwrap_or_else(|error| panic!("killed at {at}: {error}"));
    }
}
