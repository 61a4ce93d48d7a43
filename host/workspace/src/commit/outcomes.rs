//! The committed ids, and their notes until they are taken.

use std::fs::File;
use std::io::{self, Write};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::files::{Durable, read, remove_file, sync_now};
use super::private::Private;
use crate::fault::step;
use crate::lower::open_beneath;
use crate::path::PRIVATE;

/// Maximum size of an outcome's record, in bytes. A result of 16 MiB takes at most six times as
/// much as JSON.
const MAX_OUTCOME: u64 = 128 << 20;

impl Private<'_> {
    /// Writes the data to keep for the user of a committed id, which has this index among those of
    /// the commit.
    pub fn write_outcome(
        &self,
        folder: &File,
        at: usize,
        (id, note): (&str, &str),
        durable: Durable,
    ) -> io::Result<()> {
        let record = (id, note);
        let name = outcome_name(at);
        let written = self.write_sealed(folder, &name, "outcome", &record, u64::MAX, durable);
        written.map(drop)
    }

    /// Records an id as committed, and moves its outcome to the folder from which its user takes
    /// it. Some or all of this may have been done before.
    pub fn settle(&self, folder: &File, at: usize, id: &str) -> io::Result<()> {
        let mut committed = self.open_committed()?;
        // A line that was cut off ends before this one begins.
        let starts = committed.metadata()?.len() == 0;
        if !self.is_committed(id)? {
            let line = format!("{id} {}\n", self.hash("committed", id.as_bytes()).to_hex());
            let line = if starts { line } else { format!("\n{line}") };
            step()?;
            committed.write_all(line.as_bytes())?;
        }
        // This is needed even for an existing line: a crash may have come before its sync.
        sync_now(&committed)?;
        let outcomes = self.open_or_make_outcomes()?;
        let outcome = outcome_name(at);
        if read(folder, &outcome, u64::MAX)?.is_some() {
            step()?;
            rustix::fs::renameat(folder, &*outcome, &outcomes, id)?;
        }
        // Both folders had their names before the journal had its own.
        sync_now(&outcomes)
    }

    fn outcomes(&self) -> io::Result<Option<File>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        match open_beneath(&self.folder, "outcomes", flags) {
            Ok(folder) => Ok(Some(File::from(folder))),
            Err(error) if error.raw_os_error() == Some(Errno::NOENT.raw_os_error()) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the outcomes that were not taken yet, by id.
    pub fn waiting(&self) -> io::Result<Vec<(String, String)>> {
        let Some(outcomes) = self.outcomes()? else {
            return Ok(Vec::new());
        };
        let mut waiting = Vec::new();
        for entry in rustix::fs::Dir::read_from(&outcomes)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else {
                continue;
            };
            if name == "." || name == ".." {
                continue;
            }
            let sealed = read(&outcomes, name, MAX_OUTCOME).ok().flatten();
            let record = sealed.as_deref();
            let record = record.and_then(|sealed| self.unsealed("outcome", sealed));
            let found = record.and_then(|record| serde_json::from_slice(record).ok());
            match found {
                Some::<(String, String)>((id, note)) if id == name => waiting.push((id, note)),
                _ => tracing::warn!("{PRIVATE}/outcomes/{name} is not ours, and is left alone"),
            }
        }
        waiting.sort();
        Ok(waiting)
    }

    pub fn take_outcome(&self, id: &str) -> io::Result<()> {
        if let Some(outcomes) = self.outcomes()? {
            remove_file(&outcomes, id)?;
            sync_now(&outcomes)?;
        }
        Ok(())
    }
}

fn outcome_name(at: usize) -> String {
    match at {
        0 => "outcome".to_owned(),
        at => format!("outcome-{at}"),
    }
}
