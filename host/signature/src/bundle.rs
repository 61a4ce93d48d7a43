//! Sigstore bundles.

use serde::Deserialize;
use serde::de::IgnoredAny;
use sigstore_verify::crypto::{KeyAlgorithm, verify_signature, verify_signature_prehashed};
use sigstore_verify::types::bundle::{VerificationMaterial, VerificationMaterialContent};
use sigstore_verify::types::{Bundle, HashAlgorithm, MediaType, Sha256Hash, SignatureContent};
use sigstore_verify::{
    CertificateError, Error, PublicKeyVerificationPolicy, TimestampError, TransparencyLogError,
    VerificationPolicy, VerificationResult,
};

use crate::error::{SignatureError, shown};
use crate::statement;
use crate::{Digest, PublicKey, Signer, TrustRoot};

/// The maximum size of a bundle that is read, in bytes.
pub const MAX_BUNDLE_BYTES: usize = 1024 * 1024;

/// The maximum number of log entries, and of timestamps; the same as of other verifiers.
const MAX_PROOFS: usize = 32;

/// Verifies a Sigstore bundle of the version 0.1, 0.2 or 0.3 about a component.
///
/// The bundle must be about one of `digests`: the SHA-256 of the manifest or of the component.
/// It is either a message signature or a DSSE envelope with an in-toto statement, which must be a
/// signature by cosign or build provenance.
///
/// The signer is either a certificate or one of `keys`.
/// A certificate must be issued by an authority of `trust`, be in a certificate transparency log,
/// and have been valid when the signature was made, which a transparency log or a timestamp
/// authority must prove; and the signature must be in a transparency log.
/// A signature by a key needs none of these proofs, but those that it has must hold.
///
/// The result names the signer; any certificate will do. Compare the signer with
/// [`RequiredSigner::is_met_by`](crate::RequiredSigner::is_met_by).
///
/// # Errors
///
/// Fails if the bundle is malformed, too large or of an unsupported kind, if it is about something
/// else, and if a proof is missing or wrong.
pub fn verify_bundle(
    bundle: &[u8],
    digests: &[Digest],
    trust: &TrustRoot,
    keys: &[PublicKey],
) -> Result<Signer, SignatureError> {
    let bundle = parse(bundle)?;
    let signed = statement::read(&bundle.content, digests)?;
    check_proofs(&bundle)?;
    match &bundle.verification_material.content {
        VerificationMaterialContent::PublicKey(name) => {
            verify_by_key(&bundle, &signed, trust, keys, &name.hint)
        }
        VerificationMaterialContent::Certificate(_)
        | VerificationMaterialContent::X509CertificateChain { .. } => {
            verify_by_certificate(&bundle, &signed, trust)
        }
        _ => Err(SignatureError::Unsupported(
            "it has neither a certificate nor a key".to_owned(),
        )),
    }
}

/// The parts of a bundle that exclude each other. `sigstore-verify` takes the first of several.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parts {
    media_type: String,
    verification_material: Material,
    message_signature: Option<IgnoredAny>,
    dsse_envelope: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Material {
    certificate: Option<IgnoredAny>,
    x509_certificate_chain: Option<IgnoredAny>,
    public_key: Option<IgnoredAny>,
}

fn parse(bytes: &[u8]) -> Result<Bundle, SignatureError> {
    if bytes.len() > MAX_BUNDLE_BYTES {
        return Err(SignatureError::TooLarge {
            actual: bytes.len(),
            limit: MAX_BUNDLE_BYTES,
        });
    }
    let malformed = |problem: &str| {
        SignatureError::Malformed(shown(&format!("not a Sigstore bundle: {problem}")))
    };
    let text = str::from_utf8(bytes).map_err(|_| malformed("not UTF-8"))?;
    let parts: Parts = serde_json::from_str(text).map_err(|error| malformed(&error.to_string()))?;
    if parts.media_type.parse::<MediaType>().is_err() {
        return Err(SignatureError::Unsupported(format!(
            "its media type is {}",
            shown(&parts.media_type)
        )));
    }
    if parts.message_signature.is_some() == parts.dsse_envelope.is_some() {
        return Err(malformed("expected a message signature or a DSSE envelope"));
    }
    let material = parts.verification_material;
    let signers = [
        material.certificate.is_some(),
        material.x509_certificate_chain.is_some(),
        material.public_key.is_some(),
    ];
    if signers.iter().filter(|&&present| present).count() != 1 {
        return Err(malformed("expected one certificate, chain or key"));
    }
    Bundle::from_json(text).map_err(|error| malformed(&error.to_string()))
}

