//! Sources that are hard work: none ends the process, and none goes on long after its call had to
//! end.

use std::time::{Duration, Instant};

use airlock_host::{CancellationToken, Error, LimitKind, Limits};
use serde_json::json;

use crate::tree::Tree;

/// Long enough for a machine that does other things, and nothing beside the minutes that the work
/// would take.
const SOON: Duration = Duration::from_secs(10);

fn within(call_time: Duration) -> Limits {
    Limits::default().with_call_time(call_time)
}

/// The parser takes a quarter of a minute for that, and longer the more there is.
fn open_tags() -> String {
    format!("<b>x</b>{}", "<div>".repeat(150_000))
}

#[tokio::test]
async fn a_source_as_deep_as_generated_code_is_searched() {
    let chain = format!("q{}", ".a()".repeat(4000));
    let brackets = format!("{}{}", "[".repeat(6000), "]".repeat(6000));
    let tree = Tree::with(&[
        ("chain.ts", &format!("{chain} && {chain}()\n")),
        ("brackets.ts", &format!("x = {brackets} && {brackets}()\n")),
    ]);
    tree.edit("$A && $A()", "$A?.()").await.unwrap();
    tree.apply().await.unwrap();
    assert_eq!(tree.read("chain.ts"), format!("{chain}?.()\n"));
    assert_eq!(tree.read("brackets.ts"), format!("x = {brackets}?.()\n"));
}

#[tokio::test]
async fn a_source_that_is_deeper_is_left_out_and_told() {
    let deep = format!(
        "old(1);\nx = {}{};\n",
        "[".repeat(20_000),
        "]".repeat(20_000)
    );
    let tree = Tree::with(&[("deep.js", &deep), ("fine.js", "old(1);\n")]);
    let previewed = tree.edit("old($A)", "new($A)").await.unwrap();
    let text = previewed.text();
    assert!(text.starts_with("1 replacement in 1 file"), "{text}");
    assert!(
        text.contains("Not searched: \"deep.js\", it is nested more than 10000 deep."),
        "{text}"
    );
    tree.apply().await.unwrap();
    assert_eq!(tree.read("deep.js"), deep);
    assert_eq!(tree.read("fine.js"), "new(1);\n");
    let params = json!({"ops": [{"pat": "old($A)", "out": "new($A)"}], "paths": ["deep.js"]});
    let error = tree.refused(params).await;
    assert_eq!(
        error,
        "can't search deep.js: it is nested more than 10000 deep"
    );
}

#[tokio::test]
async fn a_call_ends_in_the_midst_of_a_source_and_tells_the_time() {
    let call_time = Duration::from_millis(300);
    let tree = Tree::open(&[("a.html", &open_tags())], |session| {
        session.limits(within(call_time))
    });
    let started = Instant::now();
    let error = tree.edit("<b>$$$A</b>", "<i>$$$A</i>").await.unwrap_err();
    let elapsed = started.elapsed();
    assert!(elapsed < SOON, "{elapsed:?}");
    assert!(
        matches!(
            error,
            Error::Limit {
                kind: LimitKind::CallTime,
                ..
            }
        ),
        "{error}"
    );
    let message = error.to_string();
    let (_, after) = message.split_once("was stopped after ").unwrap();
    let told: f64 = after.split_once(" s").unwrap().0.parse().unwrap();
    assert!(
        (told - elapsed.as_secs_f64()).abs() < 0.3,
        "{message}, {elapsed:?}"
    );
    assert_eq!(tree.pending().await, 0);
}

#[tokio::test]
async fn a_call_is_cancelled_in_the_midst_of_a_source() {
    let tree = Tree::with(&[("a.html", &open_tags())]);
    let cancel = CancellationToken::new();
    let params = json!({"ops": [{"pat": "<b>$$$A</b>", "out": "<i>$$$A</i>"}]});
    let call = tree.session.call("ast_edit", &params).cancelled_by(&cancel);
    let cancelling = async {
        // By then it is parsed.
        tokio::time::sleep(Duration::from_millis(200)).await;
        cancel.cancel();
        Instant::now()
    };
    let (called, cancelled) = tokio::join!(call, cancelling);
    assert!(matches!(called, Err(Error::Cancelled)), "{called:?}");
    assert!(cancelled.elapsed() < SOON, "{:?}", cancelled.elapsed());
    // The next one is not in its way.
    tree.write("a.html", "<b>x</b>");
    tree.call(params).await.unwrap();
}

#[tokio::test]
async fn a_pattern_that_matches_in_more_ways_than_can_be_tried_is_stopped() {
    // Each of the pattern's lists is matched once to find where its `$$$` ends, and once more.
    let nest = |open: &str, close: &str| format!("{}zz{}", open.repeat(40), close.repeat(40));
    let tree = Tree::open(&[("a.js", &nest("f(1, ", ", 2)"))], |session| {
        session.limits(within(Duration::from_millis(500)))
    });
    let started = Instant::now();
    let called = tree.edit(&nest("f($$$, ", ", $$$)"), "x").await;
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    assert!(matches!(called, Err(Error::Limit { .. })), "{called:?}");
}

#[tokio::test]
async fn a_template_that_makes_gigabytes_of_a_match_is_refused_before_it_does() {
    let list = "1,\n".repeat(300_000);
    let tree = Tree::with(&[("a.js", &format!("old([{list}]);\n"))]);
    let error = tree
        .edit("old($A)", &"$A".repeat(60_000))
        .await
        .unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("there is too much to replace: more than 256 MiB"),
        "{message}"
    );
    assert_eq!(tree.pending().await, 0);
}

#[tokio::test]
async fn an_apply_that_is_stopped_writes_nothing() {
    let call_time = Duration::from_millis(400);
    let tree = Tree::open(&[("a.html", "<b>x</b>\n")], |session| {
        session.limits(within(call_time))
    });
    tree.edit("<b>$$$A</b>", "<i>$$$A</i>").await.unwrap();
    // It may have new matches, so the apply looks.
    tree.write("z.html", open_tags());
    let started = Instant::now();
    let error = tree.apply().await.unwrap_err();
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    assert!(
        error.to_string().contains("was stopped after 0."),
        "{error}"
    );
    assert_eq!(tree.read("a.html"), "<b>x</b>\n");
    let names: Vec<String> = tree.files().into_keys().collect();
    assert_eq!(names, ["a.html", "z.html"]);
    assert_eq!(tree.pending().await, 1);
    std::fs::remove_file(tree.path("z.html")).unwrap();
    tree.apply().await.unwrap();
    assert_eq!(tree.read("a.html"), "<i>x</i>\n");
}
