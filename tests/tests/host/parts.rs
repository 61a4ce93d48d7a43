//! A decision about a part of the reviewed effects applies this part and nothing else.

use std::collections::BTreeSet;
use std::fs;

use airlock_host::effects::{Choice, Effects, Selection, needs};
use airlock_host::pending::{ActionId, Decision};
use airlock_host::{Error, Resolution};
use airlock_tests::{Puppet, durable, push};
use serde_json::{Value, json};

use crate::rehearsing::{files, puppet, step, to, write};

const OLD: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
const NEW: &str = "one\n2\n3\n4\n5\n6\n7\n8\n9\nten\n";

/// Leaves an action pending, in a folder with a file of lines.
async fn pushed(steps: Value) -> (Puppet, ActionId, Effects) {
    let puppet = puppet().await;
    fs::write(puppet.workspace().join("lines"), OLD).unwrap();
    let id: ActionId = puppet.push(durable("It", steps)).await.into();
    let effects = puppet.session.effects(&id).await.unwrap().unwrap();
    (puppet, id, effects)
}

fn at(effects: &Effects, path: &str) -> usize {
    let found = effects
        .changes
        .iter()
        .position(|change| change.path == path);
    found.unwrap_or_else(|| panic!("{path} in {effects:#?}"))
}

fn all() -> Value {
    json!([
        write("lines", NEW),
        step("mkdir", "new"),
        write("new/x", "x\n"),
        to("rename", "a.txt", "new/a.txt"),
        step("unlink", "b.txt"),
    ])
}

fn decided(effects: &Effects, selection: Selection) -> Resolution {
    let apply = Resolution::apply("a part").with_review(effects.digest());
    apply.with_selection(selection)
}

#[tokio::test]
async fn what_is_selected_is_applied_and_the_model_is_told_of_the_rest() {
    let (puppet, id, effects) = pushed(all()).await;
    let mut expected = files(puppet.workspace());
    let mut selection = Selection::new();
    selection.choose(at(&effects, "lines"), Choice::Hunks(BTreeSet::from([1])));
    selection.leave_out([at(&effects, "b.txt"), at(&effects, "new/x")]);
    let outcome = puppet
        .resolve(decided(&effects, selection).with_id(id))
        .await;
    let outcome = outcome.unwrap();

    expected.insert("lines".to_owned(), OLD.replace("10", "ten"));
    expected.insert("new/".to_owned(), String::new());
    let moved = expected.remove("a.txt").unwrap();
    expected.insert("new/a.txt".to_owned(), moved);
    assert_eq!(files(puppet.workspace()), expected);

    let text = airlock_host::content::CallOutcome::from(outcome)
        .for_model()
        .host;
    let expected = "Only a part of the reviewed changes was made:\n\
        - not deleted b.txt\n\
        - lines without hunk 1 of 2 (at line 1 of the file before the change)\n\
        - not created new/x";
    let mut lines: Vec<&str> = expected.lines().collect();
    lines.sort_unstable();
    let (_, told) = text.split_once(". Only").expect(&text);
    let told = format!("Only{told}");
    let mut told: Vec<&str> = told.lines().collect();
    told.sort_unstable();
    assert_eq!(told, lines);
}

#[tokio::test]
async fn the_rest_that_is_kept_is_verified_and_applied_by_itself_and_completes_the_whole() {
    let whole = {
        let (puppet, id, effects) = pushed(all()).await;
        let apply = Resolution::apply("all").with_review(effects.digest());
        puppet.resolve(apply.with_id(id)).await.unwrap();
        files(puppet.workspace())
    };
    let check = async |choose: &dyn Fn(&Effects, &mut Selection), left: usize| {
        let (puppet, id, effects) = pushed(all()).await;
        let mut selection = Selection::new();
        choose(&effects, &mut selection);
        let part = decided(&effects, selection).with_id(id).keeping_rest();
        let outcome = puppet.resolve(part).await.unwrap();
        let rest = outcome.rest.unwrap().unwrap();
        assert_eq!(rest.label, "Rest of: It");
        let shown = puppet.session.effects(&rest.id).await.unwrap().unwrap();
        assert!(shown.verified);
        assert_eq!(shown.changes.len(), left, "{shown:#?}");
        assert_ne!(files(puppet.workspace()), whole);
        let apply = Resolution::apply("the rest").with_review(shown.digest());
        puppet.resolve(apply.with_id(rest.id)).await.unwrap();
        assert_eq!(files(puppet.workspace()), whole);
    };
    let hunk = |at| Choice::Hunks(BTreeSet::from([at]));
    check(&|it, part| part.choose(at(it, "lines"), hunk(0)), 1).await;
    check(&|it, part| part.leave_out([at(it, "b.txt")]), 1).await;
    let folder = |it: &Effects, part: &mut Selection| {
        part.leave_out([at(it, "new"), at(it, "new/x"), at(it, "new/a.txt")]);
        part.choose(at(it, "lines"), hunk(1));
    };
    check(&folder, 4).await;
    check(
        &|it, part| part.leave_out([at(it, "new/a.txt"), at(it, "lines")]),
        2,
    )
    .await;
}

#[tokio::test]
async fn the_rest_is_stale_after_its_files_have_changed() {
    let (puppet, id, effects) = pushed(all()).await;
    let mut selection = Selection::new();
    selection.leave_out([at(&effects, "lines")]);
    let part = decided(&effects, selection).with_id(id).keeping_rest();
    let outcome = puppet.resolve(part).await.unwrap();
    let rest = outcome.rest.unwrap().unwrap();
    fs::write(puppet.workspace().join("lines"), "other\n").unwrap();
    let apply = Resolution::apply("the rest").with_id(rest.id);
    let error = puppet.resolve(apply).await.unwrap_err();
    assert!(matches!(error, Error::Stale { .. }), "{error}");
}

