//! The compact form of a plan that is kept until a decision, so that 100,000 renames take a few
//! bytes each.
//!
//! Neighbouring names begin alike, so the length that a path has in common with the one before it
//! is stored as a number. For files in a cycle, the whole stamp is stored. For all others, only the
//! kind is stored, and only if it isn't a file.

use serde::{Deserialize, Serialize};

use crate::order::Order;
use crate::plan::{Plan, Rename};
use crate::workspace::{Kind, Stamp};

#[derive(Serialize, Deserialize)]
pub(crate) struct Kept {
    /// The renames: the number of bytes that `from` has in common with the one before, and the
    /// rest, then both for `to`.
    renames: Vec<(usize, String, usize, String)>,
    /// The kinds of the objects that are not files, by index.
    kinds: Vec<(usize, Kind)>,
    /// The stamps of the files that are part of a cycle, by index.
    stamps: Vec<(usize, Stamp)>,
}

impl From<Plan> for Kept {
    fn from(plan: Plan) -> Self {
        let Plan { renames, stamps } = plan;
        let mut cyclic = Order::of(&renames, "").cyclic;
        cyclic.sort_unstable();
        let kinds = stamps.iter().map(|stamp| stamp.kind).enumerate();
        let mut before = ("", "");
        Self {
            kinds: kinds.filter(|(_, kind)| *kind != Kind::File).collect(),
            stamps: cyclic
                .into_iter()
                .map(|index| (index, stamps[index].clone()))
                .collect(),
            renames: renames
                .iter()
                .map(|Rename { from, to }| {
                    let (shared_from, shared_to) = (shared(before.0, from), shared(before.1, to));
                    before = (from, to);
                    let rest = |path: &str, shared: usize| path[shared..].to_owned();
                    (
                        shared_from,
                        rest(from, shared_from),
                        shared_to,
                        rest(to, shared_to),
                    )
                })
                .collect(),
        }
    }
}

impl TryFrom<Kept> for Plan {
    type Error = String;

    fn try_from(kept: Kept) -> Result<Self, String> {
        let mut renames: Vec<Rename> = Vec::with_capacity(kept.renames.len());
        for (shared_from, from, shared_to, to) in kept.renames {
            let before = renames.last();
            let whole = |before: Option<&str>, shared: usize, rest: &str| {
                let shared = before.unwrap_or_default().get(..shared);
                shared.map(|shared| format!("{shared}{rest}"))
            };
            let from = whole(before.map(|it| it.from.as_str()), shared_from, &from);
            let to = whole(before.map(|it| it.to.as_str()), shared_to, &to);
            let (Some(from), Some(to)) = (from, to) else {
                return Err("a path shares more with the one before than that has".to_owned());
            };
            renames.push(Rename { from, to });
        }
        let mut stamps = vec![Stamp::of_kind(Kind::File); renames.len()];
        let kinds = kept.kinds.into_iter();
        let known = kinds.map(|(index, kind)| (index, Stamp::of_kind(kind)));
        for (index, stamp) in known.chain(kept.stamps) {
            *stamps.get_mut(index).ok_or("there is no such rename")? = stamp;
        }
        Ok(Self { renames, stamps })
    }
}

/// Returns the number of bytes in the common prefix of two paths.
fn shared(before: &str, path: &str) -> usize {
    let pairs = before.chars().zip(path.chars());
    let alike = pairs.take_while(|(one, other)| one == other);
    alike.map(|(c, _)| c.len_utf8()).sum()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::workspace::tests::Sandbox;

    #[test]
    fn a_plan_comes_back_as_it_was_but_for_what_nobody_asks_of_it() {
        let sandbox = Sandbox::with(&["a", "b", "äa", "äb"]);
        sandbox.link("a", "link");
        fs::write(sandbox.path("a"), "longer").unwrap();
        let rename = |(from, to): (&str, &str)| Rename {
            from: from.into(),
            to: to.into(),
        };
        let renames = [
            ("a", "b"),
            ("b", "a"),
            ("äa", "äc"),
            ("äb", "ä"),
            ("link", "l"),
        ];
        let plan = Plan::of(&sandbox.workspace(), &renames.map(rename)).unwrap();
        let kept = Kept::from(plan.clone());
        assert_eq!(kept.stamps.len(), 2);
        let back = Plan::try_from(kept).unwrap();
        assert_eq!(back.renames, plan.renames);
        assert_eq!(back.stamps[..2], plan.stamps[..2]);
        let kinds = |plan: &Plan| plan.stamps.iter().map(|it| it.kind).collect::<Vec<_>>();
        assert_eq!(kinds(&back), kinds(&plan));
    }

    #[test]
    fn what_was_not_written_so_is_refused() {
        let renames = vec![(0, "ä".to_owned(), 0, "b".to_owned())];
        let check = |next: (usize, &str, usize, &str), kinds: &[(usize, Kind)]| {
            let mut renames = renames.clone();
            renames.push((next.0, next.1.to_owned(), next.2, next.3.to_owned()));
            let kinds = kinds.to_vec();
            let stamps = Vec::new();
            let kept = Kept {
                renames,
                kinds,
                stamps,
            };
            assert!(Plan::try_from(kept).is_err());
        };
        check((9, "x", 0, "y"), &[]);
        // Within a character.
        check((1, "x", 0, "y"), &[]);
        check((0, "x", 0, "y"), &[(2, Kind::Link)]);
    }
}
