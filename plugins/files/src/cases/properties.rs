//! Properties of edits, patches and plans, for texts that nobody wrote.

use proptest::prelude::*;

use super::{edited, patch};
use crate::diff;
use crate::patch::parse;
use crate::plan::{Operation, Plan, carry_out};
use crate::workspace::tests::Sandbox;

/// Texts with many equal lines, blank ones and every ending.
fn text() -> impl Strategy<Value = String> {
    "([ab]|\t|  |“|ü|-|\\+|@|\n|\n|\n){0,30}"
}

proptest! {
    #[test]
    fn a_unified_diff_makes_the_new_text(old in text(), new in text()) {
        prop_assume!(old != new && !old.is_empty());
        let sandbox = Sandbox::with(&[("a", &old)]);
        let hunks = diff::unified(&old, &new, &mut 1000);
        let applied = patch(&sandbox, &format!("--- a/a\n+++ b/a\n{hunks}\n"));
        prop_assert_eq!(applied, Ok(()), "{}", hunks);
        prop_assert_eq!(sandbox.read("a"), new, "{}", hunks);
    }

    #[test]
    fn a_text_that_occurs_once_is_replaced(before in text(), after in text(), new in text()) {
        let file = format!("{before}<old>{after}");
        prop_assert_eq!(edited(&file, "<old>", &new), Ok(format!("{before}{new}{after}")));
    }

    #[test]
    fn an_edit_changes_one_place_or_nothing(file in text(), old in text(), new in text()) {
        if let Ok(edited) = edited(&file, &old, &new) {
            prop_assert!(edited != file || file.contains(&new) || old.trim() == new.trim());
        }
    }

    #[test]
    fn no_text_stops_the_reading_of_a_patch(lines in prop::collection::vec(
        "(\\*\\*\\* (Begin Patch|End Patch|Add File: a|Update File: a|Move to: b|End of File))|@@.{0,5}|[-+ \\\\].{0,5}|(---|\\+\\+\\+) [ab]/a|.{0,5}", 0..12
    )) {
        let text = lines.join("\n");
        let _ = parse(&text);
        let _ = patch(&Sandbox::with(&[("a", "1\n2\n3")]), &text);
    }

    #[test]
    fn a_plan_writes_the_new_text(old in text(), new in text()) {
        let sandbox = Sandbox::with(&[("a", &old)]);
        let plan = Plan { operations: vec![
            Operation::write("a", Some(&old), &new),
            Operation::write("b", None, &new),
        ] };
        prop_assert_eq!(carry_out(&sandbox.workspace(), &plan, 1), Ok(true));
        prop_assert_eq!(carry_out(&sandbox.workspace(), &plan, 2), Ok(false));
        prop_assert_eq!(sandbox.read("a"), new.clone());
        prop_assert_eq!(sandbox.read("b"), new);
    }
}
