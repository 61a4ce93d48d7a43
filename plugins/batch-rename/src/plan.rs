//! Plans the renames, and refuses those that would overwrite or lose a file.

use std::collections::{BTreeSet, HashMap, HashSet};

use airlock_tool::Error;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kept::Kept;
use crate::name::{self, shown};
use crate::report;
use crate::rule::Rule;
use crate::workspace::{Stamp, Workspace, join, split};

/// The old and new path of a file, relative to the workspace.
// In a plan both are in the same directory, which still has its old name: see `nesting`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Rename {
    pub(crate) from: String,
    pub(crate) to: String,
}

/// The plan that is kept until a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Kept", try_from = "Kept")]
pub(crate) struct Plan {
    pub(crate) renames: Vec<Rename>,
    /// The stamps of the files at each `from`, in the same order.
    pub(crate) stamps: Vec<Stamp>,
}

/// The renames that a rule asks for, and the numbers of other files.
#[derive(Debug, PartialEq)]
pub(crate) struct Planned {
    pub(crate) renames: Vec<Rename>,
    /// The number of files whose names match but don't change.
    pub(crate) unchanged: usize,
    /// The number of files whose names don't match.
    pub(crate) unmatched: usize,
}

/// The most renames of a plan: the host's limit for the changes of an apply, and for the size of a
/// plan.
const MAX_RENAMES: usize = 100_000;

/// A check that refuses too many renames while files are still being looked for, as early as
/// possible.
pub(crate) struct Limit<'a> {
    rule: &'a Rule,
    renames: usize,
}

impl<'a> Limit<'a> {
    pub(crate) fn of(rule: &'a Rule) -> Self {
        Self { rule, renames: 0 }
    }

    /// Checks the limit after `file` was added to `found`. Call it for each file.
    pub(crate) fn check(&mut self, file: &str, found: &BTreeSet<String>) -> Result<(), Error> {
        if found.len() <= MAX_RENAMES {
            return Ok(());
        }
        let is_renamed = |path: &str| {
            let (_, name) = split(path);
            self.rule.is_renamed(name)
        };
        // With fewer files, the limit can't be exceeded.
        self.renames += match found.len() == MAX_RENAMES + 1 {
            true => found.iter().filter(|path| is_renamed(path)).count(),
            false => usize::from(is_renamed(file)),
        };
        match self.renames > MAX_RENAMES {
            true => Err(too_many(&format!("more than {MAX_RENAMES}"))),
            false => Ok(()),
        }
    }
}

fn too_many(count: &str) -> Error {
    Error::tool(format!(
        "This would rename {count} files; the limit of one plan is {MAX_RENAMES}: narrow `files`, and rename the rest after."
    ))
}

impl Plan {
    pub(crate) fn of(workspace: &Workspace, renames: &[Rename]) -> Result<Self, Error> {
        let stamp = |Rename { from, .. }: &Rename| {
            let stamp = workspace.stamp(from)?;
            stamp.ok_or_else(|| {
                Error::tool(format!("`{}` disappeared during the preview.", shown(from)))
            })
        };
        let stamps = renames.iter().map(stamp).collect::<Result<_, _>>()?;
        Ok(Self {
            renames: renames.to_vec(),
            stamps,
        })
    }
}

