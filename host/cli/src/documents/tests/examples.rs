//! Examples with every member, of each document.

mod author;
mod operator;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use airlock_desk::resolution::Resolved;
use airlock_host::content::{
    CallOutcome, Content, ResolutionDetails, ResolutionOutcome, ToolResult,
};
use airlock_host::digest::Digest;
use airlock_host::effects::{
    ActionEffects, Answer, AppliedPart, Change, ChangeKind, Difference, Effects, Facts, ObjectKind,
    OwnerChange, SideEffects, Withheld,
};
use airlock_host::json::Json;
use airlock_host::pending::{
    ActionState, Actor, CallRecord, Decision, Denial, DenialRecord, DeniedBy, Evidence,
    NamedAction, StackedAction,
};
use airlock_host::policy::Rehearse;
use airlock_host::reads::{StaleFile, Staleness};
use airlock_host::store::{
    ActionRecord, DeniedAction, LeaseRecord, ResolvedRecord, UnreadableAction,
};
use airlock_host::{Error, PendingAction, Policy, Resolution};
use serde_json::{Map, json};

use super::Examples;
use crate::documents::actions::{Entry, PendingList, PendingRest, Record, Unreadable};
use crate::documents::calls::{CallReport, Notification, ResolutionReport, ResolutionReports};
use crate::documents::error::ErrorDocument;
use crate::documents::log::{DeniedEntry, Log, LogEntry, LoggedDecision};
use crate::exit::Exit;
use crate::failure::Failure;

pub fn all() -> Examples {
    let mut examples = Examples::default();
    add_calls(&mut examples);
    add_actions(&mut examples);
    operator::add_plugins(&mut examples);
    operator::add_installed(&mut examples);
    operator::add_audit(&mut examples);
    operator::add_policy(&mut examples);
    operator::add_config(&mut examples);
    operator::add_store(&mut examples);
    author::add_projects(&mut examples);
    author::add_tests(&mut examples);
    examples
}

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn digest() -> Digest {
    Digest::of(b"")
}

fn action() -> PendingAction {
    let grants = Policy::default()
        .with_rehearse(Rehearse::Always)
        .with_real_time()
        .with_fresh_randomness();
    let mut action = PendingAction::new("id", "Rename", digest(), "renamer", grants, at(1));
    action.details = Some("{\"b\": 1.0, \"a\": [2]}".parse().unwrap());
    action.workspace = Some(Path::new("/photos").into());
    action.call = Some("call".into());
    action.expires_at = Some(at(60));
    action
}

fn content() -> Vec<Content> {
    vec![
        Content::text("a\u{1b}[2Jb"),
        Content::Image {
            data: vec![0, 0, 0],
            mime_type: "image/png".to_owned(),
        },
        Content::ResourceLink {
            uri: "file:///a".to_owned(),
            name: "a".to_owned(),
            mime_type: Some("text/plain".to_owned()),
        },
    ]
}

fn effects() -> Effects {
    let facts = |object| {
        let mut facts = Facts::new(object);
        facts.digest = Some("00".to_owned());
        facts.target = Some("b".to_owned());
        facts
    };
    let mut change = Change::new(ChangeKind::Renamed, "a");
    change.from = Some("b".to_owned());
    change.before = Some(facts(ObjectKind::File));
    change.after = Some(facts(ObjectKind::Link));
    change.diff = Some("-a\n+b\n".to_owned());
    change.withheld = Some(Withheld::TooLong);
    let mut side_effects = SideEffects::default();
    side_effects.parts_hard_links = Some(2);
    side_effects.owner = Some(Box::new(OwnerChange::new("ann", "bob")));
    side_effects.group = Some(Box::new(OwnerChange::new("1", "2")));
    side_effects.not_kept = vec!["user.a".to_owned()];
    change.side_effects = side_effects;
    let mut effects = Effects::verified(vec![change]);
    effects.problem = Some("it is long".to_owned());
    effects.uses_time = true;
    effects.uses_randomness = true;
    effects.answer = Some(Box::new(Answer::of(&ToolResult {
        content: vec![Content::text("Renamed. Reason: rehearsal")],
        details: Some(Json::of_own(&json!({"renamed": 1}))),
    })));
    effects.moved = true;
    effects.beyond_undo = true;
    effects
}

fn failure() -> Failure {
    Failure::from(Error::Stale {
        action: Box::new(NamedAction::from(&action())),
        files: vec![StaleFile::new("a", Staleness::Gone)],
    })
}

fn part() -> AppliedPart {
    let part = json!({
        "leftOut": [{ "kind": "renamed", "path": "b", "from": "a" }],
        "partly": [{ "path": "c", "hunks": 3, "leftOut": [2], "lines": [10] }],
        "edited": [{ "path": "d", "diff": "-a\n+b\n" }],
    });
    serde_json::from_value(part).unwrap()
}

