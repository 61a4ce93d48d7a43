//! Bundles with random changes.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use airlock_signature::{Digest, verify_bundle};

use crate::support::{CONTENTS, Maker};

/// A change of the text of a bundle.
#[derive(Debug, Clone)]
enum Change {
    Replace(usize, u8),
    Insert(usize, u8),
    Remove(usize, usize),
    Truncate(usize),
    /// Removes a value, or exchanges two values.
    Prune(usize),
    Exchange(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let position = || any::<usize>();
    prop_oneof![
        (position(), any::<u8>()).prop_map(|(at, byte)| Change::Replace(at, byte)),
        (position(), any::<u8>()).prop_map(|(at, byte)| Change::Insert(at, byte)),
        (position(), 1..40_usize).prop_map(|(at, count)| Change::Remove(at, count)),
        position().prop_map(Change::Truncate),
        position().prop_map(Change::Prune),
        (position(), position()).prop_map(|(one, other)| Change::Exchange(one, other)),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    let length = bytes.len().max(1);
    match *change {
        Change::Replace(at, byte) => {
            if let Some(place) = bytes.get_mut(at % length) {
                *place = byte;
            }
        }
        Change::Insert(at, byte) => bytes.insert(at % (bytes.len() + 1), byte),
        Change::Remove(at, count) => {
            let start = (at % length).min(bytes.len());
            let end = (start + count).min(bytes.len());
            bytes.drain(start..end);
        }
        Change::Truncate(at) => bytes.truncate(at % length),
        Change::Prune(at) => edit(bytes, |json, paths| {
            let path = &paths[at % paths.len()];
            *json.pointer_mut(path).unwrap() = Value::Null;
        }),
        Change::Exchange(one, other) => edit(bytes, |json, paths| {
            let (one, other) = (&paths[one % paths.len()], &paths[other % paths.len()]);
            let value = json.pointer(other).unwrap().clone();
            *json.pointer_mut(one).unwrap() = value;
        }),
    }
}

fn edit(bytes: &mut Vec<u8>, change: impl FnOnce(&mut Value, &[String])) {
    let Ok(mut json) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    let mut paths = Vec::new();
    list(&json, String::new(), &mut paths);
    change(&mut json, &paths);
    *bytes = serde_json::to_vec(&json).unwrap();
}

fn list(json: &Value, path: String, paths: &mut Vec<String>) {
    match json {
        Value::Object(fields) => {
            for (name, value) in fields {
                list(value, format!("{path}/{name}"), paths);
            }
        }
        Value::Array(items) => {
            for (i, value) in items.iter().enumerate() {
                list(value, format!("{path}/{i}"), paths);
            }
        }
        _ => {}
    }
    paths.push(path);
}

#[test]
fn an_altered_bundle_has_no_other_signer() {
    let maker = Maker::new();
    let bundles = [
        maker.keyless("root", CONTENTS, &["--timestamp"]),
        maker.keyless("root", CONTENTS, &["--message", "--rekor2"]),
        maker.keyless("root", CONTENTS, &["--bundle", "0.1"]),
        maker.by_key("ann", &["--log"]),
        maker.by_key("ann", &["--message"]),
    ];
    let bundles = bundles.map(|bundle| serde_json::to_vec(&bundle).unwrap());
    let (trust, keys) = (maker.trust_root("root"), [maker.key("ann")]);
    let digests = [Digest::of(CONTENTS)];
    let verify = |bundle: &[u8]| verify_bundle(bundle, &digests, &trust, &keys);
    let changes = proptest::collection::vec(change(), 1..3);
    // As many as `PROPTEST_CASES` says.
    TestRunner::new(Config::default())
        .run(&(0..bundles.len(), changes), |(which, changes)| {
            let mut altered = bundles[which].clone();
            for change in &changes {
                apply(&mut altered, change);
            }
            if let Ok(signature) = verify(&altered) {
                prop_assert_eq!(Ok(signature), verify(&bundles[which]));
            }
            Ok(())
        })
        .unwrap();
}
