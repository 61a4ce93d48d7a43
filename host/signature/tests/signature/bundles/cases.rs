//! The bundles of a test, and what is expected of each.

use serde_json::Value;

/// The verifiers that a bundle is shown to.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Others {
    /// Both must judge as this crate does.
    Agree,
    /// They accept the bundle; the reason is beside the case.
    Accept,
    /// They refuse it.
    Refuse,
    /// `@sigstore/verify` must judge as this crate does; the other knows no keys.
    JavaScriptAgrees,
    /// PyPI's `sigstore` must judge as this crate does; the other does not.
    PythonAgrees,
}

pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) bundle: Vec<u8>,
    /// The start of the signer, or a part of the error.
    pub(super) expected: Result<String, &'static str>,
    pub(super) others: Others,
    pub(super) keys: Vec<&'static str>,
}

pub(super) struct Cases(pub(super) Vec<Case>);

impl Cases {
    pub(super) fn add(
        &mut self,
        name: &'static str,
        bundle: &Value,
        expected: Result<String, &'static str>,
        others: Others,
    ) -> &mut Case {
        self.add_bytes(name, serde_json::to_vec(bundle).unwrap(), expected, others)
    }

    pub(super) fn add_bytes(
        &mut self,
        name: &'static str,
        bundle: Vec<u8>,
        expected: Result<String, &'static str>,
        others: Others,
    ) -> &mut Case {
        self.0.push(Case {
            name,
            bundle,
            expected,
            others,
            keys: Vec::new(),
        });
        self.0.last_mut().unwrap()
    }
}

/// Returns a copy of a bundle with other values at the pointers. `null` removes a value.
pub(super) fn with(bundle: &Value, changes: &[(&str, Value)]) -> Value {
    let mut bundle = bundle.clone();
    for (pointer, value) in changes {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        match bundle.pointer_mut(parent).unwrap() {
            Value::Object(parent) if value.is_null() => {
                parent.remove(name).unwrap();
            }
            Value::Object(parent) => {
                parent.insert(name.to_owned(), value.clone());
            }
            Value::Array(parent) => parent[name.parse::<usize>().unwrap()] = value.clone(),
            other => panic!("{pointer} in {other}"),
        }
    }
    bundle
}

/// Returns a copy of `bundle` with the values that `other` has at the pointers.
pub(super) fn mixed(bundle: &Value, other: &Value, pointers: &[&str]) -> Value {
    let changes: Vec<(&str, Value)> = pointers
        .iter()
        .map(|pointer| (*pointer, other.pointer(pointer).unwrap().clone()))
        .collect();
    with(bundle, &changes)
}

pub(super) const ENTRIES: &str = "/verificationMaterial/tlogEntries";
pub(super) const PROOF: &str = "/verificationMaterial/tlogEntries/0/inclusionProof";
pub(super) const PROMISE: &str = "/verificationMaterial/tlogEntries/0/inclusionPromise";
pub(super) const TIME: &str = "/verificationMaterial/tlogEntries/0/integratedTime";
pub(super) const CERTIFICATE: &str = "/verificationMaterial/certificate";
pub(super) const TIMESTAMPS: &str = "/verificationMaterial/timestampVerificationData";
pub(super) const SIGNATURES: &str = "/dsseEnvelope/signatures";
pub(super) const HINT: &str = "/verificationMaterial/publicKey/hint";
