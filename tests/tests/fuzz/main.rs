//! The targets of `airlock_tests::fuzz`, with bytes that proptest makes of their seeds and of what
//! was found before: `PROPTEST_CASES` says how many.

use airlock_tests::fuzz;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};

/// Of each target, unless `PROPTEST_CASES` says otherwise: seconds for all of them.
const CASES: u32 = 64;

/// How many inputs of a target's corpus are tried, likewise.
const FROM_CORPUS: usize = 100;

/// One change of some bytes.
#[derive(Debug, Clone)]
enum Edit {
    Set(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    /// A part once more, elsewhere.
    Copy(Index, Index, usize),
}

impl Edit {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let place = |index: &Index, bytes: &Vec<u8>| index.index(bytes.len() + 1);
        match self {
            Edit::Set(at, byte) => {
                let at = place(at, bytes);
                if let Some(old) = bytes.get_mut(at) {
                    *old = *byte;
                }
            }
            Edit::Insert(at, new) => {
                let at = place(at, bytes);
                bytes.splice(at..at, new.iter().copied());
            }
            Edit::Remove(at, length) => {
                let at = place(at, bytes);
                let end = (at + length).min(bytes.len());
                bytes.drain(at..end);
            }
            Edit::Copy(from, to, length) => {
                let from = place(from, bytes);
                let part = bytes[from..(from + length).min(bytes.len())].to_vec();
                let to = place(to, bytes);
                bytes.splice(to..to, part);
            }
        }
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    let byte = prop_oneof![any::<u8>(), select(vec![0, 1, 0x7f, 0x80, 0xff])];
    prop_oneof![
        4 => (any::<Index>(), byte).prop_map(|(at, byte)| Edit::Set(at, byte)),
        1 => (any::<Index>(), vec(any::<u8>(), 1..16)).prop_map(|(at, new)| Edit::Insert(at, new)),
        1 => (any::<Index>(), 1..64usize).prop_map(|(at, length)| Edit::Remove(at, length)),
        1 => (any::<Index>(), any::<Index>(), 1..64usize)
            .prop_map(|(from, to, length)| Edit::Copy(from, to, length)),
    ]
}

/// Seeds with some changes, and now and then bytes from nowhere.
fn input(seeds: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let changed = (select(seeds), vec(edit(), 0..12)).prop_map(|(mut bytes, edits)| {
        for edit in edits {
            edit.apply(&mut bytes);
        }
        bytes
    });
    prop_oneof![6 => changed, 1 => vec(any::<u8>(), 0..512)]
}

/// What was found before, in `tests/fuzz/corpus`: a part of it, spread over all, unless
/// `PROPTEST_CASES` asks for more than usual.
fn corpus(target: &str, asks_for_more: bool) -> Vec<Vec<u8>> {
    let all = fuzz::corpus(target);
    let every = if asks_for_more {
        1
    } else {
        all.len().div_ceil(FROM_CORPUS).max(1)
    };
    all.into_iter().step_by(every).collect()
}

fn run(name: &str) {
    let (_, target) = fuzz::TARGETS
        .into_iter()
        .find(|(target, _)| *target == name)
        .expect("a target");
    let asks_for_more = std::env::var_os("PROPTEST_CASES").is_some();
    let mut seeds = fuzz::seeds(name);
    seeds.extend(corpus(name, asks_for_more));
    for seed in &seeds {
        target(seed);
    }
    let mut config = Config {
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..Config::default()
    };
    if !asks_for_more {
        config.cases = CASES;
    }
    let mut runner = TestRunner::new(config);
    let found = runner.run(&input(seeds), |bytes| {
        target(&bytes);
        Ok(())
    });
    if let Err(found) = found {
        panic!("{found}");
    }
}

#[test]
fn any_bytes_are_read_as_a_component_or_refused() {
    run("component");
}

#[test]
fn any_component_loads_or_is_refused_by_its_name() {
    run("load");
}

#[test]
fn any_definitions_are_tools_or_reasons() {
    run("definitions");
}

#[test]
fn any_schema_and_params_end_in_a_decision() {
    run("schema");
}

#[test]
fn any_result_is_an_outcome_or_an_error_and_can_be_shown() {
    run("output");
}

#[test]
fn any_text_is_shown_without_driving_a_terminal() {
    run("rendering");
}

#[test]
fn any_cache_entry_is_as_good_as_none() {
    run("cache_entry");
}

#[test]
fn any_rows_of_a_store_are_a_list_or_an_error() {
    run("store_rows");
}
