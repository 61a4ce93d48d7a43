//! JSON from other programs: checked, and kept as text.
//!
//! A tree of values takes up to 88 bytes of memory for each byte of text (`[{},{},…]`), and every
//! reader of a list would build one. So a guest's JSON is checked once without building a tree, and
//! parsed only when its contents are needed.

mod read;

use std::fmt::{self, Write as _};
use std::str::FromStr;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use read::{Checked, Unambiguous};

/// The maximum nesting depth of arrays and objects that are read or written. `serde_json` reads no
/// deeper either.
pub const MAX_JSON_DEPTH: usize = 127;

/// A JSON value as text, without whitespace between its parts: a tool's details or a schema.
///
/// It takes as much memory as the text. The members of objects keep the order in which they were
/// written, and duplicate names are kept. Two values are equal if their texts are; a comparison
/// with a [`Value`] compares their meaning. Serializes as the value, which builds no tree with
/// `serde_json`. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Arc<str>);

impl Json {
    /// Checks that `text` is JSON that [`value`](Json::value) can read, without building a tree.
    ///
    /// # Errors
    /// Fails if `text` is not JSON, has a number that no 64-bit float can hold, or is nested more
    /// than [`MAX_JSON_DEPTH`] deep.
    pub fn checked(text: &str) -> Result<Self, serde_json::Error> {
        let _: Checked = serde_json::from_str(text)?;
        Ok(Self(without_blanks(text)))
    }

    /// Reads a text when one reader gets the value and another one the text.
    ///
    /// # Errors
    /// Fails like [`checked`](Json::checked), and if an object has two members with the same name,
    /// because the two readers might take different ones.
    pub fn read(text: &str) -> Result<(Self, Value), serde_json::Error> {
        let Unambiguous(value) = serde_json::from_str(text)?;
        Ok((Self(without_blanks(text)), value))
    }

    /// Writes a value as text.
    ///
    /// # Errors
    /// Returns [`TooDeep`] if the value is nested more than [`MAX_JSON_DEPTH`] deep.
    pub fn of(value: &Value) -> Result<Self, TooDeep> {
        check_depth(value)?;
        Ok(Self(value.to_string().into()))
    }

    /// Writes a value that the host itself has made.
    pub fn of_own(value: &impl Serialize) -> Self {
        // Only maps with keys that are not texts can't be written, and the host makes none.
        let text = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
        Self(text.into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if this is the value `null`.
    pub fn is_null(&self) -> bool {
        &*self.0 == "null"
    }

    /// Returns the value as a tree, which may take up to 88 bytes of memory for each byte of the
    /// text.
    pub fn value(&self) -> Value {
        // The text was checked when this was created.
        serde_json::from_str(&self.0).unwrap_or_default()
    }

    /// Parses the value as some type.
    ///
    /// # Errors
    /// Fails if the value has another shape.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }

    /// Displays the value with a line for each member and element, indented by two columns per
    /// level.
    pub fn pretty(&self) -> impl fmt::Display + use<'_> {
        Pretty(&self.0)
    }
}

/// An error for a value that is nested deeper than [`MAX_JSON_DEPTH`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("arrays and objects are nested more than {MAX_JSON_DEPTH} deep")]
pub struct TooDeep;

/// Returns an error for a value that is nested too deep for recursive code. Goes no deeper itself.
pub fn check_depth(value: &Value) -> Result<(), TooDeep> {
    fn fits(value: &Value, left: usize) -> bool {
        match value {
            Value::Array(items) => left > 0 && items.iter().all(|it| fits(it, left - 1)),
            Value::Object(members) => left > 0 && members.values().all(|it| fits(it, left - 1)),
            _ => true,
        }
    }
    if fits(value, MAX_JSON_DEPTH) {
        Ok(())
    } else {
        Err(TooDeep)
    }
}

impl TryFrom<Value> for Json {
    type Error = TooDeep;

    fn try_from(value: Value) -> Result<Self, TooDeep> {
        let json = Json::of(&value);
        if json.is_err() {
            take_apart(value);
        }
        json
    }
}

/// Drops a value of any depth without recursion. Dropping a `Value` directly recurses at each
/// level.
pub fn take_apart(value: Value) {
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(members) => left.extend(members.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
}

impl FromStr for Json {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, serde_json::Error> {
        Json::checked(text)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PartialEq<Value> for Json {
    fn eq(&self, other: &Value) -> bool {
        self.value() == *other
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    /// Deserializes from JSON only.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw: Box<RawValue> = Deserialize::deserialize(deserializer)?;
        Json::checked(raw.get()).map_err(serde::de::Error::custom)
    }
}

/// Returns the first `most` bytes of a displayed value, and whether they are all of it. Formats no
/// more than that.
pub fn beginning(text: &impl fmt::Display, most: usize) -> (String, bool) {
    struct Beginning {
        text: String,
        most: usize,
    }

    impl fmt::Write for Beginning {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let room = self.most - self.text.len();
            let end = text.floor_char_boundary(room);
            self.text.push_str(&text[..end]);
            if end == text.len() {
                Ok(())
            } else {
                // The error stops the formatting.
                Err(fmt::Error)
            }
        }
    }

    let mut beginning = Beginning {
        text: String::new(),
        most,
    };
    let is_all = write!(beginning, "{text}").is_ok();
    (beginning.text, is_all)
}

/// Removes the whitespace between the parts of JSON.
fn without_blanks(text: &str) -> Arc<str> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    if !text.as_bytes().iter().any(is_blank) {
        return text.into();
    }
    let mut compact = String::with_capacity(text.len());
    let mut strings = Strings::default();
    let mut kept = 0;
    for (index, byte) in text.bytes().enumerate() {
        if !strings.holds(byte) && is_blank(&byte) {
            compact.push_str(&text[kept..index]);
            kept = index + 1;
        }
    }
    compact.push_str(&text[kept..]);
    compact.into()
}

/// A scanner that knows which bytes of JSON are inside a string.
#[derive(Default)]
struct Strings {
    is_inside: bool,
    is_escaped: bool,
}

impl Strings {
    /// Returns true if the next byte belongs to a string, including its quotation marks.
    fn holds(&mut self, byte: u8) -> bool {
        if !self.is_inside {
            self.is_inside = byte == b'"';
            return self.is_inside;
        }
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' => self.is_escaped = true,
            b'"' => self.is_inside = false,
            _ => {}
        }
        true
    }
}

/// JSON without whitespace, to be displayed with a line for each part.
struct Pretty<'a>(&'a str);