/// Gives each of the `files` its new name. `is_taken` checks if renaming the first path to the
/// second would overwrite something; it is not called for paths that become free.
pub(crate) fn plan(
    files: &[String],
    rule: &Rule,
    is_taken: impl Fn(&str, &str) -> Result<bool, Error>,
) -> Result<Planned, Error> {
    let mut renames = Vec::new();
    let mut problems = Vec::new();
    let mut matched = 0;
    let mut unchanged = 0;
    for from in files {
        let (directory, old) = split(from);
        let new = match rule.rename(old, matched) {
            Ok(None) => continue,
            Ok(Some(new)) => new,
            Err(problem) => {
                matched += 1;
                problems.push(format!("`{}`: {problem}", shown(from)));
                continue;
            }
        };
        matched += 1;
        if new == old {
            unchanged += 1;
        } else if let Some(problem) = name::problem(&new, old) {
            problems.push(format!("`{}`: {problem}", shown(from)));
        } else {
            renames.push(Rename {
                from: from.clone(),
                to: join(directory, &new),
            });
        }
    }
    if renames.len() > MAX_RENAMES {
        return Err(too_many(&renames.len().to_string()));
    }
    collisions(&renames, is_taken, &mut problems)?;
    if problems.is_empty() {
        Ok(Planned {
            renames,
            unchanged,
            unmatched: files.len() - matched,
        })
    } else {
        Err(Error::tool(report::problems(
            "Nothing was planned, since not every file can get its new name:",
            &problems,
        )))
    }
}

