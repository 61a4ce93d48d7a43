//! Properties of edits, patches and plans, for texts that nobody wrote.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::{edited, patch};
use crate::diff;
use crate::params::{Op, ValueOperation};
use crate::patch::parse;
use crate::plan::{Operation, Plan, carry_out};
use crate::text::Text;
use crate::values;
use crate::workspace::tests::Sandbox;

/// Texts with many equal lines, blank ones and every ending.
fn text() -> impl Strategy<Value = String> {
    "([ab]|\t|  |“|ü|-|\\+|@|\n|\n|\n){0,30}"
}

/// Operations on values that are there, or not.
fn operations() -> impl Strategy<Value = Vec<ValueOperation>> {
    let op = select(vec![Op::Add, Op::Replace, Op::Remove]);
    let steps = vec(select(vec!["/a", "/b", "/c d", "/0", "/1", "/-"]), 1..4);
    let value = select(vec![
        json!(1.5),
        json!(true),
        json!("a: b # \n“c”"),
        json!([]),
        json!([1, { "x": [2] }]),
        json!({}),
        json!({ "a": { "b": [] }, "c d": "" }),
    ]);
    let operation = (op, steps, value).prop_map(|(op, steps, value)| ValueOperation {
        op,
        path: steps.concat(),
        value: Some(value),
    });
    vec(operation, 1..5)
}

const FILES: [(&str, &str); 6] = [
    (
        "a.json",
        "{\n  // c\n  \"a\": [1, {\"a\": 2}], // d\n  \"b\": {\"a\": [],},\n}\n",
    ),
    ("a.json", "[1,2 ,{\"a\":{}}]"),
    (
        "a.toml",
        "# c\na = [1, { a = 2 }] # d\n[b]\na = 1\n[b.c]\n\"c d\" = []\n[[b.d]]\na = 1\n",
    ),
    ("a.toml", "a.b = 1\nb = [\n  1, # one\n  2,\n]\n[[c]]\n"),
    (
        "a.yml",
        "# c\na:\n  - 1 # d\n  - a: 2\n    b: |\n      text\n\nb: {a: [x, y]}\n\"c d\": ~\n",
    ),
    ("a.yml", "- 1\n- - 2\n  - a: 3\n# end\n"),
];

proptest! {
    #[test]
    fn operations_on_values_leave_a_valid_file(
        operations in operations(),
        (path, file) in select(FILES.to_vec()),
    ) {
        let mut text = Text::decode(file.into()).unwrap();
        for operation in operations {
            let before = text.encode();
            match values::edit(&mut text, path, std::slice::from_ref(&operation)) {
                Ok(_) => prop_assert_eq!(values::edit(&mut text.clone(), path, &[]), Ok(vec![]), "{:?}", operation),
                Err(_) => prop_assert_eq!(&text.encode(), &before),
            }
            if operation.op == Op::Replace && text.encode() != before {
                let mut again = text.clone();
                let repeated = values::edit(&mut again, path, std::slice::from_ref(&operation));
                prop_assert_eq!(repeated, Ok(vec![]));
                prop_assert_eq!(again.encode(), text.encode(), "{:?}", operation);
            }
            if path.ends_with("yml") {
                let removed = ValueOperation { op: Op::Remove, path: "/zz".into(), value: None };
                let refused = values::edit(&mut text.clone(), path, &[removed]).unwrap_err();
                prop_assert!(!refused.contains("not valid"), "{} {:?}", refused, operation);
            }
        }
    }

    #[test]
    fn a_unified_diff_makes_the_new_text(old in text(), new in text()) {
        prop_assume!(old != new && !old.is_empty());
        let sandbox = Sandbox::with(&[("a", &old)]);
        let hunks = diff::unified_diff(&old, &new, &mut 1000);
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
    fn no_text_stops_the_reading_of_a_patch(lines in vec(
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
