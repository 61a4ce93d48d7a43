//! The state that an earlier attempt at the same plan has left.
//!
//! In a chain, the names that exist show how far it came. In a cycle every name exists before as
//! well as after, so the sizes and times of its files are compared too. If these don't show it
//! either, the plan is not applied.

use std::collections::{HashMap, HashSet};

use airlock_tool::Error;

use crate::name::shown;
use crate::nesting;
use crate::order::{Order, Temporary};
use crate::plan::{Plan, Rename};
use crate::report;
use crate::workspace::{Stamp, Workspace};

/// The progress of an earlier attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Earlier {
    /// The attempt renamed nothing, or everything has its old name again.
    Nothing,
    /// The attempt renamed every file.
    Complete,
}

/// Checks how far an earlier attempt came.
///
/// # Errors
/// Returns an error if the attempt stopped halfway, or if it can't be decided whether it did
/// everything or nothing.
pub(crate) fn look(workspace: &Workspace, plan: &Plan, order: &Order) -> Result<Earlier, Error> {
    let now = Now::read(workspace, plan)?;
    let levels = nesting::levels(&plan.renames);
    // The last level is checked first: if it is unchanged, so are the paths below it.
    for (above, level) in levels.iter().rev().enumerate() {
        match look_at_level(workspace, plan, order, &now, level)? {
            Earlier::Nothing => {}
            Earlier::Complete if above == 0 => {
                return complete(workspace, plan).map(|()| Earlier::Complete);
            }
            Earlier::Complete => return Err(halfway(&traces(plan, &now, level))),
        }
    }
    Ok(Earlier::Nothing)
}

/// Returns an error if something in a renamed directory doesn't have its new name, although the
/// outermost directories have theirs.
fn complete(workspace: &Workspace, plan: &Plan) -> Result<(), Error> {
    let mut missing = Vec::new();
    for Rename { from, to } in nesting::arrived(&plan.renames) {
        if workspace.stamp(&to)?.is_none() {
            missing.push(format!("`{}` is not `{}`", shown(&from), shown(&to)));
        }
    }
    match missing.is_empty() {
        true => Ok(()),
        false => Err(halfway(&missing)),
    }
}

/// Describes the renames that are certainly done.
fn traces(plan: &Plan, now: &Now<'_>, renames: &[usize]) -> Vec<String> {
    let renames = renames.iter().map(|it| &plan.renames[*it]);
    renames
        .filter(|rename| now.exists(&rename.to) && !now.exists(&rename.from))
        .map(|Rename { from, to }| format!("`{}` is `{}` already", shown(from), shown(to)))
        .collect()
}

fn look_at_level(
    workspace: &Workspace,
    plan: &Plan,
    order: &Order,
    now: &Now<'_>,
    level: &[usize],
) -> Result<Earlier, Error> {
    let level: HashSet<usize> = level.iter().copied().collect();
    let cyclic: Vec<usize> = (order.cyclic.iter().copied())
        .filter(|it| level.contains(it))
        .collect();
    let in_cycles: HashSet<usize> = cyclic.iter().copied().collect();
    let mut others: Vec<_> = level.difference(&in_cycles).copied().collect();
    others.sort_unstable();
    let chained: Vec<_> = others.iter().map(|it| &plan.renames[*it]).collect();

    let arriving: HashSet<&str> = chained.iter().map(|rename| rename.to.as_str()).collect();
    let is_renamed = |rename: &&Rename| {
        let old_name_is_free = arriving.contains(rename.from.as_str()) || !now.exists(&rename.from);
        now.exists(&rename.to) && old_name_is_free
    };
    let all_renamed = chained.iter().all(is_renamed);
    let mut traces = traces(plan, now, &others);
    let temporaries = order.temporaries.iter();
    for Temporary { rename, path } in temporaries.filter(|it| level.contains(&it.rename)) {
        if workspace.stamp(path)?.is_some() {
            let Rename { from, to } = &plan.renames[*rename];
            traces.push(format!(
                "`{}` is left over: it was `{}`, to become `{}`",
                shown(path),
                shown(from),
                shown(to)
            ));
            return Err(halfway(&traces));
        }
    }

    let cycles = cycles_of(&cyclic, order);
    let states: Vec<_> = cycles.iter().map(|it| cycle(plan, now, it)).collect();
    let is_any = |state| states.contains(&Some(state));
    match (chained.is_empty(), cycles.is_empty()) {
        (_, true) if all_renamed => Ok(Earlier::Complete),
        // Chains come first: while one is not done, no cycle has begun.
        (false, _) if traces.is_empty() => Ok(Earlier::Nothing),
        (false, _) if !all_renamed => Err(halfway(&traces)),
        // The cycles are renamed one after the other.
        _ if states.last() == Some(&Some(Earlier::Complete)) && !is_any(Earlier::Nothing) => {
            Ok(Earlier::Complete)
        }
        (true, _) if states[0] == Some(Earlier::Nothing) && !is_any(Earlier::Complete) => {
            Ok(Earlier::Nothing)
        }
        (false, _) if is_any(Earlier::Nothing) => Err(halfway(&traces)),
        _ => Err(undecidable(cyclic.iter().map(|it| &plan.renames[*it]))),
    }
}

