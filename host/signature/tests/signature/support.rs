//! The other programs.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use airlock_signature::{Digest, PublicKey, TrustRoot};

pub const CONTENTS: &[u8] = b"component";
pub const IDENTITY: &str =
    "https://github.com/ann/dedupe/.github/workflows/release.yml@refs/tags/v1";
pub const ISSUER: &str = "https://token.actions.githubusercontent.com";

/// Runs a program and returns its output.
pub fn run(program: impl AsRef<OsStr>, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(&program).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        let program = program.as_ref().display();
        Err(format!(
            "{program} {arguments:?}: {}{}",
            text(&output.stdout),
            text(&output.stderr)
        ))
    }
}

/// Returns a file of `tests/signature`.
fn script(name: &str) -> String {
    format!(
        "{}/../../tests/signature/{name}",
        env!("CARGO_MANIFEST_DIR")
    )
}

/// Returns the folder of the programs that `tests/signature/install` installs.
pub fn programs() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let folder = target.join("signature");
    assert!(
        folder.join("done").exists(),
        "other verifiers are missing; install them: tests/signature/install"
    );
    folder
}

/// Folders of bundles. Those of a folder have one trust root.
pub struct Maker {
    folder: TempDir,
    programs: PathBuf,
}

impl Maker {
    pub fn new() -> Self {
        let maker = Self {
            folder: TempDir::new().unwrap(),
            programs: programs(),
        };
        fs::write(maker.path("contents"), CONTENTS).unwrap();
        maker
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `make.mjs` in the folder `root`.
    fn make(&self, root: &str, arguments: &[&str]) {
        let folder = self.path(root);
        let mut all = vec![script("make.mjs"), folder.display().to_string()];
        all.extend(arguments.iter().map(ToString::to_string));
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        run("node", &all).unwrap();
    }

    /// Makes a bundle with a certificate about `contents`.
    pub fn keyless(&self, root: &str, contents: &[u8], options: &[&str]) -> Value {
        let digest = Digest::of(contents).to_string();
        let out = self.path("made.json");
        let mut arguments = vec!["keyless", IDENTITY, ISSUER, &digest, out.to_str().unwrap()];
        arguments.extend(options);
        self.make(root, &arguments);
        serde_json::from_slice(&fs::read(out).unwrap()).unwrap()
    }

    /// Makes a bundle by a key about the contents.
    pub fn by_key(&self, name: &str, options: &[&str]) -> Value {
        let digest = Digest::of(CONTENTS).to_string();
        let out = self.path("made.json");
        let mut arguments = vec!["key", name, &digest, out.to_str().unwrap()];
        arguments.extend(options);
        self.make("root", &arguments);
        serde_json::from_slice(&fs::read(out).unwrap()).unwrap()
    }

    /// Copies keys of the folder `root` into another folder.
    pub fn copy(&self, to: &str, names: &[&str]) {
        fs::create_dir(self.path(to)).unwrap();
        for name in names {
            fs::copy(self.path("root").join(name), self.path(to).join(name)).unwrap();
        }
    }

    pub fn trust_root(&self, root: &str) -> TrustRoot {
        let json = fs::read_to_string(self.path(root).join("trusted_root.json")).unwrap();
        TrustRoot::from_json(&json).unwrap()
    }

    pub fn key(&self, name: &str) -> PublicKey {
        PublicKey::from_pem(&fs::read_to_string(self.key_file(name)).unwrap()).unwrap()
    }

    fn key_file(&self, name: &str) -> PathBuf {
        self.path("root").join(format!("{name}.pub"))
    }

    /// Asks `@sigstore/verify` and PyPI's `sigstore`: a line for each bundle, such as `ok` or
    /// `refused`. A bundle has the name of its key if it has one.
    pub fn ask_others(&self, bundles: &[(Vec<u8>, Option<&str>)]) -> [Vec<String>; 2] {
        let cases: Vec<Value> = bundles
            .iter()
            .enumerate()
            .map(|(i, (bytes, key))| {
                let path = self.path(&format!("case{i}.json"));
                fs::write(&path, bytes).unwrap();
                json!({
                    "bundle": path,
                    "root": self.path("root").join("trusted_root.json"),
                    "contents": self.path("contents"),
                    "key": key.map(|key| self.key_file(key)),
                })
            })
            .collect();
        let file = self.path("cases.json");
        fs::write(&file, serde_json::to_vec(&cases).unwrap()).unwrap();
        let ask = |program: &Path, name| {
            let output = run(program, &[&script(name), file.to_str().unwrap()]).unwrap();
            let lines: Vec<String> = output.lines().map(str::to_owned).collect();
            assert_eq!(lines.len(), bundles.len(), "{output}");
            lines
        };
        [
            ask(Path::new("node"), "verify.mjs"),
            ask(&self.programs.join("python/bin/python"), "verify.py"),
        ]
    }
}
