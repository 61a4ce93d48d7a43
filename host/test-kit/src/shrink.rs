//! Shrinks a sample that breaks a property.
//!
//! This uses its own loop over JSON values and files instead of a library's loop over generators.
//! So it can also shrink the workspace, and params that an author wrote into a case.

use std::time::{Duration, Instant};

use serde_json::{Map, Number, Value};

use super::files::Entry;
use super::report::Example;

/// Time limit for shrinking one property's sample. A tool that runs into its own time limit takes
/// that long for each try.
const TIME: Duration = Duration::from_secs(20);
const TRIES: usize = 1000;

/// Returns the smallest sample found that still breaks the property. `breaks` is called for each
/// candidate.
///
/// # Errors
/// The error of `breaks`.
pub async fn shrink<E>(
    sample: Example,
    mut breaks: impl AsyncFnMut(&Example) -> Result<bool, E>,
) -> Result<Example, E> {
    let (begun, mut tries) = (Instant::now(), 0);
    let mut smallest = sample;
    loop {
        let mut smaller = None;
        for candidate in candidates(&smallest) {
            tries += 1;
            if tries > TRIES || begun.elapsed() > TIME {
                break;
            }
            if breaks(&candidate).await? {
                smaller = Some(candidate);
                break;
            }
        }
        match smaller {
            Some(smaller) => smallest = smaller,
            None => return Ok(smallest),
        }
    }
}

/// Returns smaller samples, smallest first.
fn candidates(sample: &Example) -> impl Iterator<Item = Example> {
    let with_params = move |params| Example {
        params,
        ..sample.clone()
    };
    let with_files = move |files| Example {
        files,
        ..sample.clone()
    };
    let fewer = sample
        .files
        .paths()
        .map(move |path| with_files(sample.files.without(path)));
    let shorter = sample
        .files
        .iter()
        .filter_map(move |(path, entry)| match entry {
            Entry::File(contents) if contents.len() > 1 => {
                let half = &contents[..contents.len() / 2];
                Some(with_files(sample.files.with_contents(path, half)))
            }
            _ => None,
        });
    let params = smaller(&sample.params).into_iter().map(with_params);
    // Try no files at all first: many tools break without any.
    let none = (!sample.files.is_empty()).then(|| with_files(Default::default()));
    none.into_iter().chain(fewer).chain(params).chain(shorter)
}

/// Returns smaller values.
fn smaller(value: &Value) -> Vec<Value> {
    match value {
        Value::Null | Value::Bool(false) => Vec::new(),
        Value::Bool(true) => vec![Value::Bool(false)],
        Value::Number(number) => smaller_numbers(number),
        Value::String(text) => smaller_texts(text).map(Value::String).collect(),
        Value::Array(items) => smaller_arrays(items),
        Value::Object(members) => smaller_objects(members),
    }
}

fn smaller_objects(members: &Map<String, Value>) -> Vec<Value> {
    let without = members.keys().map(|key| {
        let mut fewer = members.clone();
        fewer.remove(key);
        fewer
    });
    let inside = members.iter().flat_map(|(key, value)| {
        smaller(value).into_iter().map(move |value| {
            let mut changed = members.clone();
            changed.insert(key.clone(), value);
            changed
        })
    });
    without.chain(inside).map(Value::Object).collect()
}

fn smaller_arrays(items: &[Value]) -> Vec<Value> {
    let mut arrays = Vec::new();
    if items.len() > 1 {
        let (first, second) = items.split_at(items.len() / 2);
        arrays.extend([first.to_vec(), second.to_vec()]);
    }
    for index in 0..items.len() {
        let mut fewer = items.to_vec();
        fewer.remove(index);
        arrays.push(fewer);
    }
    for (index, item) in items.iter().enumerate() {
        for item in smaller(item) {
            let mut changed = items.to_vec();
            changed[index] = item;
            arrays.push(changed);
        }
    }
    arrays.into_iter().map(Value::Array).collect()
}