/// Returns the cycles, in the order in which they are renamed.
fn cycles_of<'a>(cyclic: &'a [usize], order: &Order) -> Vec<&'a [usize]> {
    let firsts: HashSet<usize> = order.temporaries.iter().map(|it| it.rename).collect();
    cyclic.chunk_by(|_, next| !firsts.contains(next)).collect()
}

/// Returns the progress of a cycle, or `None` if that can't be decided: its names exist before as
/// well as after.
fn cycle(plan: &Plan, now: &Now<'_>, renames: &[usize]) -> Option<Earlier> {
    let as_before = |it: &usize| now.is(&plan.renames[*it].from, &plan.stamps[*it]);
    let as_planned = |it: &usize| now.is(&plan.renames[*it].to, &plan.stamps[*it]);
    match (
        renames.iter().all(as_before),
        renames.iter().all(as_planned),
    ) {
        (true, false) => Some(Earlier::Nothing),
        (false, true) => Some(Earlier::Complete),
        _ => None,
    }
}

/// The files that exist at the paths of a plan.
struct Now<'a>(HashMap<&'a str, Stamp>);

impl<'a> Now<'a> {
    fn read(workspace: &Workspace, plan: &'a Plan) -> Result<Self, Error> {
        let mut found = HashMap::new();
        for path in plan
            .renames
            .iter()
            .flat_map(|rename| [&rename.from, &rename.to])
        {
            if let Some(stamp) = workspace.stamp(path)? {
                found.insert(path.as_str(), stamp);
            }
        }
        Ok(Self(found))
    }

