//! JSON from the command line, a file or standard input.

use std::fs;
use std::io::{self, Read};

use serde_json::{Map, Value};

use crate::failure::{Exit, Failure};

/// Reads what `word` means: JSON, `@FILE`, or `-`. `what` it is stands in errors, in the plural.
pub fn json(what: &str, word: &str) -> Result<Value, Failure> {
    let text = match (word, word.strip_prefix('@')) {
        ("-", _) => read_stdin(what)?,
        (_, Some(path)) => read_file(what, path)?,
        (text, None) => text.to_owned(),
    };
    serde_json::from_str(&text).map_err(|error| {
        Failure::new(
            Exit::Usage,
            "invalid-params",
            format!("the {what} are not JSON: {error}"),
        )
        .with_hint("in a shell, put them between single quotes: '{\"key\": \"value\"}'")
    })
}

/// Reads what `--extra` holds, which goes to the tool with a decision.
pub fn extra(word: &str) -> Result<Map<String, Value>, Failure> {
    match json("extras", word)? {
        Value::Object(extra) => Ok(extra),
        _ => Err(Failure::usage("what `--extra` holds is not an object")
            .with_hint("for example: --extra '{\"ticket\": 17}'")),
    }
}

fn read_stdin(what: &str) -> Result<String, Failure> {
    let mut text = String::new();
    match io::stdin().read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) => Err(Failure::usage(format!(
            "can't read {what} from standard input: {error}"
        ))),
    }
}

fn read_file(what: &str, path: &str) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| {
        Failure::usage(format!("can't read {what} from {path}: {error}"))
            .with_hint("`@FILE` is relative to the current directory, not to the workspace")
    })
}
