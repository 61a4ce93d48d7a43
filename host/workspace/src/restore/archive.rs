//! What is kept of one commit: its record and the original files.

use std::fs::File;
use std::sync::Arc;

use rustix::io::Errno;

use crate::change::{digest_of_content, digest_of_text};
use crate::commit::Record;
use crate::content::Content;
use crate::error::{Doing, RestoreError};
use crate::facts::Facts;
use crate::lower::Lower;
use crate::merge::read_text;
use crate::view::State;

pub(super) struct Archive<'a> {
    pub lower: &'a Lower,
    pub record: &'a Record<'static>,
    /// The path of the folder with the originals.
    pub folder: &'a str,
}

impl Archive<'_> {
    /// Returns the path of an original, by its path before the commit.
    pub fn slot(&self, path: &str) -> Option<Arc<str>> {
        let slot = self.record.slots.get(path)?;
        Some(format!("{}/{slot}", self.folder).into())
    }

    /// Returns the original contents of a file.
    pub fn content(
        &self,
        state: &State,
        path: &str,
        before: &Facts,
    ) -> Result<Content, RestoreError> {
        let file = self.open(path, before)?;
        let reading = || format!("read the original of {path}");
        let layer = state.layer().doing(reading)?;
        let content = layer.spill.copy_of(&file).doing(reading)?;
        let Some(digest) = &before.digest else {
            return Ok(content);
        };
        let found = digest_of_content(&content, state.compare_until()).doing(reading)?;
        if found == *digest {
            Ok(content)
        } else {
            Err(RestoreError::Incomplete(path.to_owned()))
        }
    }

    /// Returns the original text of a file.
    pub fn text(&self, path: &str, before: &Facts) -> Result<String, RestoreError> {
        let file = self.open(path, before)?;
        let text = read_text(&file).doing(|| format!("read the original of {path}"))?;
        text.filter(|text| before.digest.as_ref() == Some(&digest_of_text(text)))
            .ok_or_else(|| RestoreError::Incomplete(path.to_owned()))
    }

    fn open(&self, path: &str, before: &Facts) -> Result<File, RestoreError> {
        let incomplete = || RestoreError::Incomplete(path.to_owned());
        let slot = self.slot(path).ok_or_else(incomplete)?;
        let opened = self.lower.open_file(&slot);
        let (file, stamp) = match opened {
            Err(error) if error.raw_os_error() == Some(Errno::NOENT.raw_os_error()) => {
                return Err(incomplete());
            }
            opened => opened.doing(|| format!("read the original of {path}"))?,
        };
        let is_same_version = match &before.identity {
            Some(identity) => (identity.inode, identity.modified) == (stamp.inode, stamp.modified),
            None => true,
        };
        if stamp.size != before.size || !is_same_version {
            return Err(incomplete());
        }
        Ok(file)
    }
}
