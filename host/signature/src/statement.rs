//! The statement that a bundle signs about its subject.

use sigstore_verify::types::bundle::MessageSignature;
use sigstore_verify::types::{DsseEnvelope, HashAlgorithm, SignatureContent, Statement};

use crate::Digest;
use crate::error::{SignatureError, shown};

const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";
const STATEMENTS: [&str; 2] = [
    "https://in-toto.io/Statement/v1",
    "https://in-toto.io/Statement/v0.1",
];
const BARE: &str = "https://sigstore.dev/cosign/sign/v1";
const PROVENANCE: [&str; 2] = [
    "https://slsa.dev/provenance/v1",
    "https://slsa.dev/provenance/v0.2",
];

/// Returns those of the expected digests that the bundle may be about; at least one. Nothing of it
/// is verified yet.
pub(crate) fn read(
    content: &SignatureContent,
    expected: &[Digest],
) -> Result<Vec<Digest>, SignatureError> {
    match content {
        SignatureContent::MessageSignature(message) => read_message(message, expected),
        SignatureContent::DsseEnvelope(envelope) => read_envelope(envelope, expected),
        _ => Err(SignatureError::Unsupported(
            "neither a message signature nor a DSSE envelope".to_owned(),
        )),
    }
}

fn read_message(
    message: &MessageSignature,
    expected: &[Digest],
) -> Result<Vec<Digest>, SignatureError> {
    let Some(digest) = &message.message_digest else {
        // The digest is a hint. Without it, the signature decides.
        return about(expected.to_vec(), Vec::new(), expected);
    };
    if digest.algorithm != HashAlgorithm::Sha2256 {
        return Err(SignatureError::Unsupported(format!(
            "its message digest is {}; only SHA-256 is supported",
            digest.algorithm
        )));
    }
    let bytes: [u8; 32] = digest
        .digest
        .as_bytes()
        .try_into()
        .map_err(|_| SignatureError::Malformed("its digest is not 32 bytes".to_owned()))?;
    let signed = vec![Digest::from_bytes(bytes)];
    about(signed.clone(), signed, expected)
}

fn read_envelope(
    envelope: &DsseEnvelope,
    expected: &[Digest],
) -> Result<Vec<Digest>, SignatureError> {
    if envelope.payload_type != PAYLOAD_TYPE {
        return Err(SignatureError::Unsupported(format!(
            "its payload is {}; only in-toto statements are supported",
            shown(&envelope.payload_type)
        )));
    }
    let statement: Statement =
        serde_json::from_slice(envelope.payload.as_bytes()).map_err(|error| {
            SignatureError::Malformed(shown(&format!("not an in-toto statement: {error}")))
        })?;
    if !STATEMENTS.contains(&statement.type_.as_str()) {
        return Err(SignatureError::Unsupported(format!(
            "a statement of the version {}",
            shown(&statement.type_)
        )));
    }
    let kind = statement.predicate_type.as_str();
    if kind != BARE && !PROVENANCE.contains(&kind) {
        return Err(SignatureError::UnsupportedPredicate(shown(kind)));
    }
    let signed: Vec<Digest> = statement
        .subject
        .iter()
        .filter_map(|subject| subject.digest.sha256.as_ref())
        .map(|sha256| Digest::from_bytes(*sha256.as_bytes()))
        .collect();
    about(signed.clone(), signed, expected)
}

fn about(
    mut candidates: Vec<Digest>,
    mut signed: Vec<Digest>,
    expected: &[Digest],
) -> Result<Vec<Digest>, SignatureError> {
    candidates.retain(|digest| expected.contains(digest));
    candidates.sort();
    candidates.dedup();
    if candidates.is_empty() {
        signed.truncate(8);
        return Err(SignatureError::OtherComponent {
            signed,
            expected: expected.to_vec(),
        });
    }
    Ok(candidates)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read_statement(statement: &Value, expected: &[Digest]) -> Result<Vec<Digest>, String> {
        use base64::Engine as _;
        let payload = base64::engine::general_purpose::STANDARD.encode(statement.to_string());
        let envelope: DsseEnvelope = serde_json::from_value(json!({
            "payloadType": PAYLOAD_TYPE,
            "payload": payload,
            "signatures": [{"sig": ""}],
        }))
        .unwrap();
        read(&SignatureContent::DsseEnvelope(envelope), expected).map_err(|error| error.to_string())
    }

    #[test]
    fn a_statement_is_about_one_of_its_subjects() {
        let digests = [
            Digest::of(b"manifest"),
            Digest::of(b"component"),
            Digest::of(b"other"),
        ];
        let subject = |digest: &Digest| json!({"digest": {"sha256": digest.to_hex()}});
        let statement = |version: &str, kind: &str, subject: Value| json!({"_type": version, "predicateType": kind, "subject": subject});
        let [manifest, component, other] = &digests;
        let expected = [*manifest, *component];
        let several = json!([
            {"digest": {"sha512": "0".repeat(128)}},
            {"digest": {"gitCommit": "0"}},
            subject(other),
            subject(component),
        ]);
        for version in STATEMENTS {
            for kind in [BARE, PROVENANCE[0], PROVENANCE[1]] {
                let signed =
                    read_statement(&statement(version, kind, several.clone()), &expected).unwrap();
                assert_eq!(signed, [*component]);
            }
        }
        let v1 = STATEMENTS[0];
        for (statement, problem) in [
            (
                statement(v1, BARE, json!([subject(other)])),
                "not about this component",
            ),
            (statement(v1, BARE, json!([])), "about no SHA-256 digest"),
            (statement(v1, "", several.clone()), "does not vouch"),
            (
                statement(v1, "https://slsa.dev/provenance/v1/", several.clone()),
                "does not vouch",
            ),
            (
                statement("https://in-toto.io/Statement/v2", BARE, several),
                "of the version",
            ),
            (json!({}), "not an in-toto statement"),
        ] {
            let error = read_statement(&statement, &expected).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
        let ours = statement(v1, BARE, json!([subject(component)]));
        assert!(read_statement(&ours, &[]).is_err());
    }
}
