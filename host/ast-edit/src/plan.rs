//! What an action of `ast_edit` remembers until it is decided: its durable state.

use std::path::PathBuf;

use airlock_host::Error;
use airlock_host::digest::Digest;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::params::Params;

/// What is to be done again, and how the files were.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    pub params: Params,
    /// By their paths; not empty.
    pub files: Vec<PlannedFile>,
    /// Whether `limit` left matches that lie behind all of these.
    pub limited: bool,
}

/// A file that is to be changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlannedFile {
    /// From the workspace down.
    pub path: PathBuf,
    /// Of its bytes as they were previewed.
    #[serde(serialize_with = "as_hex", deserialize_with = "from_hex")]
    pub before: Digest,
    /// Of the bytes that it gets.
    #[serde(serialize_with = "as_hex", deserialize_with = "from_hex")]
    pub after: Digest,
    /// How many of its matches are replaced, from the first on.
    pub replacements: usize,
}

impl Plan {
    pub fn read(state: &[u8]) -> Result<Self, Error> {
        serde_json::from_slice(state).map_err(|error| {
            Error::host("the store did not keep what `ast_edit` had planned", error)
        })
    }

    pub fn write(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec(self)
            .map_err(|error| Error::host("could not write what `ast_edit` plans", error))
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

    /// Such as `3 replacements in 1 file`.
    pub fn summary(&self) -> String {
        let (replacements, files) = (self.replacements(), self.files.len());
        format!(
            "{} in {}",
            counted(replacements, "replacement"),
            counted(files, "file")
        )
    }

    /// What is planned, for programs: as many of the files as have room in so many bytes of JSON.
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

/// A number and its noun, in the plural where it is one.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    let end = match (number, noun.ends_with("match")) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{number} {noun}{end}")
}

fn as_hex<S: Serializer>(digest: &Digest, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(digest)
}

fn from_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(serde::de::Error::custom)
}
