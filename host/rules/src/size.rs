//! Numbers of bytes, as people write them.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A number of bytes. As text it is a whole number and its unit: `64KiB`, `10MiB`, `2GiB`, `1TiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Size(pub u64);

const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];

impl TryFrom<String> for Size {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        parse(&text).map(Size).ok_or_else(|| {
            format!("expected a number and KiB, MiB, GiB or TiB, such as 500KiB or 10MiB, and not {text:?}")
        })
    }
}

fn parse(text: &str) -> Option<u64> {
    let mut units = UNITS.iter().zip(1..);
    let (number, power) =
        units.find_map(|(unit, power)| Some((text.strip_suffix(unit)?, power)))?;
    // A sign would be read too.
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    number.parse::<u64>().ok()?.checked_mul(1 << (10 * power))
}

impl From<Size> for String {
    fn from(size: Size) -> String {
        size.to_string()
    }
}

/// Formats a whole number of a unit as it is parsed, and any other size in bytes.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, unit) in UNITS.iter().enumerate().rev() {
            let bytes = 1_u64 << (10 * (at + 1));
            if self.0 >= bytes && self.0.is_multiple_of(bytes) {
                return write!(f, "{}{unit}", self.0 / bytes);
            }
        }
        write!(f, "{} bytes", self.0)
    }
}

impl JsonSchema for Size {
    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[0-9]+(KiB|MiB|GiB|TiB)$",
            "description": "A number of bytes, such as 64KiB or 10MiB",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_a_whole_number_and_its_unit() {
        let check = |text: &str, expected: Option<u64>| {
            assert_eq!(
                Size::try_from(text.to_owned()).ok(),
                expected.map(Size),
                "{text}"
            );
        };
        check("64KiB", Some(64 << 10));
        check("10MiB", Some(10 << 20));
        check("0GiB", Some(0));
        for wrong in [
            "",
            "10",
            "MiB",
            "10MB",
            "-1KiB",
            "+1KiB",
            "1.5MiB",
            "20000000TiB",
        ] {
            check(wrong, None);
        }
        assert_eq!(Size(10 << 20).to_string(), "10MiB");
        assert_eq!(Size(1025).to_string(), "1025 bytes");
    }
}