/// Checks that each log entry has a proof.
///
/// `sigstore-verify` verifies the proofs that are there, but only asks that one entry has one.
fn check_proofs(bundle: &Bundle) -> Result<(), SignatureError> {
    let entries = &bundle.verification_material.tlog_entries;
    let proven = |entry: &sigstore_verify::types::TransparencyLogEntry| match bundle.media_type {
        MediaType::Bundle0_1 => entry.inclusion_promise.is_some(),
        _ => entry.inclusion_proof.is_some(),
    };
    if !entries.iter().all(proven) {
        return Err(SignatureError::NotTrusted(
            "an entry of a transparency log has no proof".to_owned(),
        ));
    }
    if entries.len() > MAX_PROOFS || timestamps(&bundle.verification_material) > MAX_PROOFS {
        return Err(SignatureError::Malformed(format!(
            "it has more than {MAX_PROOFS} log entries or timestamps"
        )));
    }
    Ok(())
}

fn timestamps(material: &VerificationMaterial) -> usize {
    material
        .timestamp_verification_data
        .rfc3161_timestamps
        .len()
}

fn verify_by_certificate(
    bundle: &Bundle,
    signed: &[Digest],
    trust: &TrustRoot,
) -> Result<Signer, SignatureError> {
    if bundle.verification_material.tlog_entries.is_empty() {
        return Err(SignatureError::NotTrusted(
            "it is in no transparency log".to_owned(),
        ));
    }
    let policy = VerificationPolicy::any_identity();
    let verify = |digest: &Digest| trust.verifier().verify(hash(digest), bundle, &policy);
    let result = first_success(signed, verify).map_err(refusal)?;
    // Holds as long as the policy asks for all of it.
    if !(result.certificate_verified() && result.sct_verified() && result.tlog_verified())
        || result.verified_timestamps().is_empty()
    {
        return Err(SignatureError::NotTrusted(
            "a proof was not checked".to_owned(),
        ));
    }
    identity(&result)
}

/// Returns the signer that a verified certificate names.
fn identity(result: &VerificationResult) -> Result<Signer, SignatureError> {
    let identity = result.identity().map(ToString::to_string);
    let (Some(identity), Some(issuer)) = (identity, result.issuer()) else {
        return Err(SignatureError::NotTrusted(
            "its certificate names no identity and issuer".to_owned(),
        ));
    };
    if [identity.as_str(), issuer]
        .iter()
        .any(|text| text.is_empty() || shown(text) != *text)
    {
        return Err(SignatureError::NotTrusted(format!(
            "its certificate has an unusual identity: {} ({})",
            shown(&identity),
            shown(issuer)
        )));
    }
    Ok(Signer::Identity {
        identity,
        issuer: issuer.to_owned(),
    })
}

/// Verifies a bundle with the key that it names, or else with each key.
fn verify_by_key(
    bundle: &Bundle,
    signed: &[Digest],
    trust: &TrustRoot,
    keys: &[PublicKey],
    hint: &str,
) -> Result<Signer, SignatureError> {
    let named: Vec<&PublicKey> = keys.iter().filter(|key| key.is_named(hint)).collect();
    let candidates = if named.is_empty() {
        keys.iter().collect()
    } else {
        named.clone()
    };
    for key in candidates {
        let verify = |digest: &Digest| verify_signature_by(key, bundle, digest).map(|()| *digest);
        match first_success(signed, verify) {
            Ok(digest) => {
                verify_proofs_of_key(bundle, digest, trust, key)?;
                return Ok(key.signer());
            }
            Err(problem) if !named.is_empty() => return Err(problem),
            Err(_) => {}
        }
    }
    Err(SignatureError::UnknownKey(match hint {
        "" => "it names none".to_owned(),
        hint => shown(hint),
    }))
}

/// Verifies the signature alone. `sigstore-verify` demands a log entry or a timestamp.
fn verify_signature_by(
    key: &PublicKey,
    bundle: &Bundle,
    digest: &Digest,
) -> Result<(), SignatureError> {
    let unsupported = |problem: &str| SignatureError::Unsupported(problem.to_owned());
    let algorithm = KeyAlgorithm::from_spki(key.der())
        .map_err(|_| unsupported("the key has an unknown algorithm"))?;
    let verified = match &bundle.content {
        SignatureContent::MessageSignature(message) => {
            let scheme = match &message.message_digest {
                Some(digest) => algorithm
                    .resolve_signing_scheme(digest.algorithm)
                    .map_err(|_| unsupported("the key can't sign a SHA-256"))?,
                None => algorithm.default_signing_scheme(),
            };
            if scheme.hash_algorithm() != Some(HashAlgorithm::Sha2256) {
                return Err(unsupported(
                    "with this key, only a statement about a digest can be verified",
                ));
            }
            verify_signature_prehashed(key.der(), digest.as_bytes(), &message.signature, scheme)
        }
        SignatureContent::DsseEnvelope(envelope) => verify_signature(
            key.der(),
            &envelope.pae(),
            &envelope.signature.sig,
            algorithm.default_signing_scheme(),
        ),
        _ => {
            return Err(unsupported(
                "neither a message signature nor a DSSE envelope",
            ));
        }
    };
    verified.map_err(|_| {
        SignatureError::NotTrusted(format!("the signature is not by the key {}", key.id()))
    })
}

