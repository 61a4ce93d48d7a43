//! An example of each document, as it is printed, and the schema that describes them all.

mod examples;

use std::collections::BTreeSet;

use airlock_host::effects::{self, ObjectKind, Withheld};
use airlock_host::pending;
use airlock_host::policy::{Rehearse, WorkspaceGrant};
use airlock_render::escape_json;
use expect_test::expect_file;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

use super::*;

type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// The commands with `--json`, by the names of their manual pages, and their documents.
const COMMANDS: [(&str, SchemaOf); 32] = [
    ("apply", resolution),
    ("audit", one::<audit::Audit<'_>>),
    ("build", one::<author::BuildReport<'_>>),
    ("config-check", one::<config::ConfigCheck<'_>>),
    ("discard", resolution),
    ("doctor", one::<doctor::Doctor>),
    ("install", one::<installed::Installs<'_>>),
    ("inspect", one::<plugins::Inspection<'_>>),
    ("list", one::<installed::InstalledPlugins<'_>>),
    ("log", one::<log::Log<'_>>),
    ("new", one::<author::ProjectReport<'_>>),
    ("notify", one::<calls::Notification<'_>>),
    ("pending", one::<actions::PendingList<'_>>),
    ("plugins", one::<plugins::NamedPlugins<'_>>),
    ("policy-explain", one::<policy::PolicyExplanation<'_>>),
    ("push", one::<installed::Pushed>),
    ("refresh", one::<calls::CallReport<'_>>),
    ("resolve", resolution),
    ("run", one::<calls::CallReport<'_>>),
    ("show", one::<actions::Record<'_>>),
    ("store-backup", one::<store::StoreBackup<'_>>),
    ("store-check", one::<store::StoreCheck<'_>>),
    ("store-forget", one::<store::StoreForget<'_>>),
    ("store-limit", one::<store::StoreLimit>),
    ("store-prune", one::<store::StorePrune>),
    ("store-restore", one::<store::StoreRestore<'_>>),
    ("store-retention", one::<store::StoreRetention>),
    ("store-stats", one::<store::StoreStats>),
    ("test", one::<author::TestReport<'_>>),
    ("undo", one::<calls::CallReport<'_>>),
    ("uninstall", one::<installed::Uninstalled<'_>>),
    ("update", one::<installed::Installs<'_>>),
];

fn one<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// One decision, or several.
fn resolution(generator: &mut SchemaGenerator) -> Schema {
    let several = one::<calls::ResolutionReports<'_>>(generator);
    either(&[one::<calls::ResolutionReport<'_>>(generator), several])
}

fn either(schemas: &[Schema]) -> Schema {
    schemars::json_schema!({ "anyOf": schemas })
}

const ABOUT: &str = "The documents that the program `airlock` prints with `--json`: `#/$defs/run` is for `airlock run`, `#/$defs/store-stats` for `airlock store stats`, and so on. `notify` is the input of the command of `--notify`. Later versions may add members.";

#[test]
fn the_schema_is_what_the_types_say() {
    let mut generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    let mut commands = COMMANDS.map(|(command, of)| (command, of(&mut generator)));
    let error = one::<error::ErrorDocument<'_>>(&mut generator);
    for (_, schema) in commands.iter_mut().filter(|it| it.0 != "notify") {
        *schema = either(&[schema.clone(), error.clone()]);
    }
    let mut definitions = generator.take_definitions(true);
    let commands = commands.into_iter();
    definitions.extend(commands.map(|(command, schema)| (command.to_owned(), schema.to_value())));
    let schema = schemars::json_schema!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "airlock --json",
        "description": ABOUT,
        "$defs": definitions,
    });
    let text = serde_json::to_string_pretty(&schema).unwrap();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/json.schema.json");
    expect_file![file].assert_eq(&format!("{text}\n"));
}

/// Examples, as they are printed.
#[derive(Default)]
struct Examples(Vec<(&'static str, String)>);

impl Examples {
    fn add(&mut self, command: &'static str, document: &impl Serialize) {
        self.0.push((command, escape_json(document).unwrap()));
    }
}

#[test]
fn each_document_is_printed_as_before_and_fits_its_schema() {
    let examples = examples::all().0;
    let lines = examples
        .iter()
        .map(|(name, text)| format!("{name}: {text}\n"));
    expect_file!["examples.txt"].assert_eq(&lines.collect::<String>());
    for (command, text) in &examples {
        schema::check(command, &serde_json::from_str(text).unwrap());
    }
    let with_example: BTreeSet<_> = examples.iter().map(|(command, _)| *command).collect();
    assert_eq!(with_example, BTreeSet::from(COMMANDS.map(|it| it.0)));
}

#[test]
fn the_words_of_the_schema_are_those_that_there_are() {
    fn check<S: JsonSchema, T: Serialize>(all: impl IntoIterator<Item = T>) {
        let schema = schemars::schema_for!(S).to_value();
        let words: BTreeSet<String> = match &schema["enum"] {
            Value::Array(words) => words.iter().map(Value::to_string).collect(),
            _ => (schema["oneOf"].as_array().unwrap().iter())
                .map(|it| it["const"].to_string())
                .collect(),
        };
        let known = all.into_iter().map(|it| json!(it).to_string());
        assert_eq!(words, known.collect());
    }
    check::<model::ActionState, _>(pending::ActionState::ALL);
    check::<model::ChangeKind, _>(effects::ChangeKind::ALL);
    check::<model::Decision, _>([pending::Decision::Apply, pending::Decision::Discard]);
    check::<model::Evidence, _>(pending::Evidence::ALL);
    check::<model::Rehearse, _>(Rehearse::ALL);
    check::<model::Withheld, _>([Withheld::Secret, Withheld::Binary, Withheld::TooLong]);
    check::<model::WorkspaceGrant, _>([
        WorkspaceGrant::None,
        WorkspaceGrant::Read,
        WorkspaceGrant::ReadWrite,
    ]);
    check::<model::ObjectKind, _>([
        ObjectKind::File,
        ObjectKind::Directory,
        ObjectKind::Link,
        ObjectKind::Special,
    ]);
}