    fn exists(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    fn is(&self, path: &str, stamp: &Stamp) -> bool {
        self.0.get(path) == Some(stamp)
    }
}

fn halfway(traces: &[String]) -> Error {
    let heading =
        "Nothing was renamed now, because an earlier attempt at this plan stopped halfway:";
    let advice =
        "Discard this plan, give left-over files a name, and preview again for what is missing.";
    Error::tool(format!("{}\n{advice}", report::problems(heading, traces)))
}

fn undecidable<'a>(renames: impl Iterator<Item = &'a Rename>) -> Error {
    let heading =
        "Nothing was renamed now, because an earlier attempt may have swapped these names already:";
    let swaps: Vec<_> = renames
        .map(|Rename { from, to }| format!("`{}` to `{}`", shown(from), shown(to)))
        .collect();
    let advice = "Discard this plan, look into the files, and preview again if they still have their old names.";
    Error::tool(format!("{}\n{advice}", report::problems(heading, &swaps)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;
    use crate::nesting::tests::{TREE, renames_of_all};
    use crate::plan::tests::renames;
    use crate::workspace::tests::Sandbox;

    /// A plan over real files, written as `a>b b>c`.
    fn plan(sandbox: &Sandbox, text: &str) -> Plan {
        Plan::of(&sandbox.workspace(), &renames(text)).unwrap()
    }

    /// What is found after some of the plan's steps, each file having a size of its own.
    fn after(files: &[&str], text: &str, steps: usize) -> Result<Earlier, Error> {
        let sandbox = Sandbox::with(files);
        for (index, file) in files.iter().enumerate() {
            fs::write(sandbox.path(file), "x".repeat(index)).unwrap();
        }
        let plan = plan(&sandbox, text);
        let order = Order::of(&plan.renames, "7");
        for step in &order.steps[..steps] {
            sandbox.workspace().rename(&step.from, &step.to).unwrap();
        }
        look(&sandbox.workspace(), &plan, &order)
    }

    #[test]
    fn each_state_of_a_plan_is_told_from_the_others() {
        let check = |files, text, total: usize| {
            assert_eq!(after(files, text, 0), Ok(Earlier::Nothing), "{text}");
            for steps in 1..total {
                let refused = after(files, text, steps).unwrap_err().to_string();
                assert!(
                    refused.contains("stopped halfway"),
                    "{text} after {steps}: {refused}"
                );
            }
            assert_eq!(after(files, text, total), Ok(Earlier::Complete), "{text}");
        };
        check(&["a"], "a>b", 1);
        check(&["a", "b", "c"], "a>b b>c c>d", 3);
        check(&["a", "b"], "a>b b>a", 3);
        check(&["a", "b", "c"], "a>b b>c c>a", 4);
        check(&["a", "b", "c", "d"], "a>b b>a c>d d>e", 5);
        check(&["a/x", "a/b/y"], "a>c a/x>a/z a/b>a/d a/b/y>a/b/z", 4);
        check(&["a/x", "a/y", "b"], "a/x>a/y a/y>a/x a>c b>a", 5);
        check(
            &["a/x", "a/y", "b", "c/x/y"],
            "a/y>a/z a>b b>c c>d c/x>c/y",
            5,
        );
    }

    #[test]
    fn leftovers_are_named() {
        let refused = after(&["a", "b"], "a>b b>a", 1).unwrap_err();
        let expected = "Nothing was renamed now, because an earlier attempt at this plan stopped halfway:\n\
            - `.batch-rename-7-1` is left over: it was `a`, to become `b`\n\
            Discard this plan, give left-over files a name, and preview again for what is missing.";
        assert_eq!(refused, Error::tool(expected));
    }

    #[test]
    fn files_that_look_alike_are_not_swapped_again() {
        let sandbox = Sandbox::with(&["a", "b"]);
        let mut plan = plan(&sandbox, "a>b b>a");
        plan.stamps[1] = plan.stamps[0].clone();
        fs::remove_file(sandbox.path("b")).unwrap();
        fs::hard_link(sandbox.path("a"), sandbox.path("b")).unwrap();
        let refused =
            look(&sandbox.workspace(), &plan, &Order::of(&plan.renames, "7")).unwrap_err();
        assert!(
            refused.to_string().contains("may have swapped"),
            "{refused}"
        );
    }

    #[test]
    fn a_swap_that_can_not_be_told_is_not_repeated_because_another_can() {
        let sandbox = Sandbox::with(&["a", "b", "c", "d"]);
        fs::write(sandbox.path("c"), "longer").unwrap();
        let mut plan = plan(&sandbox, "a>b b>a c>d d>c");
        plan.stamps[1] = plan.stamps[0].clone();
        fs::remove_file(sandbox.path("b")).unwrap();
        fs::hard_link(sandbox.path("a"), sandbox.path("b")).unwrap();
        let order = Order::of(&plan.renames, "7");
        // It can't be seen whether the first swap was done; the second was not.
        let refused = look(&sandbox.workspace(), &plan, &order).unwrap_err();
        assert!(
            refused.to_string().contains("may have swapped"),
            "{refused}"
        );
    }

    #[test]
    fn a_target_that_appeared_is_no_trace() {
        let sandbox = Sandbox::with(&["a"]);
        let plan = plan(&sandbox, "a>b");
        fs::write(sandbox.path("b"), "new").unwrap();
        let order = Order::of(&plan.renames, "7");
        assert_eq!(
            look(&sandbox.workspace(), &plan, &order),
            Ok(Earlier::Nothing)
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

        /// A wrong answer would rename twice, or claim what never happened.
        #[test]
        fn no_state_of_any_tree_is_taken_for_another(
            files in prop::collection::btree_set(TREE, 1..8),
            shift in 1..3usize,
            to_new in any::<bool>(),
        ) {
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            let sandbox = Sandbox::with(&files);
            for (size, file) in files.iter().enumerate() {
                fs::write(sandbox.path(file), "x".repeat(size)).unwrap();
            }
            let all = renames_of_all(&files, shift, to_new);
            let plan = Plan::of(&sandbox.workspace(), &all).unwrap();
            let order = Order::of(&plan.renames, "7");
            for done in 0..=order.steps.len() {
                if done > 0 {
                    let step = &order.steps[done - 1];
                    sandbox.workspace().rename(&step.from, &step.to).unwrap();
                }
                match look(&sandbox.workspace(), &plan, &order) {
                    Ok(Earlier::Nothing) => prop_assert_eq!(done, 0),
                    Ok(Earlier::Complete) => prop_assert_eq!(done, order.steps.len()),
                    Err(_) => {}
                }
            }
        }
    }
}