/// Verifies the log entries and timestamps of a bundle by a key, if it has any.
fn verify_proofs_of_key(
    bundle: &Bundle,
    digest: Digest,
    trust: &TrustRoot,
    key: &PublicKey,
) -> Result<(), SignatureError> {
    let policy = PublicKeyVerificationPolicy::new(key.der().clone());
    let material = &bundle.verification_material;
    let policy = match (material.tlog_entries.len(), timestamps(material)) {
        (0, 0) => return Ok(()),
        // There is nothing to skip.
        (0, _) => policy.skip_tlog_unsafe(),
        _ => policy,
    };
    trust
        .verifier()
        .verify(hash(&digest), bundle, &policy)
        .map(|_| ())
        .map_err(refusal)
}

/// Returns the first success, or the last error. A bundle without a digest may be about any.
fn first_success<T, E>(
    digests: &[Digest],
    verify: impl Fn(&Digest) -> Result<T, E>,
) -> Result<T, E> {
    let (last, others) = digests.split_last().expect("a bundle is about a digest");
    match others.iter().find_map(|digest| verify(digest).ok()) {
        Some(success) => Ok(success),
        None => verify(last),
    }
}

fn hash(digest: &Digest) -> Sha256Hash {
    Sha256Hash::new(*digest.as_bytes())
}

/// Says in plain English why `sigstore-verify` refuses a bundle.
fn refusal(error: Error) -> SignatureError {
    let untrusted = |text: &str| SignatureError::NotTrusted(text.to_owned());
    match error {
        Error::SignatureInvalid(_) => {
            untrusted("the signature does not match the contents and the signer")
        }
        Error::ArtifactMismatch(_) => {
            untrusted("its entry in a transparency log is about other contents")
        }
        Error::UnsupportedArtifact(_) => SignatureError::Unsupported(
            "with this kind of key, only a statement about a digest can be verified".to_owned(),
        ),
        Error::UnsupportedBundle(problem) => SignatureError::Unsupported(shown(&problem)),
        Error::InvalidTrustRoot(problem) => untrusted(&shown(&format!(
            "the trust root can't verify it: {problem}"
        ))),
        Error::Certificate(error) => certificate_refusal(&error),
        Error::Timestamp(TimestampError::NoVerifiedTimestamp(_)) => {
            untrusted("nothing proves when it was made")
        }
        Error::Timestamp(error) => untrusted(&shown(&error.to_string())),
        Error::TransparencyLog(error) => log_refusal(&error),
        Error::Bundle(error) => SignatureError::Malformed(shown(&error.to_string())),
        error => untrusted(&shown(&error.to_string())),
    }
}

fn certificate_refusal(error: &CertificateError) -> SignatureError {
    let text = error.to_string();
    match error {
        CertificateError::Expired { .. } => SignatureError::Expired(shown(&text)),
        CertificateError::Malformed(_) => SignatureError::Malformed(shown(&text)),
        // The chain is verified first, by a crate that prints its variants' names.
        CertificateError::ChainInvalid(problem) if problem.contains("CertExpired") => {
            SignatureError::Expired("its chain was no longer valid".to_owned())
        }
        CertificateError::ChainInvalid(problem)
            if problem.contains("UnknownIssuer") || problem.contains("InvalidSignature") =>
        {
            SignatureError::NotTrusted("no trusted authority issued its certificate".to_owned())
        }
        _ => SignatureError::NotTrusted(shown(&text)),
    }
}

fn log_refusal(error: &TransparencyLogError) -> SignatureError {
    let text = match error {
        TransparencyLogError::MalformedEntry(_) => {
            return SignatureError::Malformed(shown(&error.to_string()));
        }
        TransparencyLogError::EntryMismatch(_) => {
            "its entry in a transparency log is about another signature".to_owned()
        }
        TransparencyLogError::UnknownLog { log_id } => {
            format!("its transparency log is unknown: {log_id}")
        }
        other => other.to_string(),
    };
    SignatureError::NotTrusted(shown(&text))
}
