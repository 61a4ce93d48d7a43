//! How a call ends.

use std::cell::Cell;
use std::collections::HashSet;
use std::fs;
use std::time::SystemTime;

use airlock_tool::{
    Content, Error, Link, Output, Resolution, VolatileAction, glob, is_cancelled, log,
    matches_glob, report_progress, report_progress_of,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Ending {
    how: String,
    #[serde(default)]
    text: String,
    times: Option<usize>,
    #[serde(default)]
    details: Value,
    attempt: Option<u32>,
}

impl Ending {
    pub fn applied() -> Self {
        Self {
            how: "text".to_owned(),
            text: "applied".to_owned(),
            times: None,
            details: Value::Null,
            attempt: None,
        }
    }

    pub fn of_call(&self) -> Result<Output, Error> {
        self.end(None)
    }

    pub fn of(&self, resolution: &Resolution) -> Result<Output, Error> {
        self.end(Some(resolution))
    }

    pub fn of_reject(&self, resolution: &Resolution) -> Result<Option<Output>, Error> {
        match self.how.as_str() {
            "nothing" => Ok(None),
            _ => self.of(resolution).map(Some),
        }
    }

    fn end(&self, resolution: Option<&Resolution>) -> Result<Output, Error> {
        match self.how.as_str() {
            "text" => Ok(self.say()),
            "blocks" => Ok(self.blocks()),
            "nothing" => Ok(Output::default()),
            "tool-error" => Err(Error::tool(&self.text)),
            "failed" => Err(std::io::Error::other(self.text.clone()).into()),
            "crash" => panic!("as told"),
            "wait" => Err(wait()),
            "flaky" => match resolution.map_or(1, |resolution| resolution.attempt) {
                attempt if attempt < self.attempt.unwrap_or_default() => {
                    Err(Error::failed(format!("attempt {attempt} fails")))
                }
                _ => Ok(self.say()),
            },
            "resolution" => resolution.map_or(Ok(Output::default()), told),
            "report" => Ok(self.report()),
            "count" => Ok(count()),
            "push" => self.push(),
            "vary" => {
                vary()?;
                Ok(self.say())
            }
            "glob" => self.glob(),
            other => Err(Error::tool(format!("no such ending: {other}"))),
        }
    }

    fn say(&self) -> Output {
        let output = Output::text(self.text.repeat(self.times.unwrap_or(1)));
        match &self.details {
            Value::Null => output,
            details => output.details(details),
        }
    }

    fn push(&self) -> Result<Output, Error> {
        VolatileAction::new(&self.text, |_| Ok(Output::default())).push()?;
        Ok(Output::text(format!("pushed {}", self.text)))
    }

    fn glob(&self) -> Result<Output, Error> {
        let Value::Array(paths) = &self.details else {
            return Ok(Output::default().details(glob(&self.text)?));
        };
        let matches = |path: &&Value| {
            let path = path.as_str().unwrap_or_default();
            matches_glob(&self.text, path)
        };
        let matching: Vec<&Value> = paths.iter().filter(matches).collect();
        Ok(Output::default().details(matching))
    }

    fn blocks(&self) -> Output {
        let image = Content::Image {
            data: (0..=255).collect(),
            mime_type: "image/png".to_owned(),
        };
        let link = Link {
            uri: "file:///workspace/report.html".to_owned(),
            name: "report".to_owned(),
            mime_type: Some("text/html".to_owned()),
        };
        Output::text(&self.text).with(image).with(link)
    }

    fn report(&self) -> Output {
        log::trace("a trace");
        log::debug("a debug");
        log::info("an info");
        log::warn("a warn");
        log::error("an error");
        report_progress_of("half", 1.0, 2.0);
        report_progress("some");
        self.say()
    }
}

fn wait() -> Error {
    report_progress("waiting");
    while !is_cancelled() {}
    Error::Cancelled
}

fn told(resolution: &Resolution) -> Result<Output, Error> {
    let extra: Option<Value> = resolution.extra()?;
    Ok(Output::default().details(json!({
        "actionId": resolution.action_id,
        "label": resolution.label,
        "sourceToolName": resolution.source_tool,
        "reason": resolution.reason,
        "extra": extra,
        "attempt": resolution.attempt,
    })))
}

fn vary() -> Result<(), Error> {
    // Each table has a seed of its own.
    let table: HashSet<u32> = (0..50).collect();
    let order: Vec<_> = table.into_iter().collect();
    fs::write("/workspace/varied", "")?;
    let written = fs::metadata("/workspace/varied")?.modified()?;
    let varied = format!("{order:?} {:?} {written:?}", SystemTime::now());
    Ok(fs::write("/workspace/varied", varied)?)
}

fn count() -> Output {
    thread_local! {
        static COUNT: Cell<u32> = const { Cell::new(0) };
    }
    let count = COUNT.get() + 1;
    COUNT.set(count);
    Output::text(count.to_string())
}
