//! One definition in order, then each way in which one can be out of order.

use crate::airlock::tool::types::{ToolDefinition, ToolTraits};

const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// `good` first, then the misfits. `description` is what `good` says of itself.
pub fn all(description: &str) -> Vec<ToolDefinition> {
    let mut all = vec![ToolDefinition {
        description: description.into(),
        ..named("good")
    }];
    all.extend(bad_names());
    all.extend(bad_parameters());
    all.extend(bad_outputs());
    all.extend(bad_words());
    all
}

fn bad_names() -> Vec<ToolDefinition> {
    vec![
        named(""),
        named("two words"),
        // One more than the 64 that are allowed.
        named(&"n".repeat(65)),
        ToolDefinition {
            label: "The second good".into(),
            ..named("good")
        },
        // The host's own.
        named("resolve"),
    ]
}

fn bad_parameters() -> Vec<ToolDefinition> {
    let with = |name: &str, parameters: &str| ToolDefinition {
        parameters: parameters.into(),
        ..named(name)
    };
    vec![
        with("parameters-not-json", "{type: object}"),
        with("parameters-not-object", r#"{"type":"string"}"#),
        with("parameters-not-schema", r#"{"type":12}"#),
        with("parameters-endless", r##"{"$ref":"#"}"##),
        with(
            "parameters-remote",
            r#"{"type":"object","$ref":"http://example.com/schema.json"}"#,
        ),
    ]
}

fn bad_outputs() -> Vec<ToolDefinition> {
    let with = |name: &str, output: &str| ToolDefinition {
        output: Some(output.into()),
        ..named(name)
    };
    vec![
        with("output-not-json", "{type: object}"),
        with("output-not-schema", r#"{"type":12}"#),
    ]
}

fn bad_words() -> Vec<ToolDefinition> {
    vec![
        ToolDefinition {
            label: String::new(),
            ..named("label-empty")
        },
        ToolDefinition {
            label: "Two\nlines".into(),
            ..named("label-of-two-lines")
        },
        ToolDefinition {
            description: String::new(),
            ..named("description-empty")
        },
        // By its own account.
        ToolDefinition {
            parameters: format!(r#""two\nlines {}""#, "x".repeat(1_000)),
            ..named("not a name either")
        },
    ]
}

/// A definition with nothing wrong but, perhaps, its name.
fn named(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        label: "Misfit".into(),
        description: "Should not be listed.".into(),
        parameters: ANY_OBJECT.into(),
        output: None,
        traits: ToolTraits::empty(),
    }
}
