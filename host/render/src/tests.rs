//! What blocks look like, and what holds for every one of them. `UPDATE_EXPECT=1` before the test
//! command writes the looks anew.

mod actions;
mod decisions;
mod properties;
mod texts;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use airlock_model::actor::{Actor, Evidence};
use airlock_model::content::{
    CallOutcome, Content, ResolutionDetails, ResolutionOutcome, ToolResult,
};
use airlock_model::digest::Digest;
use airlock_model::pending::{ActionState, Decision, PendingAction};
use airlock_model::policy::Policy;
use airlock_model::store::{ActionRecord, LeaseRecord, ResolvedRecord};
use expect_test::Expect;
use serde_json::json;

use crate::{Block, Renderer};

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

fn when(time: SystemTime) -> String {
    let age = time.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    format!("at {} s", age.as_secs())
}

fn action(label: &str, tool: &str) -> PendingAction {
    let mut action = PendingAction::new(
        "01a20106-302b-74f6-9523-411f5755e711",
        label,
        Digest::of(b"plugin"),
        "plugin",
        Policy::default(),
        SystemTime::UNIX_EPOCH + Duration::from_secs(60),
    );
    action.source_tool_name = tool.to_owned();
    action.source_is_own_tool = true;
    action.durable = true;
    action.workspace = Some(std::path::Path::new("/home/ann/photos").into());
    action
}

fn record(action: PendingAction, state: ActionState) -> ActionRecord {
    ActionRecord::new("workspace:/home/ann/photos".into(), action, state)
}

fn lease(holder: &str) -> LeaseRecord {
    let since = SystemTime::UNIX_EPOCH + Duration::from_secs(90);
    LeaseRecord::new(holder.to_owned(), since, Decision::Apply)
}

fn resolved(decision: Decision, reason: &str, error: Option<&str>) -> ResolvedRecord {
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(120);
    let by = Actor::person("ann@vm").with_evidence(Evidence::Terminal);
    let mut resolved = ResolvedRecord::new(decision, at, by);
    resolved.reason = reason.to_owned();
    resolved.extra = json!({"ticket": 17}).as_object().cloned();
    resolved.error = error.map(str::to_owned);
    resolved
}

fn call(content: Vec<Content>, pushed: &[PendingAction]) -> CallOutcome {
    let details = None;
    let pushed = pushed.iter().cloned().map(Arc::new).collect();
    CallOutcome::new(ToolResult { content, details }, pushed)
}

fn outcome(decision: Decision, label: &str, reason: &str, text: &str) -> ResolutionOutcome {
    let mut details = ResolutionDetails::new(decision, reason.to_owned());
    details.label = Some(label.to_owned());
    ResolutionOutcome::new(vec![Content::text(text)], details)
}