fn done() -> Resolved {
    let mut details = ResolutionDetails::new(Decision::Apply, "good".to_owned());
    details.extra = Some(extra());
    details.source_tool_name = Some("rename".to_owned());
    details.label = Some("Rename".to_owned());
    details.source_result_details = Some(Json::of_own(&2));
    details.part = Some(part());
    let mut outcome = ResolutionOutcome::new(content(), details);
    outcome.effects = Some(ActionEffects::new("id".into(), effects()));
    outcome.kept = vec!["a.kept".to_owned()];
    resolved(Ok(outcome))
}

fn failed() -> Resolved {
    resolved(Err(Error::Different {
        action: Box::new(NamedAction::from(&action())),
        difference: Box::new(Difference::new(effects(), Effects::default(), true)),
    }))
}

fn resolved(outcome: Result<ResolutionOutcome, Error>) -> Resolved {
    let mut resolution = Resolution::apply("good");
    resolution.extra = Some(extra());
    Resolved {
        action: Arc::new(action()),
        resolution,
        outcome,
        is_lost: false,
    }
}

fn extra() -> Map<String, serde_json::Value> {
    Map::from_iter([("mode".to_owned(), json!("fast"))])
}

fn add_calls(examples: &mut Examples) {
    let mut outcome = CallOutcome::new(ToolResult::text("hello"), Vec::new());
    examples.add("run", &CallReport::new(&outcome, &[], None, None));
    outcome.details = Some(Json::of_own(&json!({"n": 1})));
    outcome.effects = vec![ActionEffects::new("id".into(), effects())];
    let pending = [StackedAction::new(action(), ActionState::Pending)];
    let (done, failed, failure) = (done(), failed(), failure());
    let report = CallReport::new(&outcome, &pending, Some(&done), Some(&failure));
    examples.add("run", &report);
    examples.add("refresh", &CallReport::new(&outcome, &[], None, None));
    examples.add("undo", &CallReport::new(&outcome, &[], None, None));
    let report = || ResolutionReport::new(&done).with_pending(Some(&pending));
    examples.add("resolve", &report());
    examples.add("apply", &report());
    examples.add("discard", &ResolutionReport::new(&failed));
    examples.add("resolve", &ResolutionReports::default());
    let reports = ResolutionReports {
        error: Some(failure.object()),
        failed: Some(ResolutionReport::new(&failed)),
        ..ResolutionReports::new(std::slice::from_ref(&done))
    };
    examples.add("resolve", &reports);
    let record = ActionRecord::new("session".into(), action(), ActionState::Pending);
    let notification = Notification {
        event: "pending",
        action: Record::new(&record),
        more: 1,
    };
    examples.add("notify", &notification);
    let failure = Failure::new(Exit::Failed, "host", "broken");
    let error = failure.object();
    examples.add("run", &ErrorDocument { error, fit: None });
}

fn add_actions(examples: &mut Examples) {
    let mut record = ActionRecord::new("session".into(), action(), ActionState::Resolving);
    record.effects = Some(effects().summary());
    record.lease = Some(LeaseRecord::new("vm/1".to_owned(), at(2), Decision::Apply));
    record.last_error = Some("no".to_owned());
    let call = CallRecord::new(
        "call".into(),
        "rename",
        Json::of_own(&json!({})),
        content(),
        at(0),
    );
    let unreadable = [UnreadableAction::new(
        "id".into(),
        "session".into(),
        "damaged".to_owned(),
    )];
    let failure = failure();
    let list = PendingList {
        pending: vec![Entry::new(&record).with_call(Some(&call))],
        rest: PendingRest {
            error: Some(failure.object()),
            unreadable: unreadable.iter().map(Unreadable::new).collect(),
        },
    };
    examples.add("pending", &list);

    let asked = Resolution::apply("good");
    let denial = |number, denied_by| {
        let denial = Denial::new(&asked, Actor::Model.into(), denied_by, "a rule");
        DenialRecord::new(number, at(3), denial)
    };
    let person = Actor::person("ann").with_evidence(Evidence::Client);
    let denials = [
        denial(3, DeniedBy::Person(person.clone())),
        denial(4, DeniedBy::Rule),
    ];
    let (stale, effects) = ([StaleFile::new("a", Staleness::Changed)], effects());
    let shown = Record::new(&record)
        .with_call(Some(&call))
        .with_denials(&denials)
        .with_effects(Some(&effects))
        .with_stale(&stale);
    examples.add("show", &shown);

    let mut resolution = ResolvedRecord::new(Decision::Discard, at(4), person);
    resolution.extra = Some(extra());
    resolution.result = Some(digest());
    resolution.error = Some("no".to_owned());
    resolution.part = Some(part());
    record.resolved = Some(resolution);
    record.lease = None;
    let [denied, _] = denials.map(|it| DeniedAction::new(record.clone(), it));
    let log = Log {
        log: vec![
            LogEntry::Decision(Box::new(LoggedDecision::new(&record, true, Some("id")))),
            LogEntry::Denial(Box::new(DeniedEntry::new(&denied))),
        ],
    };
    examples.add("log", &log);
}