impl fmt::Display for Pretty<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0;
        let bytes = text.as_bytes();
        let mut strings = Strings::default();
        let (mut written, mut depth) = (0, 0);
        for (index, byte) in bytes.iter().copied().enumerate() {
            if strings.holds(byte) {
                continue;
            }
            let is_empty = |close| bytes.get(index + 1) == Some(&close);
            let was_empty = |open| index > 0 && bytes[index - 1] == open;
            match byte {
                b'{' if is_empty(b'}') => continue,
                b'[' if is_empty(b']') => continue,
                b'}' if was_empty(b'{') => continue,
                b']' if was_empty(b'[') => continue,
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                b',' | b':' => {}
                _ => continue,
            }
            // A closing bracket begins its line. Other bytes end one, or are followed by a blank.
            let end = match byte {
                b'}' | b']' => index,
                _ => index + 1,
            };
            f.write_str(&text[written..end])?;
            written = end;
            match byte {
                b':' => f.write_str(" ")?,
                _ => write!(f, "\n{:1$}", "", 2 * depth)?,
            }
        }
        f.write_str(&text[written..])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 60, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_value_comes_back_and_is_shown_as_a_tree_of_it_would_be(value in any_value()) {
            let json = Json::of(&value).unwrap();
            prop_assert_eq!(json.value(), value.clone());
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(json.pretty().to_string(), &*pretty);
            prop_assert_eq!(Json::checked(&pretty).unwrap(), json.clone());
            prop_assert_eq!(Json::read(&pretty).unwrap(), (json.clone(), value.clone()));
            prop_assert_eq!(serde_json::to_string(&[&json]).unwrap(), format!("[{value}]"));
        }

        #[test]
        fn what_is_taken_is_what_a_tree_can_be_built_of(text in "[\\[\\]{}\",:0-9eE.+\\-a\\\\ud8 \n]{0,24}") {
            prop_assert_eq!(Json::checked(&text).is_ok(), serde_json::from_str::<Value>(&text).is_ok());
        }
    }

    #[test]
    fn a_name_that_stands_twice_is_refused_where_value_and_text_are_read() {
        let check = |text: &str, expected: Option<&str>| {
            let refused = Json::read(text).err().map(|error| error.to_string());
            let refused = refused.as_deref();
            assert_eq!(refused, expected, "{text}");
        };
        check(r#"{"a": {"b": 1}, "b": [{"a": 1}, {"a": 2}]}"#, None);
        let told = "the member \"a\" appears twice in one object at line 1 column 20";
        check(r#"{"a": 1, "b": 2, "a": 1}"#, Some(told));
        let told = "the member \"a\" appears twice in one object at line 1 column 24";
        check(r#"{"x": [{"a": 1, "\u0061": 1}]}"#, Some(told));
    }

    #[test]
    fn what_no_tree_could_hold_is_refused() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for text in ["", "{", "1e999", "\"\\ud800\"", "[1,]", "nul", &nested(128)] {
            let taken = Json::checked(text).is_ok() || Json::read(text).is_ok();
            assert!(!taken, "{text}");
            assert!(serde_json::from_str::<Value>(text).is_err(), "{text}");
        }
        assert!(Json::checked(&nested(MAX_JSON_DEPTH)).is_ok());
    }

    #[test]
    fn of_a_long_text_the_beginning_is_written_and_no_more() {
        let json = Json::checked(r#"{"a":"ééé"}"#).unwrap();
        assert_eq!(beginning(&json, 9), ("{\"a\":\"é".to_owned(), false));
        assert_eq!(beginning(&json, 100), (json.to_string(), true));
    }

    #[test]
    fn numbers_and_the_order_of_members_stay_as_they_were_written() {
        let json = Json::checked(" {\"b\": 1.0, \"a\" : [ ], \"b\": \"x \\\" y\"} ").unwrap();
        assert_eq!(json.as_str(), r#"{"b":1.0,"a":[],"b":"x \" y"}"#);
        assert_eq!(json, json!({"a": [], "b": "x \" y"}));
        assert_eq!(
            json.pretty().to_string(),
            "{\n  \"b\": 1.0,\n  \"a\": [],\n  \"b\": \"x \\\" y\"\n}"
        );
    }

    #[test]
    fn a_value_of_any_depth_is_refused_without_overflowing_the_stack() {
        let deep = |depth| (0..depth).fold(json!(0), |inner, _| Value::Array(vec![inner]));
        assert!(Json::try_from(deep(MAX_JSON_DEPTH)).is_ok());
        assert_eq!(Json::try_from(deep(MAX_JSON_DEPTH + 1)), Err(TooDeep));
        assert_eq!(Json::try_from(deep(1_000_000)), Err(TooDeep));
        let mut object = json!({"flat": 1});
        object["deep"] = deep(100_000);
        assert_eq!(Json::try_from(object), Err(TooDeep));
    }
}
