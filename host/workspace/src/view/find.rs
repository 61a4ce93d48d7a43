//! Lookups by path in a view.

use std::fs::File;
use std::io;

use rustix::io::Errno;

use super::{Held, State};
use crate::lower::Lower;
use crate::tree::At;
use crate::walk::{LastLink, Spot, Walk};

impl State {
    pub fn walk(
        &mut self,
        lower: &Lower,
        start: &Held,
        path: &str,
        link: LastLink,
    ) -> io::Result<Spot> {
        let at = self.at(start)?;
        self.walking(lower, start).to(&at, path, link)
    }

    /// Looks up a path.
    pub fn find(
        &mut self,
        lower: &Lower,
        start: &Held,
        path: &str,
        link: LastLink,
    ) -> io::Result<At> {
        match self.quick(lower, start, path, link)? {
            Some(found) => Ok(found),
            None => self.find_by_names(lower, start, path, link),
        }
    }

    /// Looks up a path with a single system call, if that is enough: an object of the real folder
    /// is returned in its current state. Returns `None` if a full lookup is needed.
    pub fn quick(
        &mut self,
        lower: &Lower,
        start: &Held,
        path: &str,
        link: LastLink,
    ) -> io::Result<Option<At>> {
        let at = self.at(start)?;
        let follow = link != LastLink::Kept;
        self.walking(lower, start)
            .quick(&at, path, follow)
            .transpose()
    }

    /// Looks up a path for reading. Also returns the file of the real folder if it was opened.
    pub fn find_to_read(
        &mut self,
        lower: &Lower,
        start: &Held,
        path: &str,
        link: LastLink,
    ) -> io::Result<(At, Option<File>)> {
        let at = self.at(start)?;
        let follow = link != LastLink::Kept;
        match self.walking(lower, start).quick_to_read(&at, path, follow) {
            Some(found) => found,
            None => Ok((self.find_by_names(lower, start, path, link)?, None)),
        }
    }

    /// Looks up a path name by name.
    pub fn find_by_names(
        &mut self,
        lower: &Lower,
        start: &Held,
        path: &str,
        link: LastLink,
    ) -> io::Result<At> {
        let spot = self.walk(lower, start, path, link)?;
        spot.found.ok_or_else(|| Errno::NOENT.into())
    }

    fn walking<'a>(&'a mut self, lower: &'a Lower, start: &'a Held) -> Walk<'a> {
        Walk {
            tree: &self.tree,
            lower,
            reads: &mut self.reads,
            bounds: start.bounds.as_deref(),
        }
    }
}
