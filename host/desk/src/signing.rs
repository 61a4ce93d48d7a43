//! Who signed plugins, and whose signature is required.

use std::fmt;
use std::sync::Arc;

use airlock_host::digest::Digest;
use airlock_registry::{FoundSignature, Reference, SignatureFormat};
use airlock_signature::{
    MinisignKey, PublicKey, RequiredSigner, SignatureError, Signer, TrustRoot, verify_bundle,
    verify_minisign,
};

use crate::Error;
use crate::configuration::{Problem, Problems, Require};
use crate::fetching::FetchedComponent;
use crate::lock::{Difference, Entry, InstalledName, Lock};

/// The requirements of an operator's files, and the roots of trust. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Signing(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    requirements: Vec<Require>,
    /// `None` for that of Sigstore's public instance.
    trust: Option<TrustRoot>,
    /// The problems of files whose requirements aren't known.
    problems: Vec<Problem>,
}

/// The signers of a component, as far as their signatures can be verified.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Signatures {
    /// The signers, sorted.
    pub signers: Vec<Signer>,
    /// Why each of the other signatures doesn't count.
    pub refused: Vec<String>,
}

/// Returns whether a Sigstore bundle is about something else than this component. Nothing else of
/// it is verified.
pub fn is_about_another(found: &FoundSignature, component: &[u8]) -> bool {
    let digests = [Digest::of(component)];
    let is_bundle = found.format == SignatureFormat::SigstoreBundle;
    let verify = || verify_bundle(&found.bytes, &digests, &TrustRoot::public_good(), &[]);
    is_bundle && matches!(verify(), Err(SignatureError::OtherComponent { .. }))
}

/// A plugin that lacks a required signature. Displays as a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotSigned {
    /// The plugin.
    pub name: InstalledName,
    /// Where it comes from.
    pub reference: Reference,
    /// The signers of whom one is required.
    pub required: Vec<String>,
    /// Its signers.
    pub signers: Vec<Signer>,
    /// Why each of its other signatures doesn't count.
    pub refused: Vec<String>,
}

impl Signing {
    pub(crate) fn new(
        requirements: Vec<Require>,
        trust: Option<TrustRoot>,
        problems: Vec<Problem>,
    ) -> Self {
        Self(Arc::new(Inner {
            requirements,
            trust,
            problems,
        }))
    }

    /// Verifies the signatures that were found for a component. Those by keys that no requirement
    /// names can't be verified.
    ///
    /// They are about the component's bytes, or about the artifact's manifest.
    pub fn verify(&self, fetched: &FetchedComponent, component: &[u8]) -> Signatures {
        let found = &fetched.signatures;
        let mut signatures = Signatures::default();
        if found.is_empty() {
            return signatures;
        }
        let (keys, minisign_keys) = self.keys();
        let digests = [Digest::of(component)].into_iter().chain(fetched.manifest);
        let digests: Vec<Digest> = digests.collect();
        let trust = self.0.trust.clone().unwrap_or_else(TrustRoot::public_good);
        for one in found {
            let verified = match one.format {
                SignatureFormat::SigstoreBundle => {
                    verify_bundle(&one.bytes, &digests, &trust, &keys)
                }
                SignatureFormat::Minisign => verify_minisign(&one.bytes, component, &minisign_keys),
            };
            match verified {
                Ok(signer) => signatures.signers.push(signer),
                Err(error) => signatures.refused.push(format!("{}: {error}", one.place)),
            }
        }
        signatures.signers.sort();
        signatures.signers.dedup();
        signatures
    }

    /// Verifies that those who signed a component that was fetched again include the signers of its
    /// entry, which may be from another machine.
    ///
    /// # Errors
    /// [`Error::Differs`] if one is missing.
    pub fn confirm(
        &self,
        entry: &Entry,
        lock: &Lock,
        fetched: &FetchedComponent,
    ) -> Result<(), Error> {
        let signers = self.verify(fetched, &fetched.bytes()?).signers;
        let lost = entry.signed_by.iter().filter(|it| !signers.contains(it));
        let lost: Vec<Difference> = lost.cloned().map(Difference::SignerLost).collect();
        match &lost[..] {
            [] => Ok(()),
            _ => Err(Error::Differs {
                name: entry.name.clone(),
                lock: lock.path().to_owned(),
                differences: lost,
            }),
        }
    }

    /// Checks that the signers of an entry meet each requirement that is about it.
    ///
    /// # Errors
    /// Those of [`check`](Self::check).
    pub fn check_entry(&self, entry: &Entry) -> Result<(), Error> {
        let signatures = Signatures::verified(entry.signed_by.clone());
        self.check(&entry.name, &entry.reference, &signatures)
    }

    /// Returns the keys that requirements name.
    fn keys(&self) -> (Vec<PublicKey>, Vec<MinisignKey>) {
        let (mut keys, mut minisign_keys) = (Vec::new(), Vec::new());
        for signer in self.0.requirements.iter().flat_map(|it| &it.signers) {
            match signer {
                RequiredSigner::Key(key) => keys.push(key.clone()),
                RequiredSigner::Minisign(key) => minisign_keys.push(key.clone()),
                _ => {}
            }
        }
        (keys, minisign_keys)
    }

    /// Checks that an installed plugin meets each requirement that is about it.
    ///
    /// # Errors
    /// [`Error::NotSigned`] with the first requirement that it doesn't meet, and
    /// [`Error::Configuration`] if a file that may have requirements can't be read.
    pub fn check(
        &self,
        name: &InstalledName,
        reference: &Reference,
        signatures: &Signatures,
    ) -> Result<(), Error> {
        if !self.0.problems.is_empty() {
            return Err(Problems(self.0.problems.clone()).into());
        }
        let is_met = |it: &Require| {
            let mut pairs = it.signers.iter().flat_map(|required| {
                signatures
                    .signers
                    .iter()
                    .map(move |signer| (required, signer))
            });
            pairs.any(|(required, signer)| required.is_met_by(signer))
        };
        let about = |it: &&Require| it.is_about(name, reference);
        let mut requirements = self.0.requirements.iter().filter(about);
        match requirements.find(|it| !is_met(it)) {
            None => Ok(()),
            Some(unmet) => Err(Error::NotSigned(Box::new(NotSigned {
                name: name.clone(),
                reference: reference.clone(),
                required: unmet.signers.iter().map(ToString::to_string).collect(),
                signers: signatures.signers.clone(),
                refused: signatures.refused.clone(),
            }))),
        }
    }
}

impl Signatures {
    /// Returns signatures that were verified before.
    fn verified(signers: Vec<Signer>) -> Self {
        Self {
            signers,
            refused: Vec::new(),
        }
    }
}

impl fmt::Display for NotSigned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, required, .. } = self;
        let required = required.join(" or ");
        match &self.signers[..] {
            [] => write!(f, "{name} is unsigned, and must be signed by {required}")?,
            signers => {
                let signers: Vec<String> = signers.iter().map(ToString::to_string).collect();
                let signers = signers.join(" and ");
                write!(
                    f,
                    "{name} is signed by {signers}, and must be signed by {required}"
                )?;
            }
        }
        for refused in &self.refused {
            write!(f, "; a signature doesn't count: {refused}")?;
        }
        Ok(())
    }
}
