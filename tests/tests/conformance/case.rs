//! The cases, as their files have them.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

/// Rules that a case may name.
const RULES: [&str; 12] = [
    "world",
    "pushing",
    "steering",
    "resolving-1",
    "resolving-2",
    "resolving-3",
    "resolving-4",
    "resolving-5",
    "resolving-6",
    "resolving-7",
    "resolving-8",
    "resolving-9",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    #[serde(rename = "about")]
    _about: String,
    cases: Vec<Case>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub name: String,
    pub rules: Vec<String>,
    #[serde(default)]
    pub session: SessionSetup,
    pub steps: Vec<Step>,
}

/// What the case's session has.
#[derive(Clone, Copy, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionSetup {
    pub store: bool,
    pub workspace: bool,
}

impl Default for SessionSetup {
    fn default() -> Self {
        Self {
            store: true,
            workspace: true,
        }
    }
}

#[derive(Clone, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Step {
    Call {
        tool: String,
        params: Value,
        cancel: Option<Cancel>,
        gives: Option<Gives>,
        fails: Option<Fails>,
    },
    Resolve {
        action: Action,
        reason: String,
        extra: Option<Map<String, Value>>,
        of: Option<String>,
        cancel: Option<Cancel>,
        gives: Option<Gives>,
        fails: Option<Fails>,
    },
    Pending {
        is: Vec<Map<String, Value>>,
    },
    Definitions {
        is: Value,
    },
    Tools {
        named: Option<Vec<String>>,
        is: Vec<String>,
    },
    Events {
        is: Vec<String>,
    },
    Files {
        are: BTreeMap<String, Placed>,
    },
    DropInstances,
    Upgrade,
}

/// What a step puts into the workspace.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub enum Placed {
    Text(String),
    Link { link: PathBuf },
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Apply,
    Discard,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cancel {
    Before,
    /// When the guest reports progress.
    During,
}

/// What is left out is not looked at.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gives {
    pub content: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    pub details: Option<Value>,
    /// Labels, topmost first.
    pub pushed: Option<Vec<String>>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fails {
    pub text: Text,
    pub kind: Option<Kind>,
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub enum Kind {
    Is(String),
    /// Where it is left to the SDK.
    OneOf(Vec<String>),
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub enum Text {
    Is(String),
    Begins {
        begins: String,
    },
    /// Where it is the SDK's own: in each language.
    In {
        #[serde(rename = "in")]
        languages: HashMap<String, String>,
    },
    /// `$id` stands for the id of the action of that label.
    Of {
        of: String,
        is: String,
    },
}

/// `null` is a value here, and not the lack of one.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Every case, with the name of its file.
///
/// # Panics
/// Where a file doesn't have the shape of one, or two cases have the same name.
pub fn read_all(folder: &Path) -> Vec<(String, Case)> {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("the folder of cases")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let mut all: Vec<(String, Case)> = Vec::new();
    for path in paths {
        let name = path.file_stem().expect("a name").display().to_string();
        for case in read(&path) {
            let taken = all.iter().any(|(_, other)| other.name == case.name);
            assert!(!taken, "two cases are named {}", case.name);
            all.push((name.clone(), case));
        }
    }
    all
}

/// The cases of one file.
///
/// # Panics
/// Where it doesn't have the shape of one.
pub fn read(path: &Path) -> Vec<Case> {
    let text = fs::read_to_string(path).expect("a file of cases");
    let mut value: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    expand(&mut value);
    let file: CaseFile =
        serde_json::from_value(value).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    for case in &file.cases {
        check(case);
    }
    file.cases
}

/// A case that checks nothing would always pass.
fn check(case: &Case) {
    let name = &case.name;
    assert!(!case.rules.is_empty(), "{name} names no rule");
    for rule in &case.rules {
        assert!(RULES.contains(&rule.as_str()), "{name}: no rule {rule}");
    }
    for (index, step) in case.steps.iter().enumerate() {
        if let Step::Call { gives, fails, .. } | Step::Resolve { gives, fails, .. } = step {
            let one = gives.is_some() != fails.is_some();
            assert!(one, "{name}, step {}: `gives` or `fails`", index + 1);
        }
    }
}

/// Writes out each `{"$repeat": string, "times": n}`, perhaps behind the string `after`, and each
/// `{"$fill": value, "times": n}`.
fn expand(value: &mut Value) {
    let times = value.get("times").and_then(Value::as_u64).unwrap_or(1);
    let times = usize::try_from(times).expect("a size");
    if let Some(text) = value.get("$repeat").and_then(Value::as_str) {
        let after = value.get("after").and_then(Value::as_str);
        *value = Value::from(after.unwrap_or_default().to_owned() + &text.repeat(times));
        return;
    }
    if let Some(each) = value.get("$fill") {
        *value = Value::from(vec![each.clone(); times]);
        return;
    }
    match value {
        Value::Array(values) => values.iter_mut().for_each(expand),
        Value::Object(object) => object.values_mut().for_each(expand),
        _ => {}
    }
}
