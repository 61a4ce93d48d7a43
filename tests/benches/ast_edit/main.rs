//! `ast_edit` beside ast-grep's own command line, on ten thousand real source files.
//!
//! `cargo bench --bench ast_edit` prints a table; `-- --quick` takes fewer rounds. The files are
//! copied from cargo's registry folder, once. `ast-grep` is installed from npm beside the build
//! where it is missing. Both sides take turns, and what counts is the median of the ratios of all
//! rounds. Theirs is a process that takes about 5 ms to start, of a second and more; so are those
//! in which ours parses.

mod corpus;
mod theirs;

use airlock_tests::Tester;
use std::path::Path;
use std::time::{Duration, Instant};

use airlock_ast_edit::AstEdit;
use airlock_host::{Limits, Resolution, Session};
use serde_json::json;
use tokio::runtime::Runtime;

use corpus::Corpus;
use theirs::AstGrep;

/// How many files are searched.
const FILES: usize = 10_000;

/// A rewrite, and what undoes it.
struct Rewrite {
    what: &'static str,
    there: (&'static str, &'static str),
    /// What only replacements have.
    new_word: &'static str,
    back: (&'static str, &'static str),
}

const OFTEN: Rewrite = Rewrite {
    what: "often",
    there: ("$A.unwrap()", "$A.unwrapped()"),
    new_word: ".unwrapped()",
    back: ("$A.unwrapped()", "$A.unwrap()"),
};

const SELDOM: Rewrite = Rewrite {
    what: "seldom",
    there: ("$A.unwrap_or_default()", "$A.or_default_unwrapped()"),
    new_word: ".or_default_unwrapped()",
    back: ("$A.or_default_unwrapped()", "$A.unwrap_or_default()"),
};

fn main() {
    airlock_ast_edit::parser_main();
    // Odd, so that with the one that warms up each rewrite is undone at the end.
    let rounds = if std::env::args().any(|argument| argument == "--quick") {
        3
    } else {
        15
    };
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let ast_grep = AstGrep::installed_in(target);
    let ours = Corpus::copied_to(&target.join("ast_edit-ours"), FILES);
    let theirs = Corpus::copied_to(&target.join("ast_edit-theirs"), FILES);
    println!(
        "{FILES} files, {:.1} MB; medians of {rounds} rounds:",
        ours.bytes() as f64 / 1e6
    );
    println!("| rewrite | ours | ast-grep | ratio | promised |");
    println!("| --- | --- | --- | --- | --- |");
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        for rewrite in [&OFTEN, &SELDOM] {
            preview(rewrite, &ours, &ast_grep, &theirs, rounds).await;
        }
        for rewrite in [&OFTEN, &SELDOM] {
            apply(rewrite, &ours, &ast_grep, &theirs, rounds).await;
        }
    });
}

fn session(corpus: &Corpus) -> Session {
    let limits = Limits::default().with_call_time(Duration::from_secs(600));
    let this = std::env::current_exe().unwrap();
    let ast_edit = AstEdit::new().parser(this).producer();
    Session::builder()
        .model_decides()
        .workspace(corpus.folder())
        .limits(limits)
        .bind(&ast_edit)
        .open()
        .unwrap()
}

async fn call(session: &Session, (pat, out): (&str, &str)) {
    let params = json!({"ops": [{"pat": pat, "out": out}], "lang": "rust"});
    let previewed = session.call("ast_edit", &params).await.unwrap();
    assert_eq!(previewed.pushed.len(), 1, "{}", previewed.text());
}

/// Looking for all replacements, and showing them.
async fn preview(
    rewrite: &Rewrite,
    ours: &Corpus,
    ast_grep: &AstGrep,
    theirs: &Corpus,
    rounds: usize,
) {
    let session = session(ours);
    let mut pairs = Vec::new();
    for round in 0..=rounds {
        let our_time = timed(async || call(&session, rewrite.there).await).await;
        session
            .resolve(Resolution::discard(""), Tester)
            .await
            .unwrap();
        let their_time = timed(async || ast_grep.preview(theirs, rewrite.there)).await;
        // The first one brings the files into memory.
        if round > 0 {
            pairs.push((our_time, their_time));
        }
    }
    print_row(&format!("preview, {}", rewrite.what), &pairs, "1.10x");
}

/// Looking again whether the files are as they were, and writing them: theirs looks once, and
/// writes in place.
async fn apply(
    rewrite: &Rewrite,
    ours: &Corpus,
    ast_grep: &AstGrep,
    theirs: &Corpus,
    rounds: usize,
) {
    let session = session(ours);
    let mut pairs = Vec::new();
    for round in 0..=rounds {
        let there = round % 2 == 0;
        let op = if there { rewrite.there } else { rewrite.back };
        call(&session, op).await;
        let resolving = async || {
            session
                .resolve(Resolution::apply(""), Tester)
                .await
                .unwrap()
        };
        let our_time = timed(async || drop(resolving().await)).await;
        let their_time = timed(async || ast_grep.apply(theirs, op)).await;
        if round > 0 {
            pairs.push((our_time, their_time));
        }
        // Theirs moves lines within strings, too.
        let [ours, theirs] = [&ours, &theirs].map(|corpus| corpus.count(rewrite.new_word));
        assert_eq!(ours, theirs, "both replace the same");
    }
    print_row(&format!("apply, {}", rewrite.what), &pairs, "");
}

async fn timed(work: impl AsyncFnOnce()) -> Duration {
    let start = Instant::now();
    work().await;
    start.elapsed()
}

fn print_row(what: &str, pairs: &[(Duration, Duration)], promised: &str) {
    let seconds = |side: fn(&(Duration, Duration)) -> Duration| {
        median(pairs.iter().map(|pair| side(pair).as_secs_f64()).collect())
    };
    let ratio = median(
        pairs
            .iter()
            .map(|(ours, theirs)| ours.as_secs_f64() / theirs.as_secs_f64())
            .collect(),
    );
    println!(
        "| {what} | {:.2} s | {:.2} s | {ratio:.2}x | {promised} |",
        seconds(|pair| pair.0),
        seconds(|pair| pair.1),
    );
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
