//! Values of keys. Each is parsed by itself, so that an error has the right line.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use airlock_rules::{Size, Verdict};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// The decider about actions that a model wants to apply. Stricter ones are greater.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Decide {
    /// The model itself
    Model,
    /// A person: asked by the client if it can, and otherwise at a terminal
    #[default]
    Person,
    /// A person at a terminal, with `airlock resolve`
    Terminal,
}

impl Decide {
    /// Returns the verdict for an action that no rule matches.
    pub fn verdict(self) -> Verdict {
        match self {
            Decide::Model => Verdict::Allow,
            Decide::Person => Verdict::Ask,
            Decide::Terminal => Verdict::AskAtTerminal,
        }
    }

    /// Returns the word for it in a file.
    pub fn as_str(self) -> &'static str {
        match self {
            Decide::Model => "model",
            Decide::Person => "person",
            Decide::Terminal => "terminal",
        }
    }
}

/// A path or name in a file: one line, not empty, and without `~`, which only shells expand.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct PathText(String);

impl PathText {
    /// Returns the text as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path that it stands for in a file of this folder.
    pub fn below(&self, folder: &Path) -> PathBuf {
        folder.join(&self.0)
    }
}

impl TryFrom<String> for PathText {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.is_empty() {
            return Err("it is empty".to_owned());
        }
        if text.chars().any(char::is_control) {
            return Err("a path or name has no control characters".to_owned());
        }
        if text == "~" || text.starts_with("~/") {
            return Err(format!(
                "`~` is for shells, and would be a directory of this name: write the whole path in place of {text:?}"
            ));
        }
        Ok(Self(text))
    }
}

impl JsonSchema for PathText {
    fn schema_name() -> Cow<'static, str> {
        "Path".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "minLength": 1, "not": {"pattern": "^~(/|$)"}})
    }
}

/// A duration: a whole number and s, m, h, d or w.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Age(pub Duration);

/// The maximum, in seconds: a hundred years, which every store and calendar can represent.
const MAX_SECONDS: u64 = 100 * 365 * 24 * 3600;

impl Age {
    /// Parses a whole number and its unit.
    pub fn parse(text: &str) -> Option<Self> {
        let unit = text.chars().next_back()?;
        let seconds: u64 = match unit {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            'd' => 24 * 3600,
            'w' => 7 * 24 * 3600,
            _ => return None,
        };
        let number = &text[..text.len() - unit.len_utf8()];
        // Parsing a number would accept a sign.
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let seconds = number.parse::<u64>().ok()?.checked_mul(seconds)?;
        (seconds <= MAX_SECONDS).then(|| Self(Duration::from_secs(seconds)))
    }
}

impl TryFrom<String> for Age {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("expected a number and s, m, h, d or w, such as 12h or 30d")
    }
}

/// Formats the duration as it is parsed.
impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let units = [("d", 86400), ("h", 3600), ("m", 60)];
        let whole = units
            .iter()
            .find(|(_, unit)| seconds > 0 && seconds.is_multiple_of(*unit));
        match whole {
            Some((name, unit)) => write!(f, "{}{name}", seconds / unit),
            None => write!(f, "{seconds}s"),
        }
    }
}

impl JsonSchema for Age {
    fn schema_name() -> Cow<'static, str> {
        "Age".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[0-9]+[smhdw]$",
            "description": "How long, such as 12h or 30d",
        })
    }
}

/// The time limit of a call: a number of seconds above 0, or an age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timeout(pub Duration);

const TIMEOUT: &str =
    "expected a number of seconds above 0, such as 90 or 0.5, or text such as \"90s\" or \"5m\"";

impl<'de> Deserialize<'de> for Timeout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        fn above_zero<E: de::Error>(duration: Option<Duration>) -> Result<Timeout, E> {
            duration
                .filter(|it| !it.is_zero() && it.as_secs() <= MAX_SECONDS)
                .map(Timeout)
                .ok_or_else(|| E::custom(TIMEOUT))
        }

        impl Visitor<'_> for Reader {
            type Value = Timeout;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of seconds, or text such as \"90s\" or \"5m\"")
            }

            fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<Timeout, E> {
                above_zero(u64::try_from(seconds).ok().map(Duration::from_secs))
            }

            fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<Timeout, E> {
                above_zero(Duration::try_from_secs_f64(seconds).ok())
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Timeout, E> {
                above_zero(Age::parse(text).map(|age| age.0))
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

impl JsonSchema for Timeout {
    fn schema_name() -> Cow<'static, str> {
        "Timeout".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Seconds, or text such as 90s or 5m",
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0},
                {"type": "string", "pattern": "^[0-9]+[smhdw]$"},
            ],
        })
    }
}

/// The memory limit of a tool, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Memory(pub Size);

impl TryFrom<String> for Memory {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let size = Size::try_from(text)?;
        match size.0 {
            0x10_0000..=0x1_0000_0000 => Ok(Self(size)),
            _ => Err(format!("expected 1MiB to 4GiB, and not {size}")),
        }
    }
}

impl JsonSchema for Memory {
    fn schema_name() -> Cow<'static, str> {
        "Memory".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Size::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_shown_as_it_is_read() {
        for (text, shown) in [("45s", "45s"), ("0s", "0s"), ("24h", "1d"), ("90m", "90m")] {
            assert_eq!(Age::parse(text).unwrap().to_string(), shown);
        }
    }

    #[test]
    fn a_timeout_is_seconds_or_an_age() {
        #[derive(Deserialize)]
        struct File {
            it: Timeout,
        }
        let check = |text: &str, expected: Option<u64>| {
            let read = toml::from_str::<File>(&format!("it = {text}"));
            let read = read.ok().map(|file| file.it.0.as_millis() as u64);
            assert_eq!(read, expected, "{text}");
        };
        check("90", Some(90_000));
        check("0.5", Some(500));
        check("'5m'", Some(300_000));
        for wrong in [
            "0", "-1", "nan", "inf", "1e300", "'0s'", "'soon'", "true", "[]",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn memory_is_a_size_that_a_tool_can_have() {
        let check = |text: &str, is_fine| {
            assert_eq!(Memory::try_from(text.to_owned()).is_ok(), is_fine, "{text}");
        };
        check("1MiB", true);
        check("4GiB", true);
        check("512KiB", false);
        check("5GiB", false);
        check("256", false);
    }

    #[test]
    fn the_stricter_decider_is_the_greater_one() {
        assert!(Decide::Model < Decide::Person && Decide::Person < Decide::Terminal);
    }
}
