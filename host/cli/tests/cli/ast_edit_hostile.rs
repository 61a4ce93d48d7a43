//! Generated sources of every language: whatever they are, the process neither is ended by them nor
//! goes on for long.
//!
//! Each language is searched by a process of its own, so that one that ends is seen and not shared.
//! `AIRLOCK_HOSTILE_ROUNDS` makes more of them.

mod languages;

use std::fs;
use std::time::{Duration, Instant};

use airlock_tests::asked;
use serde_json::json;
use tempfile::TempDir;

use crate::airlock::Store;
use languages::{COMMON, SampleLanguage, TONGUES};

/// Numbers that look random and are the same in each run with the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, sides: usize) -> usize {
        // Xorshift, with the constants of its author.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }

    fn piece(&mut self, tongue: &SampleLanguage) -> &'static str {
        let own = tongue.pieces.len();
        match self.below(own * 2 + COMMON.len()) {
            at if at < own * 2 => tongue.pieces[at / 2],
            at => COMMON[at - own * 2],
        }
    }

    /// A few groups of pieces, each repeated up to thousands of times.
    fn source(&mut self, tongue: &SampleLanguage) -> String {
        let mut source = tongue.start.to_owned();
        for _ in 0..=self.below(4) {
            let group: String = (0..=self.below(3)).map(|_| self.piece(tongue)).collect();
            let times = [1, 10, 500, 5_000, 40_000][self.below(5)];
            source.push_str(&group.repeat(times.min(200_000 / group.len())));
        }
        source
    }
}

/// A call that is not over by then goes on for minutes.
const SOON: Duration = Duration::from_secs(60);

fn check(tongue: &SampleLanguage, seed: u64) {
    let store = Store::new();
    let folder = TempDir::new().unwrap();
    let mut random = Random(seed);
    // More than are done in the time.
    let sources: Vec<String> = (0..6).map(|_| random.source(tongue)).collect();
    for (index, source) in sources.iter().enumerate() {
        let name = format!("{index}.{}", tongue.file);
        fs::write(folder.path().join(name), source).unwrap();
    }
    for pattern in tongue.patterns {
        let ops = json!({"ops": [{"pat": pattern, "out": "done"}]}).to_string();
        let args = ["run", "ast_edit", ops.as_str(), "--timeout", "2", "--json"];
        let started = Instant::now();
        let ran = store.airlock(folder.path(), &args).run();
        let about = || {
            let starts: Vec<String> = sources
                .iter()
                .map(|source| source.chars().take(300).collect())
                .collect();
            format!(
                "{} {pattern} seed {seed}: code {} {}\n{starts:#?}",
                tongue.file, ran.code, ran.stderr
            )
        };
        // Done, told by the tool, or out of time; not ended by a signal.
        assert!([0, 1, 4].contains(&ran.code), "{}", about());
        assert!(
            started.elapsed() < SOON,
            "{:?} {}",
            started.elapsed(),
            about()
        );
    }
}

#[test]
fn no_source_ends_the_process_or_holds_it_up() {
    let rounds = asked("AIRLOCK_HOSTILE_ROUNDS").unwrap_or(1);
    for round in 0..rounds {
        for (index, tongue) in TONGUES.iter().enumerate() {
            check(
                tongue,
                0x9e37_79b9_7f4a_7c15 ^ (round * 1000 + index as u64 + 1),
            );
        }
    }
}
