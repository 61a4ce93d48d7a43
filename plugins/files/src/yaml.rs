//! Values in YAML files.

use serde_json::Value as Json;
use yaml_edit::{
    AsYaml, Document, Mapping, MappingBuilder, ScalarValue, Sequence, SequenceBuilder, YamlFile,
    YamlNode, yaml_eq,
};

use crate::params::{Op, ValueOperation};
use crate::values::{Steps, index, no_key, pointer};

/// Makes the operations in a text.
///
/// # Errors
/// Returns a message for the caller.
pub(crate) fn edit(text: &str, operations: &[(Steps, &ValueOperation)]) -> Result<String, String> {
    let mut text = text.to_owned();
    for (steps, operation) in operations {
        let file = parse(&text)?;
        change(&document(&file)?, steps, operation)?;
        let new = file.to_string();
        // The file is read again, since a mistake would change its meaning without a word.
        if !is_made(&new, steps, operation) {
            return Err(format!(
                "`{}` can't be changed by value: use `edit_file`.",
                operation.path
            ));
        }
        text = new;
    }
    Ok(text)
}

fn parse(text: &str) -> Result<YamlFile, String> {
    let file: Result<YamlFile, _> = text.parse();
    let file = file.map_err(|error| format!("The file is not valid YAML: {error}"))?;
    if file.to_string() != text {
        return Err("The file can't be changed by value: use `edit_file`.".to_owned());
    }
    Ok(file)
}

/// Returns the only document of a file.
fn document(file: &YamlFile) -> Result<Document, String> {
    let mut documents = file.documents();
    match (documents.next(), documents.next()) {
        (Some(document), None) => Ok(document),
        (None, _) => Err("The file is empty: use `write_file`.".to_owned()),
        _ => Err("The file has several documents: use `edit_file`.".to_owned()),
    }
}

fn change(document: &Document, steps: &Steps, operation: &ValueOperation) -> Result<(), String> {
    let op = operation.op;
    let Some((key, parents)) = steps.split_last() else {
        return Err("The whole file can't be changed by value: use `write_file`.".to_owned());
    };
    let value = match &operation.value {
        None if op != Op::Remove => {
            return Err(format!("`value` is missing for `{}`.", operation.path));
        }
        value => new(value.as_ref().unwrap_or(&Json::Null)),
    };
    let mut parent = root(document).ok_or("The file has neither a mapping nor a sequence.")?;
    for depth in 0..parents.len() {
        parent = child(&parent, &steps[..=depth])?;
    }
    if let Some(mapping) = parent.as_mapping() {
        if !mapping.contains_key(key.as_str()) && op != Op::Add {
            return Err(no_key(steps, keys(mapping)));
        }
        if op == Op::Remove {
            mapping.remove(key.as_str());
        } else {
            mapping.set(key.as_str(), &*value);
        }
        return Ok(());
    }
    let Some(sequence) = parent.as_sequence() else {
        return Err(format!(
            "`{}` is neither a mapping nor a sequence.",
            pointer(parents)
        ));
    };
    let at = index(steps, sequence.len(), op)?;
    match op {
        Op::Add if at == sequence.len() => sequence.push(&*value),
        Op::Add => sequence.insert(at, &*value),
        Op::Replace => {
            sequence.set(at, &*value);
        }
        Op::Remove => {
            sequence.remove(at);
        }
    }
    Ok(())
}

/// Checks if a text has the outcome of an operation.
fn is_made(text: &str, steps: &Steps, operation: &ValueOperation) -> bool {
    let Some(root) = parse(text)
        .and_then(|file| document(&file))
        .ok()
        .and_then(|it| root(&it))
    else {
        // A file without its last key may be empty.
        return operation.op == Op::Remove && steps.len() == 1;
    };
    let mut node = root;
    for depth in 1..=steps.len() {
        let last = depth == steps.len();
        if last && operation.op == Op::Remove {
            let mapping = node.as_mapping();
            return mapping.is_none_or(|it| !it.contains_key(steps[depth - 1].as_str()));
        }
        let appended = node.as_sequence().filter(|_| steps[depth - 1] == "-");
        let found = match appended {
            Some(sequence) => sequence.last().ok_or_else(String::new),
            None => child(&node, &steps[..depth]),
        };
        match found {
            Ok(found) => node = found,
            Err(_) => return false,
        }
    }
    operation
        .value
        .as_ref()
        .is_some_and(|value| yaml_eq(&node, &&*new(value)))
}

fn root(document: &Document) -> Option<YamlNode> {
    let mapping = document.as_mapping().map(YamlNode::Mapping);
    mapping.or_else(|| document.as_sequence().map(YamlNode::Sequence))
}

/// Returns the value to which the last of the steps leads.
fn child(node: &YamlNode, steps: &[String]) -> Result<YamlNode, String> {
    let last = steps.last().map_or("", String::as_str);
    if let Some(mapping) = node.as_mapping() {
        return mapping
            .get(last)
            .ok_or_else(|| no_key(steps, keys(mapping)));
    }
    let missing = || format!("There is no `{}`.", pointer(steps));
    let sequence = node.as_sequence().ok_or_else(missing)?;
    sequence
        .get(index(steps, sequence.len(), Op::Replace)?)
        .ok_or_else(missing)
}

