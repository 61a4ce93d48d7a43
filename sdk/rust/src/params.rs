//! A call's parameters, from the JSON that the host passed on.

use serde::de::DeserializeOwned;
use serde_path_to_error::Path;

use crate::Error;

/// Parses the parameters of a call.
///
/// The host has checked them against the schema, but a schema can't express everything. If serde
/// still rejects them, only the caller can fix that, so the error names the parameter.
pub(crate) fn read<P: DeserializeOwned>(json: &str) -> Result<P, Error> {
    // This reads bytes, as for the state: reading a string would add a second parser to each
    // component.
    let mut deserializer = serde_json::Deserializer::from_slice(json.as_bytes());
    serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| refusal(error.path(), error.inner()))
}

/// Returns the error for the caller. It is not generic, so a component contains it once.
fn refusal(path: &Path, error: &serde_json::Error) -> Error {
    let problem = without_position(error);
    if path.iter().len() == 0 {
        return Error::tool(format!("The parameters are not valid: {problem}."));
    }
    Error::tool(format!("The parameter `{path}` is not valid: {problem}."))
}

/// Returns the message without the line and column, because the caller never saw the text.
fn without_position(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    message
        .strip_suffix(&position)
        .unwrap_or(&message)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Params {
        #[expect(dead_code)]
        files: Vec<u8>,
    }

    #[test]
    fn a_refusal_names_the_place() {
        let check = |json, message: &str| {
            assert_eq!(read::<Params>(json).unwrap_err(), Error::tool(message))
        };
        check(
            r#"{"files":[1,2,300]}"#,
            "The parameter `files[2]` is not valid: invalid value: integer `300`, expected u8.",
        );
        check("{}", "The parameters are not valid: missing field `files`.");
        check(
            r#"{"files":[],"dirs":[]}"#,
            "The parameter `dirs` is not valid: unknown field `dirs`, expected `files`.",
        );
    }
}
