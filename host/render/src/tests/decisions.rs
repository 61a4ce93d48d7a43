//! What decisions look like.

use airlock_model::content;
use airlock_model::error::Error;
use airlock_model::pending::Resolution;
use expect_test::expect;
use serde_json::json;

use super::*;
use crate::Decided;

fn decision(resolution: &Resolution, outcome: &Result<ResolutionOutcome, Error>) -> Block {
    let action = action(LABEL, "ast_edit");
    Block::decision(&Decided::resolved(resolution, Some(&action), outcome))
}

#[test]
fn a_decision_that_was_carried_out() {
    let apply = Resolution::apply("the diff is right");
    let done = |text: &str| Ok(outcome(Decision::Apply, LABEL, &apply.reason, text));
    check(
        decision(&apply, &done("Replaced 2.\nIn 1 file.")),
        expect![[r#"
            Accept: AST Edit: 2 replacements in 1 file
              reason: the diff is right

              │ Replaced 2.
              │ In 1 file."#]],
    );
    check(
        decision(&apply, &done("")),
        expect![[r#"
        Accept: AST Edit: 2 replacements in 1 file
          reason: the diff is right"#]],
    );
    check_at(
        Renderer::ansi().width(24),
        decision(&apply, &done("Replaced 2.")),
        expect![[r#"
            ␛[1m␛[32mAccept:␛[0m ␛[1mAST Edit: 2␛[0m
              ␛[2m│␛[0m ␛[1mreplacements in 1␛[0m
              ␛[2m│␛[0m ␛[1mfile␛[0m
              ␛[2mreason:␛[0m the diff is
                ␛[2m│␛[0m right

              ␛[2m│␛[0m Replaced 2."#]],
    );
}

#[test]
fn a_reason_that_the_tool_tells_is_told_once() {
    let apply = Resolution::apply("the diff is right");
    let done = |text: &str| Ok(outcome(Decision::Apply, LABEL, &apply.reason, text));
    check(
        decision(&apply, &done("Applied. Reason: the diff is right\n\nTwo.")),
        expect![[r#"
            Accept: AST Edit: 2 replacements in 1 file
              │ Applied. Reason: the diff is right
              │
              │ Two."#]],
    );
    check(
        decision(&apply, &done("Applied.\nReason: the diff is right")),
        expect![[r#"
            Accept: AST Edit: 2 replacements in 1 file
              reason: the diff is right

              │ Applied.
              │ Reason: the diff is right"#]],
    );
    check(
        decision(&apply, &done("Reason: the diff is righteous")),
        expect![[r#"
            Accept: AST Edit: 2 replacements in 1 file
              reason: the diff is right

              │ Reason: the diff is righteous"#]],
    );
    // Nothing else is in what the host says of a discard.
    let discard = Resolution::discard("not\nthese");
    let text = content::discarded(LABEL, &discard.reason);
    check(
        decision(
            &discard,
            &Ok(outcome(Decision::Discard, LABEL, &discard.reason, &text)),
        ),
        expect![[r#"
            Discard: AST Edit: 2 replacements in 1 file
              reason: not
                │ these"#]],
    );
    let unsaid = Resolution::discard("");
    let text = content::discarded(LABEL, "");
    check(
        decision(&unsaid, &Ok(outcome(Decision::Discard, LABEL, "", &text))),
        expect!["Discard: AST Edit: 2 replacements in 1 file"],
    );
}

#[test]
fn a_decision_that_failed() {
    let failed = Error::ApplyFailed(Box::new(Error::Failed {
        message: "disk on\nfire".to_owned(),
    }));
    check(
        decision(&Resolution::apply("yes"), &Err(failed)),
        expect![[r#"
            Failed: AST Edit: 2 replacements in 1 file
              reason to apply: yes
              error: disk on
                │ fire"#]],
    );
    let tool = || Error::Tool {
        message: "not today".to_owned(),
    };
    check_at(
        Renderer::ansi(),
        decision(&Resolution::discard("no"), &Err(tool())),
        expect![[r#"
            ␛[1m␛[31mFailed:␛[0m ␛[1mAST Edit: 2 replacements in 1 file␛[0m
              ␛[2mreason to discard:␛[0m no
              ␛[1m␛[31merror:␛[0m not today"#]],
    );
    let resolution = Resolution::apply("");
    check(
        Block::decision(&Decided::resolved(&resolution, None, &Err(tool()))),
        expect![[r#"
            Failed: pending action
              error: not today"#]],
    );
}

#[test]
fn a_decision_with_its_preview() {
    let preview = [Content::text(DIFF)];
    let result = [Content::text("Replaced 1.")];
    let decided = Decided {
        label: Some(LABEL),
        preview: &preview,
        outcome: Some(Ok(&result)),
        ..Decided::new(Decision::Apply, "the diff is right")
    };
    check_at(
        Renderer::plain().width(60),
        Block::decision(&decided),
        expect![[r#"
            Accept: AST Edit: 2 replacements in 1 file
              reason: the diff is right

              │ 1 replacement in src/main.rs:
              │ --- a/src/main.rs
              │ +++ b/src/main.rs
              │ @@ -1,3 +1,3 @@ fn main()
              │  fn main() {
              │ -       println!("a greeting that is long enough to be 
              │ ↪broken");
              │ +       log::info!("日本語");
              │  }
              │ - a list, and no diff

              │ Replaced 1."#]],
    );
    let running = Decided {
        outcome: None,
        preview: &[],
        ..decided
    };
    check(
        Block::decision(&running),
        expect![[r#"
        Applying: AST Edit: 2 replacements in 1 file
          reason: the diff is right"#]],
    );
}

#[test]
fn a_tool_call_of_a_model() {
    let params = json!({"files": ["*.jpeg"], "find": "jpeg$"});
    let pushed = call(
        vec![Content::text("Would rename 3.")],
        &[action(LABEL, "t")],
    );
    let tool_call = |name, params, result| Block::tool_call(name, params, result);
    check(
        tool_call("batch_rename", &params, None),
        expect![[r#"
            │ batch_rename
              │ {"files":["*.jpeg"],"find":"jpeg$"}"#]],
    );
    check(
        tool_call("batch_rename", &params, Some(Ok(&pushed))),
        expect![[r#"
            │ batch_rename
              │ {"files":["*.jpeg"],"find":"jpeg$"}

              │ Would rename 3.

              Pending; nothing has changed yet:
                │ AST Edit: 2 replacements in 1 file
                from t of plugin (sha256:5e689e2b0167), durable, id 5755e711
                  The tool's own word, not verified by the host"#]],
    );
    let error = Error::Failed {
        message: "disk on fire".to_owned(),
    };
    check(
        tool_call("batch_rename", &params, Some(Err(&error))),
        expect![[r#"
            Failed: batch_rename
              │ {"files":["*.jpeg"],"find":"jpeg$"}
              error: disk on fire"#]],
    );

    let apply = json!({"action": "apply", "reason": "the diff is right"});
    check(
        tool_call("resolve", &apply, None),
        expect![[r#"
            Applying: pending action
              reason: the diff is right"#]],
    );
    let done = outcome(Decision::Apply, LABEL, "the diff is right", "Replaced 2.");
    let done = CallOutcome::from(done);
    check(
        tool_call("resolve", &apply, Some(Ok(&done))),
        expect![[r#"
            Accept: AST Edit: 2 replacements in 1 file
              reason: the diff is right

              │ Replaced 2."#]],
    );
    check(
        tool_call("resolve", &apply, Some(Err(&Error::NothingPending))),
        expect![[r#"
            Failed: pending action
              reason to apply: the diff is right
              error: No pending action to resolve. Nothing to apply or discard."#]],
    );
    // What a model got wrong is shown as it was called.
    let wrong = json!({"action": "keep"});
    check(
        tool_call("resolve", &wrong, Some(Err(&error))),
        expect![[r#"
            Failed: resolve
              │ {"action":"keep"}
              error: disk on fire"#]],
    );
}
