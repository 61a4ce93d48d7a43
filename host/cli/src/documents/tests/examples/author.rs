//! Examples of the documents about projects.

use std::path::PathBuf;

use airlock_author::new::{Project, Updated};
use airlock_test_kit::{
    Breach, CaseReport, Example, Files, Note, Outcome, PropertyReport, Report, ToolReport, Untried,
    UntriedKind,
};
use serde_json::json;

use super::super::Examples;
use super::digest;
use crate::documents::author::{BuildReport, ProjectReport, SdkVersion, TestReport};

pub fn add_projects(examples: &mut Examples) {
    let project = Project {
        folder: PathBuf::from("renamer"),
        files: vec!["Cargo.toml".to_owned()],
        sdk: Some("airlock-tool"),
        needs: "Rust",
        commands: vec!["airlock build".to_owned()],
    };
    examples.add("new", &ProjectReport::from(&project));
    let updated = Updated {
        before: None,
        version: "0.1.0",
        changed: true,
        commands: Vec::new(),
    };
    examples.add("new", &ProjectReport::from(&updated));
    let built = BuildReport {
        digest: digest().to_string(),
        language: "rust",
        name: "renamer",
        path: "build/renamer.wasm".to_owned(),
        sdk: Some(SdkVersion {
            name: "airlock-tool",
            version: "0.1.0",
        }),
        size: 1,
        tools: vec!["rename"],
        version: None,
    };
    examples.add("build", &built);
}

pub fn add_tests(examples: &mut Examples) {
    let breach = || Breach {
        expected: "a".to_owned(),
        came: "b".to_owned(),
    };
    let example = Example {
        tool: "rename".to_owned(),
        params: json!({}),
        files: Files::default(),
    };
    let property = |outcome| PropertyReport {
        name: "preview-changes-nothing",
        about: "a preview changes nothing",
        outcome,
    };
    let reason = || "it has none".to_owned();
    let report = Report {
        seed: 1,
        cases: vec![CaseReport {
            name: "one".to_owned(),
            tool: "rename".to_owned(),
            seconds: 0.5,
            breach: Some(breach()),
        }],
        plugin: vec![property(Outcome::NotApplicable { reason: reason() })],
        tools: vec![ToolReport {
            tool: "rename".to_owned(),
            tries: 2,
            refused: 1,
            seconds: 1.0,
            properties: vec![
                property(Outcome::Held { tries: 2 }),
                property(Outcome::Untried {
                    kind: UntriedKind::NeverPushed,
                    reason: reason(),
                }),
                property(Outcome::Broken {
                    tries: 1,
                    breach: breach(),
                    example: Some(example.clone()),
                }),
            ],
        }],
        untried: vec![Untried {
            tool: "rename".to_owned(),
            kind: UntriedKind::LeftOut,
            properties: vec!["preview-changes-nothing"],
            why: reason(),
            told: None,
            advice: "give it a name".to_owned(),
            case: None,
        }],
        notes: vec![Note {
            tool: Some("rename".to_owned()),
            text: "it is slow".to_owned(),
            example: Some(example),
        }],
    };
    let test = TestReport {
        built: true,
        component: "build/renamer.wasm",
        counts: (&report).into(),
        digest: digest().to_string(),
        held: false,
        name: "renamer",
        passed: false,
        report: &report,
        strict: true,
    };
    examples.add("test", &test);
}