fn keys(mapping: &Mapping) -> impl Iterator<Item = String> {
    let text = |key: YamlNode| key.as_scalar().map(|scalar| scalar.as_string());
    mapping.keys().filter_map(text)
}

/// Returns a new value, in the block style.
fn new(json: &Json) -> Box<dyn AsYaml> {
    match json {
        Json::Null => Box::new(ScalarValue::null()),
        Json::Bool(value) => Box::new(*value),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => Box::new(integer),
            (None, Some(integer)) => Box::new(integer),
            (None, None) => Box::new(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Box::new(text.clone()),
        Json::Array(values) if values.is_empty() => Box::new(Sequence::new_flow()),
        Json::Object(values) if values.is_empty() => Box::new(Mapping::new_flow()),
        Json::Array(values) => {
            let builder = SequenceBuilder::new();
            let builder = values
                .iter()
                .fold(builder, |builder, value| builder.item(&*new(value)));
            Box::new(builder.build_document())
        }
        Json::Object(values) => {
            let builder = MappingBuilder::new();
            let pairs = values.iter();
            let builder = pairs.fold(builder, |builder, (key, value)| {
                builder.pair(key, &*new(value))
            });
            Box::new(builder.build_document())
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::text::Text;
    use crate::values::edit;

    fn edited(text: &str, operations: serde_json::Value) -> Result<String, String> {
        let operations: Vec<_> = serde_json::from_value(operations).unwrap();
        let mut text = Text::decode(text.into()).unwrap();
        edit(&mut text, "a.yml", &operations).map(|_| text.encode())
    }

    const FILE: &str = r#"# CI
name: ci # the name
on:
  push:
    branches: [main, 'dev']
jobs:
  build:
    steps:
      # checkout
      - uses: actions/checkout@v3  # pinned
      - run: |
          cargo test
          echo "a: b"
    env: &e
      A: "1"
      B: ~
  other:
    env: *e
"#;

    #[test]
    fn a_value_changes_and_everything_else_stays() {
        let check = |operation, old: &str, new: &str| {
            for crlf in [false, true] {
                let file = |text: &str| {
                    if crlf {
                        text.replace('\n', "\r\n")
                    } else {
                        text.to_owned()
                    }
                };
                let result = edited(&file(FILE), serde_json::json!([operation]));
                assert_eq!(result.unwrap(), file(&FILE.replacen(old, new, 1)));
            }
        };
        use serde_json::json;
        check(
            json!({ "op": "replace", "path": "/name", "value": "a: b" }),
            "ci #",
            "'a: b' #",
        );
        check(
            json!({ "op": "replace", "path": "/jobs/build/steps/0/uses", "value": "x@v4" }),
            "actions/checkout@v3",
            "x@v4",
        );
        check(
            json!({ "op": "add", "path": "/on/push/branches/-", "value": "yes" }),
            "'dev'",
            "'dev', 'yes'",
        );
        check(
            json!({ "op": "replace", "path": "/on/push/branches/1", "value": "x" }),
            "'dev'",
            "x",
        );
        check(
            json!({ "op": "remove", "path": "/jobs/build/steps/0" }),
            "      - uses: actions/checkout@v3  # pinned\n",
            "",
        );
        check(
            json!({ "op": "add", "path": "/jobs/build/env/C", "value": 5 }),
            "B: ~\n",
            "B: ~\n      C: 5\n",
        );
        check(
            json!({ "op": "remove", "path": "/jobs/build/env/A" }),
            "      A: \"1\"\n",
            "",
        );
        let step = json!({ "uses": "a/b@v1", "with": { "n": [1, true, null, "1"], "e": {} } });
        let lines = "# pinned\n      - uses: a/b@v1\n        with:\n          n:\n            - 1\n            - true\n            - null\n            - '1'\n          e: {}\n";
        check(
            json!({ "op": "add", "path": "/jobs/build/steps/1", "value": step }),
            "# pinned\n",
            lines,
        );
        check(
            json!({ "op": "add", "path": "/env", "value": { "A": "b" } }),
            "env: *e\n",
            "env: *e\nenv:\n  A: b\n",
        );
    }

    #[test]
    fn an_operation_without_a_place_is_refused_with_advice() {
        let check = |file: &str, operation, expected: &str| {
            let refused = edited(file, serde_json::json!([operation])).unwrap_err();
            assert!(
                refused.starts_with(&format!("`a.yml`: {expected}")),
                "{refused}"
            );
        };
        use serde_json::json;
        let set = |path: &str| json!({ "op": "replace", "path": path, "value": 1 });
        check(
            FILE,
            set("/nam"),
            "There is no `/nam`; the keys there are `name`, `on`, `jobs`.",
        );
        check(
            FILE,
            set("/jobs/other/env/A"),
            "`/jobs/other/env` is neither a mapping nor a sequence.",
        );
        check(
            FILE,
            set("/on/push/branches/2"),
            "`/on/push/branches/2` is no place in the array",
        );
        check(
            "a: 1\n---\nb: 2\n",
            set("/a"),
            "The file has several documents",
        );
        check("a: [1\n", set("/a"), "The file is not valid YAML");
    }
}
