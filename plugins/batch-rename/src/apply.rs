//! Applies a plan: all of it, or nothing.

use std::collections::HashSet;

use airlock_tool::{Error, Resolution, check_cancelled, report_progress_of};

use crate::earlier::{self, Earlier};
use crate::name::shown;
use crate::order::{Order, Step};
use crate::plan::{Plan, Rename};
use crate::report;
use crate::workspace::Workspace;

/// The outcome of a successful apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Renamed,
    /// The files were renamed by an earlier attempt, whose end the host did not see.
    AlreadyRenamed,
}

/// Carries out a plan.
pub(crate) fn apply(
    workspace: &Workspace,
    plan: &Plan,
    resolution: &Resolution,
) -> Result<Outcome, Error> {
    let order = Order::of(&plan.renames, &resolution.action_id);
    if resolution.attempt > 1 && earlier::look(workspace, plan, &order)? == Earlier::Complete {
        return Ok(Outcome::AlreadyRenamed);
    }
    check_unchanged(workspace, plan, &order)?;
    run(workspace, &plan.renames, &order.steps)?;
    Ok(Outcome::Renamed)
}

/// Returns an error if the plan no longer fits the workspace. The contents of files may have
/// changed.
fn check_unchanged(workspace: &Workspace, plan: &Plan, order: &Order) -> Result<(), Error> {
    let mut problems = Vec::new();
    let leaving: HashSet<&str> = plan
        .renames
        .iter()
        .map(|rename| rename.from.as_str())
        .collect();
    for (Rename { from, to }, before) in plan.renames.iter().zip(&plan.stamps) {
        match workspace.stamp(from)? {
            None => problems.push(format!("`{}` is gone", shown(from))),
            Some(now) if now.kind != before.kind => {
                problems.push(format!(
                    "`{}` was {} and is {} now",
                    shown(from),
                    before.kind,
                    now.kind
                ));
            }
            Some(_) => {}
        }
        if !leaving.contains(to.as_str()) && workspace.is_taken(from, to)? {
            problems.push(format!(
                "`{}` has appeared, which `{}` would overwrite",
                shown(to),
                shown(from)
            ));
        }
    }
    for temporary in &order.temporaries {
        if workspace.stamp(&temporary.path)?.is_some() {
            problems.push(format!("`{}` is in the way", shown(&temporary.path)));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    let heading = "Nothing was renamed, because the workspace changed since the preview:";
    let advice = "Discard this plan, and preview again.";
    Err(Error::tool(format!(
        "{}\n{advice}",
        report::problems(heading, &problems)
    )))
}

/// Carries out the steps, and undoes them if one fails.
fn run(workspace: &Workspace, renames: &[Rename], steps: &[Step]) -> Result<(), Error> {
    for (done, Step { from, to, .. }) in steps.iter().enumerate() {
        if done % 100 == 0 {
            report_progress_of("Renaming", done as f64, steps.len() as f64);
        }
        if let Err(error) = check_cancelled().and_then(|()| workspace.rename(from, to)) {
            return Err(undo(workspace, renames, &steps[..done], error));
        }
    }
    Ok(())
}

/// Undoes the steps that are `done`. Returns an error that says which names the files have.
fn undo(workspace: &Workspace, renames: &[Rename], done: &[Step], cause: Error) -> Error {
    let mut stuck = Vec::new();
    let mut moved = HashSet::new();
    for Step { rename, from, to } in done.iter().rev() {
        // If a file's later step can't be undone, the file is not at the path that this step would
        // undo.
        if moved.contains(rename) {
            continue;
        }
        if let Err(error) = workspace.rename(to, from) {
            moved.insert(rename);
            stuck.push(format!(
                "`{}` is now `{}` ({error})",
                shown(&renames[*rename].from),
                shown(to)
            ));
        }
    }
    match (stuck.as_slice(), cause) {
        ([], Error::Cancelled) => Error::Cancelled,
        ([], cause) => Error::failed(format!("{cause}. Every file has its old name again.")),
        (stuck, cause) => {
            let heading = format!(
                "{cause}. The other files have their old names again, but not all could be renamed back:"
            );
            Error::failed(report::problems(&heading, stuck))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;
    use crate::nesting::{
        self,
        tests::{TREE, renames_of_all},
    };
    use crate::plan::tests::renames;
    use crate::workspace::tests::Sandbox;

    fn plan(sandbox: &Sandbox, renames: &[(&str, &str)]) -> Plan {
        let rename = |&(from, to): &(&str, &str)| Rename {
            from: from.into(),
            to: to.into(),
        };
        let renames: Vec<_> = renames.iter().map(rename).collect();
        Plan::of(&sandbox.workspace(), &renames).unwrap()
    }

    fn applied(sandbox: &Sandbox, plan: &Plan, attempt: u32) -> Result<Outcome, Error> {
        let mut resolution = Resolution::new("fine");
        resolution.attempt = attempt;
        apply(&sandbox.workspace(), plan, &resolution)
    }

    #[test]
    fn every_file_gets_its_new_name() {
        let check = |files: &[&str], renames, expected: &[&str]| {
            let sandbox = Sandbox::with(files);
            let plan = plan(&sandbox, renames);
            assert_eq!(applied(&sandbox, &plan, 1), Ok(Outcome::Renamed));
            assert_eq!(sandbox.files(), expected);
        };
        check(&["a", "b"], &[("a", "c")], &["b:b", "c:a"]);
        check(&["a", "b"], &[("a", "b"), ("b", "a")], &["a:b", "b:a"]);
        check(&["a", "b"], &[("a", "b"), ("b", "c")], &["b:a", "c:b"]);
        check(
            &["a", "b", "c"],
            &[("a", "b"), ("b", "c"), ("c", "a")],
            &["a:c", "b:a", "c:b"],
        );
        check(&["a"], &[("a", "A")], &["A:a"]);
    }

    #[test]
    fn a_plan_that_no_longer_fits_renames_nothing() {
        let check = |change: fn(&Sandbox), problem: &str, expected: &[&str]| {
            let sandbox = Sandbox::with(&["a", "b"]);
            let plan = plan(&sandbox, &[("a", "x"), ("b", "y")]);
            change(&sandbox);
            for attempt in [1, 2] {
                let refused = applied(&sandbox, &plan, attempt);
                let message = format!(
                    "Nothing was renamed, because the workspace changed since the preview:\n- {problem}\n\
                     Discard this plan, and preview again."
                );
                assert_eq!(refused, Err(Error::tool(message)));
                assert_eq!(sandbox.files(), expected);
            }
        };
        check(
            |it| fs::write(it.path("y"), "new").unwrap(),
            "`y` has appeared, which `b` would overwrite",
            &["a:a", "b:b", "y:new"],
        );
        check(
            |it| fs::remove_file(it.path("b")).unwrap(),
            "`b` is gone",
            &["a:a"],
        );
        let to_link = |it: &Sandbox| {
            fs::remove_file(it.path("b")).unwrap();
            it.link("a", "b");
        };
        check(
            to_link,
            "`b` was a file and is a symbolic link now",
            &["a:a", "b:a"],
        );
    }

    #[test]
    fn what_a_file_contains_may_have_changed() {
        let sandbox = Sandbox::with(&["a"]);
        let plan = plan(&sandbox, &[("a", "b")]);
        fs::write(sandbox.path("a"), "edited").unwrap();
        assert_eq!(applied(&sandbox, &plan, 1), Ok(Outcome::Renamed));
        assert_eq!(sandbox.files(), ["b:edited"]);
    }

    #[test]
    fn an_apply_that_was_complete_is_not_repeated() {
        let sandbox = Sandbox::with(&["a", "bb"]);
        let plan = plan(&sandbox, &[("a", "bb"), ("bb", "a")]);
        assert_eq!(applied(&sandbox, &plan, 1), Ok(Outcome::Renamed));
        assert_eq!(applied(&sandbox, &plan, 2), Ok(Outcome::AlreadyRenamed));
        assert_eq!(sandbox.files(), ["a:bb", "bb:a"]);
    }

    #[test]
    fn a_step_that_fails_takes_the_others_back() {
        let sandbox = Sandbox::with(&["a", "b", "blocker"]);
        let plan = plan(&sandbox, &[("a", "x"), ("b", "y")]);
        let mut steps = Order::of(&plan.renames, "7").steps;
        steps[1].to = "blocker".into();
        let refused = run(&sandbox.workspace(), &plan.renames, &steps);
        let message =
            "renaming `b` to `blocker`: the new name is taken. Every file has its old name again.";
        assert_eq!(refused, Err(Error::failed(message)));
        assert_eq!(sandbox.files(), ["a:a", "b:b", "blocker:blocker"]);
    }

    #[test]
    fn what_can_not_be_taken_back_is_told() {
        let sandbox = Sandbox::with(&["x", "a"]);
        // As if `a` had become `x`, and another `a` had appeared.
        let done = [Step {
            rename: 0,
            from: "a".into(),
            to: "x".into(),
        }];
        let renames = [Rename {
            from: "a".into(),
            to: "x".into(),
        }];
        let error = undo(
            &sandbox.workspace(),
            &renames,
            &done,
            Error::failed("disk full"),
        );
        let message = "disk full. The other files have their old names again, but not all could be renamed back:\n\
            - `a` is now `x` (renaming `x` to `a`: the new name is taken)";
        assert_eq!(error, Error::failed(message));
    }

    #[test]
    fn directories_move_with_what_is_in_them() {
        let check = |files: &[&str], text: &str, expected: &[&str]| {
            let sandbox = Sandbox::with(files);
            let plan = Plan::of(&sandbox.workspace(), &renames(text)).unwrap();
            assert_eq!(applied(&sandbox, &plan, 1), Ok(Outcome::Renamed));
            assert_eq!(sandbox.tree(), expected, "{text}");
            for Rename { to, .. } in nesting::arrived(&plan.renames) {
                assert!(sandbox.path(&to).exists(), "{to}");
            }
        };
        check(&["a/x", "a/b/y"], "a>c", &["c/b/y:a/b/y", "c/x:a/x"]);
        check(&["a/x"], "a>b a/x>a/y", &["b/y:a/x"]);
        check(&["a/a/a"], "a>b a/a>a/b a/a/a>a/a/b", &["b/b/b:a/a/a"]);
        // Their names are swapped, and so are those in one of them.
        check(
            &["a/x", "a/y", "b/x"],
            "a>b b>a a/x>a/y a/y>a/x",
            &["a/x:b/x", "b/x:a/y", "b/y:a/x"],
        );
        // A file takes the name that a directory had.
        check(&["a/x", "f"], "a>b f>a", &["a:f", "b/x:a/x"]);
        check(&["a/x"], "a>A", &["A/x:a/x"]);
    }

    #[test]
    fn a_step_that_fails_takes_directories_back() {
        let sandbox = Sandbox::with(&["a/x", "blocker/y"]);
        let renames = renames("a>b a/x>a/y");
        let mut steps = Order::of(&renames, "7").steps;
        assert_eq!(steps[1].from, "a");
        steps[1].to = "blocker".into();
        let refused = run(&sandbox.workspace(), &renames, &steps);
        let message =
            "renaming `a` to `blocker`: the new name is taken. Every file has its old name again.";
        assert_eq!(refused, Err(Error::failed(message)));
        assert_eq!(sandbox.tree(), ["a/x:a/x", "blocker/y:blocker/y"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

        #[test]
        fn every_file_of_any_tree_arrives(
            files in prop::collection::btree_set(TREE, 1..12),
            shift in 0..3usize,
            to_new in any::<bool>(),
        ) {
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            let sandbox = Sandbox::with(&files);
            let all = renames_of_all(&files, shift, to_new);
            let arrived = |file: &str| {
                let mut renames = all.clone();
                // What keeps its own name moves along with its directory.
                if !all.iter().any(|it| it.from == file) {
                    renames.push(Rename { from: file.into(), to: file.into() });
                }
                let arrived = nesting::arrived(&renames);
                arrived.into_iter().find(|it| it.from == file).unwrap().to
            };
            let mut expected: Vec<_> =
                files.iter().map(|file| format!("{}:{file}", arrived(file))).collect();
            expected.sort();
            let plan = Plan::of(&sandbox.workspace(), &all).unwrap();
            prop_assert_eq!(applied(&sandbox, &plan, 1), Ok(Outcome::Renamed));
            prop_assert_eq!(sandbox.tree(), expected);
        }

        #[test]
        fn any_step_that_fails_takes_back_all_others(
            files in prop::collection::btree_set(TREE, 1..12),
            shift in 0..3usize,
            to_new in any::<bool>(),
            step: prop::sample::Index,
        ) {
            let mut files: Vec<&str> = files.iter().map(String::as_str).collect();
            let all = renames_of_all(&files, shift, to_new);
            files.push("blocker");
            let sandbox = Sandbox::with(&files);
            let before = sandbox.tree();
            let mut steps = Order::of(&all, "7").steps;
            if !steps.is_empty() {
                let step = step.index(steps.len());
                steps[step].to = "blocker".into();
                let refused = run(&sandbox.workspace(), &all, &steps).unwrap_err().to_string();
                prop_assert!(refused.contains("the new name is taken"), "{}", refused);
                prop_assert!(refused.ends_with("old name again."), "{}", refused);
            }
            prop_assert_eq!(sandbox.tree(), before);
        }
    }
}
