//! What each kind of block looks like. `UPDATE_EXPECT=1` before the test command writes them anew.

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;
use crate::content;
use crate::error::Error;
use crate::pending::{Resolution, StackedAction};
use crate::render::{Block, Decided, Line, Renderer, Role};

const DIFF: &str = "\
1 replacement in src/main.rs:
--- a/src/main.rs
+++ b/src/main.rs
@@ -1,3 +1,3 @@ fn main()
 fn main() {
-\tprintln!(\"a greeting that is long enough to be broken\");
+\tlog::info!(\"日本語\");
 }
- a list, and no diff";

const LABEL: &str = "AST Edit: 2 replacements in 1 file";

#[track_caller]
fn check(block: Block, expected: Expect) {
    expected.assert_eq(&block.to_string());
}

#[track_caller]
fn check_at(renderer: Renderer, block: Block, expected: Expect) {
    expected.assert_eq(&renderer.render(&block).replace('\u{1b}', "␛"));
}

fn decision(resolution: &Resolution, outcome: &Result<ResolutionOutcome, Error>) -> Block {
    let action = action(LABEL, "ast_edit");
    Block::decision(&Decided::resolved(resolution, Some(&action), outcome))
}

#[test]
fn a_call_with_what_it_made_pending() {
    let image = Content::Image {
        data: vec![1, 2, 3],
        mime_type: "image/png".to_owned(),
    };
    let link = |mime_type: Option<&str>| Content::ResourceLink {
        uri: "file:///a".to_owned(),
        name: "a".to_owned(),
        mime_type: mime_type.map(str::to_owned),
    };
    let content = vec![
        Content::text("Two lines\r\nof text\n\n"),
        image,
        link(None),
        link(Some("text/plain")),
    ];
    let mut volatile = action("Tidy up", "custom_tool");
    volatile.durable = false;
    let pushed = [action(LABEL, "ast_edit"), volatile];
    check(
        Block::call(&call(content, &pushed)),
        expect![[r#"
        Two lines
        of text
        [image: image/png, 3 bytes]
        [link: a, file:///a]
        [link: a, file:///a, text/plain]

        Pending; nothing has changed yet:
          AST Edit: 2 replacements in 1 file
          from ast_edit, durable, id 01a20106-302b-74f6-9523-411f5755e711
          Tidy up
          from custom_tool, volatile, id 01a20106-302b-74f6-9523-411f5755e711"#]],
    );
    check(
        Block::call(&call(Vec::new(), &pushed[..1])),
        expect![[r#"
            Pending; nothing has changed yet:
              AST Edit: 2 replacements in 1 file
              from ast_edit, durable, id 01a20106-302b-74f6-9523-411f5755e711"#]],
    );
    check(
        Block::call(&call(vec![Content::text("All is well.")], &[])),
        expect!["All is well."],
    );
    check(Block::call(&call(Vec::new(), &[])), expect![[r#""#]]);
}

#[test]
fn a_diff_among_other_text() {
    check_at(
        Renderer::ansi(),
        Block::new().text(DIFF),
        expect![[r#"
        1 replacement in src/main.rs:
        ␛[1m--- a/src/main.rs␛[0m
        ␛[1m+++ b/src/main.rs␛[0m
        ␛[36m@@ -1,3 +1,3 @@ fn main()␛[0m
         fn main() {
        ␛[31m-       println!("a greeting that is long enough to be broken");␛[0m
        ␛[32m+       log::info!("日本語");␛[0m
         }
        - a list, and no diff"#]],
    );
    check_at(
        Renderer::plain().width(36),
        Block::new().text(DIFF),
        expect![[r#"
            1 replacement in src/main.rs:
            --- a/src/main.rs
            +++ b/src/main.rs
            @@ -1,3 +1,3 @@ fn main()
             fn main() {
            -       println!("a greeting that is
            ↪ long enough to be broken");
            +       log::info!("日本語");
             }
            - a list, and no diff"#]],
    );
}

#[test]
fn a_changed_line_end_is_seen() {
    let diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-one\r\n+one\n two\r";
    check(
        Block::new().text(diff),
        expect![[r#"
        --- a/x
        +++ b/x
        @@ -1,2 +1,2 @@
        -one\r
        +one
         two\r"#]],
    );
    let all = "--- a/x\r\n+++ b/x\r\n@@ -1,2 +1,2 @@\r\n-one\r\n+1\r\n two\r\nprose\r";
    check(
        Block::new().text(all),
        expect![[r#"
        --- a/x
        +++ b/x
        @@ -1,2 +1,2 @@
        -one
        +1
         two
        prose"#]],
    );
}

#[test]
fn a_decision_that_was_carried_out() {
    let apply = Resolution::apply("the diff is right");
    let done = |text: &str| Ok(outcome(Decision::Apply, LABEL, &apply.reason, text));
    check(
        decision(&apply, &done("Replaced 2.\nIn 1 file.")),
        expect![[r#"
            Accept: 2 replacements in 1 file [AST Edit]
              reason: the diff is right

              Replaced 2.
              In 1 file."#]],
    );
    check(
        decision(&apply, &done("")),
        expect![[r#"
        Accept: 2 replacements in 1 file [AST Edit]
          reason: the diff is right"#]],
    );
    check_at(
        Renderer::ansi().width(24),
        decision(&apply, &done("Replaced 2.")),
        expect![[r#"
            ␛[1m␛[32mAccept:␛[0m ␛[1m2 replacements␛[0m
              ␛[1min 1 file␛[0m ␛[2m[AST Edit]␛[0m
              ␛[2mreason:␛[0m the diff is
                right

              Replaced 2."#]],
    );
}

#[test]
fn a_reason_that_the_tool_tells_is_told_once() {
    let apply = Resolution::apply("the diff is right");
    let done = |text: &str| Ok(outcome(Decision::Apply, LABEL, &apply.reason, text));
    check(
        decision(&apply, &done("Applied. Reason: the diff is right\n\nTwo.")),
        expect![[r#"
            Accept: 2 replacements in 1 file [AST Edit]
              Applied. Reason: the diff is right

              Two."#]],
    );
    check(
        decision(&apply, &done("Applied.\nReason: the diff is right")),
        expect![[r#"
            Accept: 2 replacements in 1 file [AST Edit]
              reason: the diff is right

              Applied.
              Reason: the diff is right"#]],
    );
    check(
        decision(&apply, &done("Reason: the diff is righteous")),
        expect![[r#"
            Accept: 2 replacements in 1 file [AST Edit]
              reason: the diff is right

              Reason: the diff is righteous"#]],
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
            Discard: 2 replacements in 1 file [AST Edit]
              reason: not
                these"#]],
    );
    let unsaid = Resolution::discard("");
    let text = content::discarded(LABEL, "");
    check(
        decision(&unsaid, &Ok(outcome(Decision::Discard, LABEL, "", &text))),
        expect!["Discard: 2 replacements in 1 file [AST Edit]"],
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
            Failed: 2 replacements in 1 file [AST Edit]
              reason to apply: yes
              error: disk on
                fire"#]],
    );
    let tool = || Error::Tool {
        message: "not today".to_owned(),
    };
    check_at(
        Renderer::ansi(),
        decision(&Resolution::discard("no"), &Err(tool())),
        expect![[r#"
            ␛[1m␛[31mFailed:␛[0m ␛[1m2 replacements in 1 file␛[0m ␛[2m[AST Edit]␛[0m
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
            Accept: 2 replacements in 1 file [AST Edit]
              reason: the diff is right

              1 replacement in src/main.rs:
              --- a/src/main.rs
              +++ b/src/main.rs
              @@ -1,3 +1,3 @@ fn main()
               fn main() {
              -       println!("a greeting that is long enough to be bro
              ↪ken");
              +       log::info!("日本語");
               }
              - a list, and no diff

              Replaced 1."#]],
    );
    let running = Decided {
        outcome: None,
        preview: &[],
        ..decided
    };
    check(
        Block::decision(&running),
        expect![[r#"
        Applying: 2 replacements in 1 file [AST Edit]
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
        batch_rename
          {"files":["*.jpeg"],"find":"jpeg$"}"#]],
    );
    check(
        tool_call("batch_rename", &params, Some(Ok(&pushed))),
        expect![[r#"
            batch_rename
              {"files":["*.jpeg"],"find":"jpeg$"}

              Would rename 3.

              Pending; nothing has changed yet:
                AST Edit: 2 replacements in 1 file
                from t, durable, id 01a20106-302b-74f6-9523-411f5755e711"#]],
    );
    let error = Error::Failed {
        message: "disk on fire".to_owned(),
    };
    check(
        tool_call("batch_rename", &params, Some(Err(&error))),
        expect![[r#"
            Failed: batch_rename
              {"files":["*.jpeg"],"find":"jpeg$"}
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
            Accept: 2 replacements in 1 file [AST Edit]
              reason: the diff is right

              Replaced 2."#]],
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
              {"action":"keep"}
              error: disk on fire"#]],
    );
}

#[test]
fn what_is_pending() {
    let state = |state| record(action(LABEL, "ast_edit"), state);
    let tried = ActionRecord {
        attempts: 2,
        last_error: Some("Apply failed: disk on\nfire".to_owned()),
        ..state(ActionState::Pending)
    };
    let interrupted = ActionRecord {
        attempts: 1,
        last_error: Some("its host stopped".to_owned()),
        lease: Some(lease("vm/7")),
        ..state(ActionState::Interrupted)
    };
    let resolving = ActionRecord {
        lease: Some(lease("vm/7")),
        ..state(ActionState::Resolving)
    };
    let all = [
        state(ActionState::Pending),
        tried,
        interrupted,
        resolving,
        state(ActionState::Lost),
    ];
    let list = all.iter().fold(Block::new(), |list, record| {
        list.block(Block::open(record, when))
    });
    check(
        list,
        expect![[r#"
        AST Edit: 2 replacements in 1 file
          from ast_edit, durable, at 60 s, id 01a20106-302b-74f6-9523-411f5755e711
        AST Edit: 2 replacements in 1 file
          from ast_edit, durable, at 60 s, id 01a20106-302b-74f6-9523-411f5755e711
          tried 2 times, the last time: Apply failed: disk on …
        AST Edit: 2 replacements in 1 file
          from ast_edit, durable, at 60 s, id 01a20106-302b-74f6-9523-411f5755e711
          interrupted in attempt 1: its host stopped
        AST Edit: 2 replacements in 1 file
          from ast_edit, durable, at 60 s, id 01a20106-302b-74f6-9523-411f5755e711
          resolving: being applied by vm/7, begun at 90 s
        AST Edit: 2 replacements in 1 file
          from ast_edit, durable, at 60 s, id 01a20106-302b-74f6-9523-411f5755e711
          lost: its preview was in the memory of a process that has ended; it can only be discarded"#]],
    );
    let stacked = StackedAction {
        action: Arc::new(action("A label that is longer than its row", "ast_edit")),
        attempts: 1,
        last_error: Some("cancelled".to_owned()),
        state: ActionState::Pending,
    };
    check_at(
        Renderer::plain().width(30),
        Block::stacked(&stacked, when),
        expect![[r#"
            A label that is longer than
              its row
              from ast_edit, durable, at
              60 s, id
              01a20106-302b-74f6-9523-411f
              5755e711
              tried once: cancelled"#]],
    );
}

#[test]
fn all_that_is_known() {
    let pushed = PendingAction {
        details: Some(json!({"files": ["a.jpeg"], "evil": "\u{1b}\u{202e}"})),
        ..action(LABEL, "ast_edit")
    };
    let pending = ActionRecord {
        attempts: 1,
        last_error: Some("disk on\nfire".to_owned()),
        ..record(pushed, ActionState::Pending)
    };
    check(
        Block::record(&pending, when),
        expect![[r#"
        AST Edit: 2 replacements in 1 file
          id         01a20106-302b-74f6-9523-411f5755e711
          tool       ast_edit
          session    workspace:/home/ann/photos
          workspace  /home/ann/photos
          previewed  at 60 s
          plugin     sha256:5e689e2b01672bf33996e75d5e372ff60c536ce1599a1458e867cd8f4bef5160
          granted    workspace: read, and change while applying; scratch directory; no environment, no network, no other path
          kept       durable: it can be applied by any process
          attempts   1
          state      pending
          last error disk on
                     fire
          details
            {
              "evil": "\u001b\u{202e}",
              "files": [
                "a.jpeg"
              ]
            }"#]],
    );
    let interrupted = ActionRecord {
        attempts: 1,
        last_error: Some("its host stopped".to_owned()),
        lease: Some(lease("vm/7")),
        ..record(action(LABEL, "ast_edit"), ActionState::Interrupted)
    };
    check_at(
        Renderer::plain().width(50),
        Block::record(&interrupted, when),
        expect![[r#"
            AST Edit: 2 replacements in 1 file
              id         01a20106-302b-74f6-9523-411f5755e711
              tool       ast_edit
              session    workspace:/home/ann/photos
              workspace  /home/ann/photos
              previewed  at 60 s
              plugin     sha256:5e689e2b01672bf33996e75d5e372f
                         f60c536ce1599a1458e867cd8f4bef5160
              granted    workspace: read, and change while
                         applying; scratch directory; no
                         environment, no network, no other
                         path
              kept       durable: it can be applied by any
                         process
              attempts   1
              state      interrupted in attempt 1: its host
                         stopped
              begun      at 90 s, by vm/7"#]],
    );
    let discarded = ActionRecord {
        resolved: Some(resolved(Decision::Discard, "not these", Some("not today"))),
        ..record(action(LABEL, "ast_edit"), ActionState::Discarded)
    };
    check(
        Block::record(&discarded, when),
        expect![[r#"
        AST Edit: 2 replacements in 1 file
          id         01a20106-302b-74f6-9523-411f5755e711
          tool       ast_edit
          session    workspace:/home/ann/photos
          workspace  /home/ann/photos
          previewed  at 60 s
          plugin     sha256:5e689e2b01672bf33996e75d5e372ff60c536ce1599a1458e867cd8f4bef5160
          granted    workspace: read, and change while applying; scratch directory; no environment, no network, no other path
          kept       durable: it can be applied by any process
          attempts   0
          state      discarded
          discarded  at 120 s
          by         ann@vm
          reason     not these
          extra      {"ticket":17}
          error      not today"#]],
    );
}

#[test]
fn what_was_decided() {
    let of = |resolved: ResolvedRecord| {
        let ended = ActionRecord {
            resolved: Some(resolved),
            ..record(action(LABEL, "ast_edit"), ActionState::Applied)
        };
        Block::audit(&ended, when)
    };
    check(
        of(resolved(Decision::Apply, "two\nlines", None)),
        expect![[r#"
            Accept: 2 replacements in 1 file [AST Edit]
              applied by ann@vm, at 120 s
              reason: two
                lines
              id 01a20106-302b-74f6-9523-411f5755e711"#]],
    );
    check(
        of(resolved(Decision::Discard, "no", Some("not today"))),
        expect![[r#"
            Discard: 2 replacements in 1 file [AST Edit]
              discarded by ann@vm, at 120 s
              reason: no
              the tool failed: not today
              id 01a20106-302b-74f6-9523-411f5755e711"#]],
    );
    let nobody = ResolvedRecord {
        decided_by: None,
        ..resolved(Decision::Apply, "", None)
    };
    check(
        of(nobody),
        expect![[r#"
        Accept: 2 replacements in 1 file [AST Edit]
          applied, at 120 s
          id 01a20106-302b-74f6-9523-411f5755e711"#]],
    );
    check(
        Block::audit(&record(action(LABEL, "t"), ActionState::Pending), when),
        expect![[r#""#]],
    );
}

#[test]
fn a_long_text_is_cut_where_that_is_wanted() {
    let text = "one\ntwo\nthree and four\nfive";
    let block = || {
        let call = call(vec![Content::text(text)], &[action(LABEL, "ast_edit")]);
        Block::call(&call)
    };
    check_at(
        Renderer::plain().max_rows(3),
        block(),
        expect![[r#"
        one
        two
        three and four
        … 1 more line

        Pending; nothing has changed yet:
          AST Edit: 2 replacements in 1 file
          from ast_edit, durable, id 01a20106-302b-74f6-9523-411f5755e711"#]],
    );
    check_at(
        Renderer::plain().max_rows(4),
        block(),
        expect![[r#"
        one
        two
        three and four
        five

        Pending; nothing has changed yet:
          AST Edit: 2 replacements in 1 file
          from ast_edit, durable, id 01a20106-302b-74f6-9523-411f5755e711"#]],
    );
    let narrow = Renderer::plain().width(8);
    check_at(
        narrow.max_rows(3),
        Block::new().text(text),
        expect![[r#"
            one
            two
            three
            … 2 more
            lines"#]],
    );
    check_at(
        narrow.max_rows(0),
        Block::new().text(text).indented(2),
        expect![[r#"
              … 4
              more
              lines"#]],
    );
}

#[test]
fn what_would_drive_a_terminal_is_marked() {
    let evil = "a\u{1b}]0;t\u{7}\rb\tc\u{202e}";
    let block = Block::new().line(Line::from(evil)).text(evil).named(
        Role::Error,
        "error:",
        &format!("{evil}\nhint: do it"),
        2,
    );
    check_at(
        Renderer::ansi(),
        block,
        expect![[r#"
        a␛[7m\u{1b}␛[0m]0;t␛[7m\u{7}\r␛[0mb␛[7m\t␛[0mc␛[7m\u{202e}␛[0m
        a␛[7m\u{1b}␛[0m]0;t␛[7m\u{7}\r␛[0mb     c␛[7m\u{202e}␛[0m
        ␛[1m␛[31merror:␛[0m a␛[7m\u{1b}␛[0m]0;t␛[7m\u{7}\r␛[0mb      c␛[7m\u{202e}␛[0m
          hint: do it"#]],
    );
}