fn collisions(
    renames: &[Rename],
    is_taken: impl Fn(&str, &str) -> Result<bool, Error>,
    problems: &mut Vec<String>,
) -> Result<(), Error> {
    let leaving: HashSet<&str> = renames.iter().map(|rename| rename.from.as_str()).collect();
    let mut arriving = HashMap::new();
    for Rename { from, to } in renames {
        if let Some(other) = arriving.insert(to, from) {
            problems.push(format!(
                "`{}` and `{}` would both become `{}`",
                shown(other),
                shown(from),
                shown(to)
            ));
        } else if !leaving.contains(to.as_str()) && is_taken(from, to)? {
            problems.push(format!(
                "`{}` can't become `{}`, which exists",
                shown(from),
                shown(to)
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::rule::tests::rule;

    /// Renames written as `a>b b>c`.
    pub(crate) fn renames(text: &str) -> Vec<Rename> {
        let rename = |it: &str| {
            let (from, to) = it.split_once('>').unwrap();
            Rename {
                from: from.into(),
                to: to.into(),
            }
        };
        text.split(' ')
            .filter(|it| !it.is_empty())
            .map(rename)
            .collect()
    }

    /// Plans over `files`, of which the ones behind a `!` exist but are not among the files to
    /// rename.
    fn planned(files: &[&str], find: &str, replace: &str) -> Result<Planned, Error> {
        let (others, files): (Vec<&str>, Vec<&str>) =
            files.iter().partition(|file| file.starts_with('!'));
        let files: Vec<_> = files.into_iter().map(str::to_owned).collect();
        let is_taken = |_: &str, to: &str| {
            Ok(files.iter().any(|it| it == to) || others.contains(&&*format!("!{to}")))
        };
        plan(&files, &rule(find, replace), is_taken)
    }

    #[test]
    fn each_file_gets_its_new_name() {
        let check = |files: &[&str], find, replace, expected: &[&str], left: (usize, usize)| {
            let planned = planned(files, find, replace).unwrap();
            let renames: Vec<_> = planned
                .renames
                .iter()
                .map(|it| format!("{} -> {}", it.from, it.to))
                .collect();
            assert_eq!(renames, expected);
            assert_eq!((planned.unchanged, planned.unmatched), left);
        };
        check(
            &["a.txt", "b.md"],
            "txt$",
            "text",
            &["a.txt -> a.text"],
            (0, 1),
        );
        check(&["x/x.txt"], "x", "y", &["x/x.txt -> x/y.tyt"], (0, 0));
        check(
            &["a", "b", "c"],
            "^.$",
            "{n:2}",
            &["a -> 01", "b -> 02", "c -> 03"],
            (0, 0),
        );
        // The counter counts what stays as well, or `2` would become `1`.
        check(&["1", "2", "4"], "^.$", "{n}", &["4 -> 3"], (2, 0));
        check(
            &["1/a", "2/a"],
            "a",
            "{n}",
            &["1/a -> 1/1", "2/a -> 2/2"],
            (0, 0),
        );
        check(&["a"], "^a$", "a", &[], (1, 0));
        // A directory, and a file in it.
        check(&["x", "x/x"], "x", "y", &["x -> y", "x/x -> x/y"], (0, 0));
        check(&[r"a\b"], "a", "c", &[r"a\b -> c\b"], (0, 0));
    }

    #[test]
    fn a_name_that_becomes_free_may_be_taken() {
        let planned = planned(&["1", "2", "3"], "^.$", "{n}").unwrap();
        assert_eq!(planned.unchanged, 3);
        let files: Vec<_> = ["1", "2", "3"].map(str::to_owned).into();
        let mut params = crate::rule::tests::params("^.$", "{n}");
        params.start = 2;
        let shifted = plan(&files, &Rule::new(&params).unwrap(), |_, to| Ok(to != "4")).unwrap();
        assert_eq!(shifted.renames.len(), 3);
    }

    #[test]
    fn what_would_lose_a_file_is_refused() {
        let check = |files: &[&str], find, replace, problems: &[&str]| {
            let heading =
                "Nothing was planned, since not every file can get its new name:".to_owned();
            let lines = problems.iter().map(|problem| format!("\n- {problem}"));
            let expected = heading + &lines.collect::<String>();
            assert_eq!(planned(files, find, replace), Err(Error::tool(expected)));
        };
        check(
            &["a1", "a2"],
            "[0-9]",
            "",
            &["`a1` and `a2` would both become `a`"],
        );
        check(
            &["a1", "!a"],
            "1",
            "",
            &["`a1` can't become `a`, which exists"],
        );
        // `b` matches as well, but keeps its name.
        check(
            &["a", "b"],
            "^.$",
            "b",
            &["`a` can't become `b`, which exists"],
        );
        check(
            &["d/a"],
            "a",
            "../a",
            &["`d/a`: `/` in the new name would move the file out of its directory"],
        );
        check(&["a", "ab"], "^a", "", &["`a`: the new name is empty"]);
        check(
            &["d/a1", "d/ab"],
            "a(.)",
            "{1:2}",
            &["`d/ab`: `{1:2}` needs digits, and the group is `b`"],
        );
        check(
            &["x", "xx"],
            "x",
            ".",
            &[
                "`x`: `.` is not a name for a file",
                "`xx`: `..` is not a name for a file",
            ],
        );
    }

    #[test]
    fn a_plan_has_a_limit() {
        let files: Vec<_> = (0..=MAX_RENAMES).map(|number| number.to_string()).collect();
        let refused = plan(&files, &rule("^", "x"), |_, _| Ok(false)).unwrap_err();
        let begins = "This would rename 100001 files; the limit of one plan is 100000";
        assert!(refused.to_string().starts_with(begins), "{refused}");
    }

    #[test]
    fn too_many_are_refused_while_they_are_looked_for() {
        let check = |find: &str, replace: &str, others: usize, expected: Option<usize>| {
            let rule = rule(find, replace);
            let mut limit = Limit::of(&rule);
            let mut found = BTreeSet::new();
            let names = (0..others).map(|number| format!("other-{number}"));
            for name in names.chain((0..=MAX_RENAMES).map(|number| format!("{number}.txt"))) {
                found.insert(name.clone());
                if let Err(refused) = limit.check(&name, &found) {
                    let begins = "This would rename more than 100000 files; the limit of one plan";
                    assert!(refused.to_string().starts_with(begins), "{refused}");
                    assert_eq!(Some(found.len()), expected);
                    return;
                }
            }
            assert_eq!(expected, None, "{find} {replace}");
        };
        check("txt$", "text", 0, Some(MAX_RENAMES + 1));
        check("txt$", "text", 10, Some(MAX_RENAMES + 11));
        // They keep their names.
        check("txt$", "txt", 0, None);
        // Which names these get is known in the end.
        check("^\\d+", "{n}", 0, None);
    }
}
