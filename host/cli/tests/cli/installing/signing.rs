//! Signatures that others' programs make: a Sigstore of @sigstore/mock, and Debian's minisign.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use airlock_host::digest::Digest;
use tempfile::TempDir;

/// A certificate authority with its logs, that only its own trust root knows.
pub struct Sigstore {
    folder: TempDir,
}

impl Sigstore {
    pub fn new() -> Self {
        let sigstore = Self {
            folder: TempDir::new().unwrap(),
        };
        sigstore.make(&["root"]);
        sigstore
    }

    /// The file of its trust root.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("trusted_root.json")
    }

    /// Signs a digest with a certificate for this identity.
    pub fn keyless(
        &self,
        identity: &str,
        issuer: &str,
        digest: Digest,
        bundle: &Path,
        options: &[&str],
    ) {
        let (digest, bundle) = (digest.to_string(), bundle.to_str().unwrap());
        let words = ["keyless", identity, issuer, &digest, bundle];
        self.make(&[&words[..], options].concat());
    }

    /// Signs a digest with a key, and returns the file of its public part.
    pub fn key(&self, name: &str, digest: Digest, bundle: &Path) -> PathBuf {
        self.make(&["key", name, &digest.to_string(), bundle.to_str().unwrap()]);
        self.folder.path().join(format!("{name}.pub"))
    }

    fn make(&self, words: &[&str]) {
        let script = repository().join("tests/signature/make.mjs");
        let mut command = Command::new("node");
        run(command.arg(script).arg(self.folder.path()).args(words));
    }
}

/// A key of minisign.
pub struct Minisign {
    folder: TempDir,
}

impl Minisign {
    pub fn new() -> Self {
        let key = Self {
            folder: TempDir::new().unwrap(),
        };
        run(key.command("-G").arg("-W").arg("-p").arg(key.file("pub")));
        key
    }

    /// The public key, as a configuration has it.
    pub fn public(&self) -> String {
        let text = fs::read_to_string(self.file("pub")).unwrap();
        text.lines().nth(1).unwrap().to_owned()
    }

    /// Writes the signature of a file next to it.
    pub fn sign(&self, file: &Path) {
        run(self.command("-S").arg("-m").arg(file));
    }

    fn command(&self, does: &str) -> Command {
        let mut command = Command::new(installed().join("bin/minisign"));
        command.arg(does).arg("-s").arg(self.file("key"));
        command
    }

    fn file(&self, ending: &str) -> PathBuf {
        self.folder.path().join(format!("minisign.{ending}"))
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of what `tests/signature/install` installs.
fn installed() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR");
    let target = target.map_or_else(|| repository().join("target"), PathBuf::from);
    let folder = target.join("signature");
    let missing = "run tests/signature/install";
    assert!(folder.join("done").exists(), "{missing}");
    folder
}

#[track_caller]
fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {text}");
}