fn smaller_numbers(number: &Number) -> Vec<Value> {
    if let Some(number) = number.as_i64() {
        // Whole numbers shrink by halves, and finally by one.
        let candidates = [0, number / 2, number - number.signum()];
        let closer = candidates
            .into_iter()
            .filter(|other| other.unsigned_abs() < number.unsigned_abs());
        return closer.map(Value::from).collect();
    }
    let number = number.as_f64().unwrap_or_default();
    let closer = [0.0, number.trunc(), number / 2.0]
        .into_iter()
        .filter(|other| other.abs() < number.abs() && other.fract() == 0.0);
    // Values that are not 64-bit integers stay floating-point numbers if necessary.
    closer
        .map(|other| {
            if other.abs() < 9e15 {
                Value::from(other as i64)
            } else {
                Value::from(other)
            }
        })
        .collect()
}

/// Maximum length of a text for trying each of its characters.
const SHORT: usize = 24;

fn smaller_texts(text: &str) -> impl Iterator<Item = String> {
    let letters: Vec<char> = text.chars().collect();
    let count = letters.len();
    let mut texts: Vec<String> = Vec::new();
    if count > 0 {
        texts.push(String::new());
    }
    if count > 1 {
        texts.push(letters[..count / 2].iter().collect());
        texts.push(letters[count / 2..].iter().collect());
    }
    if count <= SHORT {
        for index in 0..count {
            let mut fewer = letters.clone();
            fewer.remove(index);
            texts.push(fewer.iter().collect());
        }
        for (index, letter) in letters.iter().enumerate() {
            if *letter != 'a' {
                let mut plain = letters.clone();
                plain[index] = 'a';
                texts.push(plain.iter().collect());
            }
        }
    } else {
        texts.push(letters[..count - 1].iter().collect());
    }
    texts.into_iter()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use serde_json::json;

    use super::*;
    use crate::files::Files;

    fn shrunk(params: Value, files: Files, breaks: impl Fn(&Example) -> bool) -> Example {
        let sample = Example {
            tool: "tool".to_owned(),
            params,
            files,
        };
        let shrinking = shrink(sample, async |sample: &Example| {
            Ok::<_, Infallible>(breaks(sample))
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let Ok(smallest) = runtime.unwrap().block_on(shrinking);
        smallest
    }

    #[test]
    fn nothing_is_left_but_what_breaks_it() {
        let check = |params: Value, breaks: fn(&Value) -> bool, expected: Value| {
            let smallest = shrunk(params, Files::default(), |sample| breaks(&sample.params));
            assert_eq!(smallest.params, expected);
        };
        check(
            json!({"count": 812, "name": "x", "deep": {"list": [1, 2, 3]}}),
            |params| params["count"].as_i64().is_some_and(|count| count > 10),
            json!({"count": 11}),
        );
        check(
            json!({"text": "a long text with an ü in it, and more"}),
            |params| {
                params["text"]
                    .as_str()
                    .is_some_and(|text| text.contains('ü'))
            },
            json!({"text": "ü"}),
        );
        check(
            json!({"list": [[1], [2, [3, 4]], true]}),
            |params| {
                params["list"]
                    .as_array()
                    .is_some_and(|list| list.len() >= 2)
            },
            json!({"list": [[], false]}),
        );
        check(
            json!({"ratio": -1234.5}),
            |params| params["ratio"].as_f64().is_some_and(|ratio| ratio < -3.0),
            json!({"ratio": -4}),
        );
    }

    #[test]
    fn files_that_do_not_matter_go_and_the_others_become_shorter() {
        let mut files = Files::default();
        files.add_file("a/b.txt", "0123456789");
        files.add_file("a/c.txt", "0123456789");
        let breaks = |sample: &Example| {
            let wanted = |(path, entry): (&str, &Entry)| {
                path == "a/c.txt" && matches!(entry, Entry::File(contents) if contents.len() > 3)
            };
            sample.files.iter().any(wanted)
        };
        let smallest = shrunk(json!({}), files, breaks);
        let mut expected = Files::default();
        expected.add_file("a/c.txt", "01234");
        assert_eq!(smallest.files, expected);
    }
}
