//! The operator's requirements on the signers of installed plugins.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use airlock_host::regular::read_regular_file;
use airlock_registry::{Place, Reference};
use airlock_signature::{IdentityPattern, MinisignKey, PublicKey, RequiredSigner, TrustRoot};
use schemars::JsonSchema;
use serde::Deserialize;

use super::file::File;
use super::operator::below;
use super::problem::Problem;
use super::values::PathText;
use crate::lock::InstalledName;

/// The maximum size of a key or a trust root, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Whose signature installed plugins need. A plugin must meet each requirement that is about it
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Require {
    /// The places that it is about: a registry such as ghcr.io, a part of one such as ghcr.io/ann,
    /// or the beginning of an address or an absolute path, up to a slash. Without any, all
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub from: Vec<Place>,
    /// The names of the installed plugins that it is about. Without any, all
    #[serde(default)]
    pub plugins: Vec<InstalledName>,
    /// The signers, one of which must have signed the plugin
    pub signed_by: Vec<SignedBy>,
    /// The same signers, with their keys.
    #[serde(skip)]
    pub(crate) signers: Vec<RequiredSigner>,
}

/// A signer: an identity and its issuer, a public key, or a key of minisign
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SignedBy {
    /// The identity in the signer's Sigstore certificate: an email address, or the URL of a
    /// workflow. `*` stands for any characters but a slash, and `**` for any characters
    pub identity: Option<String>,
    /// The issuer in the certificate, such as `https://token.actions.githubusercontent.com`
    pub issuer: Option<String>,
    /// The file of a public key in PEM, such as cosign.pub, relative to this file's folder
    pub key: Option<PathText>,
    /// A public key of minisign: the second line of its file
    pub minisign: Option<String>,
}

impl Require {
    /// Returns whether the requirement is about an installed plugin.
    pub(crate) fn is_about(&self, name: &InstalledName, reference: &Reference) -> bool {
        (self.from.is_empty() || self.from.iter().any(|it| it.contains(reference)))
            && (self.plugins.is_empty() || self.plugins.contains(name))
    }
}

impl SignedBy {
    fn read(&self, file: &Path) -> Result<RequiredSigner, String> {
        match (&self.identity, &self.issuer, &self.key, &self.minisign) {
            (Some(identity), Some(issuer), None, None) => Ok(RequiredSigner::Identity {
                identity: IdentityPattern::new(identity),
                issuer: issuer.clone(),
            }),
            (None, None, Some(key), None) => {
                let path = below(file, key);
                let wrong = |problem: String| format!("the key {}: {problem}", path.display());
                let text = text_of(&path).map_err(|error| wrong(error.to_string()))?;
                let key = PublicKey::from_pem(&text).map_err(|error| wrong(error.to_string()))?;
                Ok(RequiredSigner::Key(key))
            }
            (None, None, None, Some(key)) => match MinisignKey::parse(key) {
                Ok(key) => Ok(RequiredSigner::Minisign(key)),
                Err(error) => Err(format!("the key {key:?} of minisign: {error}")),
            },
            _ => Err(
                "a signer has an `identity` and an `issuer`, or a `key`, or `minisign`".to_owned(),
            ),
        }
    }
}

/// Reads the keys and the trust root that a file names, and returns the problems.
pub(super) fn resolve(path: &Path, file: &mut File) -> Vec<Problem> {
    let mut problems = Vec::new();
    let requirements = file.require.iter_mut().flatten().zip(1..);
    for (require, number) in requirements {
        if require.signed_by.is_empty() {
            problems.push(format!(
                "requirement {number} names no signer, so nobody could meet it"
            ));
        }
        for signer in &require.signed_by {
            match signer.read(path) {
                Ok(signer) => require.signers.push(signer),
                Err(problem) => problems.push(format!("requirement {number}: {problem}")),
            }
        }
    }
    if let Some(named) = &file.trust_root {
        let named = below(path, named);
        let read = text_of(&named).map_err(|error| error.to_string());
        let read = read.and_then(|it| TrustRoot::from_json(&it).map_err(|it| it.to_string()));
        match read {
            Ok(trust) => file.trusted = Some(trust),
            Err(problem) => {
                problems.push(format!("the trust root {}: {problem}", named.display()));
            }
        }
    }
    let problems = problems.into_iter();
    problems.map(|it| Problem::of_file(path, it)).collect()
}

/// Returns the files that the requirements trust.
pub(super) fn files<'a>(path: &'a Path, file: &'a File) -> impl Iterator<Item = PathBuf> + 'a {
    let signers = file.require.iter().flatten().flat_map(|it| &it.signed_by);
    let keys = signers.filter_map(|it| it.key.as_ref());
    keys.chain(&file.trust_root).map(move |it| below(path, it))
}

fn text_of(path: &Path) -> io::Result<String> {
    // A folder would be called no regular file.
    fs::metadata(path)?;
    let bytes = read_regular_file(path, MAX_BYTES)?;
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
}
