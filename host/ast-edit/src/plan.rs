//! The durable state of an `ast_edit` action, from its preview until it is resolved.

use std::path::PathBuf;

use airlock_host::Error;
use airlock_host::digest::Digest;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::params::Params;

/// The params to execute again, and the state of the files.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    pub params: Params,
    /// The files, by path. Not empty.
    pub files: Vec<PlannedFile>,
    /// True if `limit` left out matches, all of them after these files.
    pub limited: bool,
}

/// A file to change.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlannedFile {
    /// The path, relative to the workspace.
    pub path: PathBuf,
    /// The digest of its bytes at the preview.
    pub before: Before,
    /// The digest of its new bytes.
    pub after: After,
    /// The number of its matches to replace, starting with the first.
    pub replacements: usize,
}

/// The start of a digest, long enough that no one can find other bytes with the same one. The host
/// compares whole digests in addition.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Before([u8; 16]);

/// The start of a digest of this program's own output, which only has to detect accidental
/// differences.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct After([u8; 8]);

impl From<Digest> for Before {
    fn from(digest: Digest) -> Self {
        Self(beginning(&digest))
    }
}

impl From<Digest> for After {
    fn from(digest: Digest) -> Self {
        Self(beginning(&digest))
    }
}

fn beginning<const N: usize>(digest: &Digest) -> [u8; N] {
    std::array::from_fn(|index| digest.as_bytes()[index])
}

/// The fewest bytes that each file takes.
pub(crate) const FILE_BYTES: usize = 16 + 8 + 4;

/// The serialized form of a plan. It is compact, so that 100,000 files take some 40 bytes each.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// The params as JSON, which is self-describing.
    params: String,
    limited: bool,
    files: Vec<KeptFile>,
}

#[derive(Serialize, Deserialize)]
struct KeptFile {
    /// The number of bytes that its path has in common with the previous file's.
    shared: usize,
    /// The rest of its path.
    rest: String,
    before: Before,
    after: After,
    replacements: usize,
}

impl Plan {
    pub fn read(state: &[u8]) -> Result<Self, Error> {
        Self::unpack(state).map_err(|error| {
            Error::native("the store did not keep what `ast_edit` had planned", error)
        })
    }

    fn unpack(state: &[u8]) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let kept: Kept = postcard::from_bytes(state)?;
        let mut files: Vec<PlannedFile> = Vec::with_capacity(kept.files.len());
        let mut path = String::new();
        for file in kept.files {
            if !path.is_char_boundary(file.shared) {
                return Err("a path shares more with the one before than that has".into());
            }
            path.truncate(file.shared);
            path.push_str(&file.rest);
            files.push(PlannedFile {
                path: PathBuf::from(&path),
                before: file.before,
                after: file.after,
                replacements: file.replacements,
            });
        }
        Ok(Self {
            params: serde_json::from_str(&kept.params)?,
            files,
            limited: kept.limited,
        })
    }

    pub fn write(&self) -> Result<Vec<u8>, Error> {
        self.pack()
            .map_err(|error| Error::native("could not write what `ast_edit` plans", error))
    }

    fn pack(&self) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
        let mut files = Vec::with_capacity(self.files.len());
        let mut before = "";
        for file in &self.files {
            let path = file.path.to_str().ok_or("a path is not UTF-8")?;
            let alike = before.chars().zip(path.chars());
            let alike = alike.take_while(|(one, other)| one == other);
            let shared = alike.map(|(c, _)| c.len_utf8()).sum();
            files.push(KeptFile {
                shared,
                rest: path[shared..].to_owned(),
                before: file.before,
                after: file.after,
                replacements: file.replacements,
            });
            before = path;
        }
        let kept = Kept {
            params: serde_json::to_string(&self.params)?,
            limited: self.limited,
            files,
        };
        Ok(postcard::to_allocvec(&kept)?)
    }

    pub fn replacements(&self) -> usize {
        self.files.iter().map(|file| file.replacements).sum()
    }

    pub fn file(&self, path: &std::path::Path) -> Option<&PlannedFile> {
        let index = self
            .files
            .binary_search_by(|file| file.path.as_path().cmp(path));
        index.ok().map(|index| &self.files[index])
    }

    /// Returns a summary, such as `3 replacements in 1 file`.
    pub fn summary(&self) -> String {
        let (replacements, files) = (self.replacements(), self.files.len());
        format!(
            "{} in {}",
            counted(replacements, "replacement"),
            counted(files, "file")
        )
    }

    /// Returns the plan for programs, with as many files as fit into `room` bytes of JSON.
    pub fn to_json(&self, dry_run: bool, room: usize) -> Value {
        let mut left = room;
        let files: Vec<Value> = self
            .files
            .iter()
            .map(|file| json!({"path": file.path, "replacements": file.replacements}))
            .take_while(|file| {
                let size = file.to_string().len() + 1;
                let fits = size <= left;
                left = left.saturating_sub(size);
                fits
            })
            .collect();
        let mut object = json!({
            "dryRun": dry_run,
            "replacements": self.replacements(),
            "fileCount": self.files.len(),
        });
        if files.len() < self.files.len() {
            object["filesOmitted"] = (self.files.len() - files.len()).into();
        }
        object["files"] = files.into();
        object
    }
}

/// Returns a number with its noun, in the plural if needed.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    let end = match (number, noun.ends_with("match")) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{number} {noun}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(paths: impl IntoIterator<Item = String>) -> Plan {
        let file = |path: String| PlannedFile {
            before: Digest::of(path.as_bytes()).into(),
            after: Digest::of(path.to_uppercase().as_bytes()).into(),
            replacements: path.len(),
            path: path.into(),
        };
        let params = json!({"ops": [{"pat": "a($A)", "out": "b($A)"}], "lang": "js"});
        Plan {
            params: serde_json::from_value(params).unwrap(),
            files: paths.into_iter().map(file).collect(),
            limited: true,
        }
    }

    #[test]
    fn a_plan_comes_back_as_it_was() {
        let plan = plan(["a.js", "a.jsx", "b/ä.js", "b/äb.js", "b/ö.js"].map(str::to_owned));
        assert_eq!(Plan::read(&plan.write().unwrap()).unwrap(), plan);
    }

    #[test]
    fn a_hundred_thousand_files_are_kept_in_four_mebibytes() {
        let path = |number: usize| {
            let (folder, file) = (number / 100, number % 100);
            format!("packages/component-{folder:03}/src/parts/file-{file:02}.test.tsx")
        };
        let state = plan((0..100_000).map(path)).write().unwrap();
        assert!(state.len() < 4 << 20, "{} bytes", state.len());
    }

    #[test]
    fn what_is_no_plan_is_refused() {
        let good = plan(["ä.js".to_owned(), "äb.js".to_owned()])
            .write()
            .unwrap();
        for cut in 0..good.len() {
            assert!(Plan::read(&good[..cut]).is_err(), "{cut}");
        }
        assert!(Plan::read(b"{\"params\":{}}").is_err());
    }
}