#[tokio::test]
async fn a_text_that_a_person_wrote_is_applied_and_recorded() {
    let (puppet, id, effects) = pushed(all()).await;
    let mut selection = Selection::new();
    let mine = OLD.replace("5\n", "mine\n");
    selection.choose(at(&effects, "lines"), Choice::Text(mine.clone()));
    let outcome = puppet
        .resolve(decided(&effects, selection).with_id(id))
        .await
        .unwrap();
    let found = fs::read_to_string(puppet.workspace().join("lines")).unwrap();
    assert_eq!(found, mine);
    let part = outcome.details.part.unwrap();
    assert_eq!(part.edited[0].path, "lines");
    assert!(part.edited[0].diff.contains("-5\n+mine\n"), "{part:#?}");
}

#[tokio::test]
async fn a_part_that_makes_no_sense_or_is_of_another_review_changes_nothing() {
    let check = async |choose: &dyn Fn(&Effects, &mut Selection), kind: &str, says: &str| {
        let (puppet, id, effects) = pushed(all()).await;
        let before = files(puppet.workspace());
        let mut selection = Selection::new();
        choose(&effects, &mut selection);
        let error = puppet
            .resolve(decided(&effects, selection).with_id(id))
            .await;
        let error = error.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(files(puppet.workspace()), before);
        assert_eq!(puppet.session.pending().await.unwrap().len(), 1);
    };
    let params = "invalid-params";
    check(
        &|it, selection| selection.leave_out([at(it, "new")]),
        params,
        "needs another change",
    )
    .await;
    check(
        &|it, selection| selection.leave_out(0..it.changes.len()),
        params,
        "nothing of it is selected",
    )
    .await;
    check(
        &|_, selection| selection.leave_out([99]),
        params,
        "fewer changes",
    )
    .await;
    let hunk = |path: &'static str, hunk| {
        move |it: &Effects, selection: &mut Selection| {
            selection.choose(at(it, path), Choice::Hunks(BTreeSet::from([hunk])));
        }
    };
    check(&hunk("lines", 2), params, "can only be applied whole").await;
    check(&hunk("b.txt", 0), params, "can only be applied whole").await;
    let text = |it: &Effects, selection: &mut Selection| {
        selection.choose(at(it, "new"), Choice::Text(String::new()));
    };
    check(&text, params, "can only be applied whole").await;

    // Without the review it is about, and about another one.
    let (puppet, id, effects) = pushed(all()).await;
    let mut selection = Selection::new();
    selection.leave_out([at(&effects, "b.txt")]);
    let unnamed = Resolution::apply("r")
        .with_selection(selection.clone())
        .with_id(id.clone());
    let error = puppet.resolve(unnamed).await.unwrap_err();
    assert!(error.to_string().contains("which review"), "{error}");
    let other = decided(&Effects::default(), selection).with_id(id);
    let error = puppet.resolve(other).await.unwrap_err();
    assert!(matches!(error, Error::NotReviewed { .. }), "{error:?}");
}

#[tokio::test]
async fn an_apply_that_differs_from_the_review_is_refused_as_a_whole() {
    let steps =
        json!([{"do": "resolution"}, {"do": "write-said", "path": "why.txt"}, write("z", "z")]);
    let (puppet, id, effects) = pushed(steps).await;
    let before = files(puppet.workspace());
    let mut selection = Selection::new();
    selection.leave_out([at(&effects, "why.txt")]);
    let error = puppet
        .resolve(decided(&effects, selection).with_id(id))
        .await;
    assert_eq!(error.unwrap_err().kind(), "different");
    assert_eq!(files(puppet.workspace()), before);
}

#[tokio::test]
async fn an_action_that_was_not_verified_is_applied_whole_or_not_at_all() {
    let puppet = puppet().await;
    let steps = json!([write("x", "x"), write("y", "y")]);
    let volatile = json!({"volatile": true, "apply": steps});
    let id: ActionId = puppet.push(push("It", volatile)).await.into();
    let mut selection = Selection::new();
    selection.leave_out([0]);
    let error = puppet
        .resolve(decided(&Effects::default(), selection).with_id(id))
        .await;
    let error = error.unwrap_err();
    assert!(error.to_string().contains("has not seen"), "{error}");
    assert!(!puppet.workspace().join("y").exists());
}

#[tokio::test]
async fn a_front_door_knows_what_each_change_needs_before_it_asks() {
    let (puppet, id, effects) = pushed(all()).await;
    let needs = needs(&effects);
    let named = |found: BTreeSet<usize>| -> Vec<&str> {
        found.iter().map(|at| &*effects.changes[*at].path).collect()
    };
    assert_eq!(
        named(needs.with_needed([at(&effects, "new/x")])),
        ["new", "new/x"]
    );
    let dependent = needs.with_dependent([at(&effects, "new")]);
    assert_eq!(named(dependent.clone()), ["new", "new/a.txt", "new/x"]);
    let review = puppet.session.review(&id).await.unwrap().unwrap();
    let mut selection = Selection::new();
    selection.leave_out(dependent);
    let apply = review
        .decided(Decision::Apply, "")
        .with_selection(selection);
    puppet.resolve(apply).await.unwrap();
    assert!(!puppet.workspace().join("new").exists());
    assert!(!puppet.workspace().join("b.txt").exists());
}
