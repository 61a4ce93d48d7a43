//! What there is at a path, as a view shows it.

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
        let start = self.at(start)?;
        self.walking(lower).to(&start, path, link)
    }

    /// What there is at a path.
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

    /// The same where that can be told by one look: what is of the real folder is as it is now.
    /// None where it can't.
    pub fn quick(
        &mut self,
        lower: &Lower,
        start: &Held,
        path: &str,
        link: LastLink,
    ) -> io::Result<Option<At>> {
        let at = self.at(start)?;
        let follow = link != LastLink::Kept;
        self.walking(lower).quick(&at, path, follow).transpose()
    }

    /// What there is at a path, to read it; with it a file of the real folder that was opened.
    pub fn find_to_read(
        &mut self,
        lower: &Lower,
        start: &Held,
        path: &str,
        link: LastLink,
    ) -> io::Result<(At, Option<File>)> {
        let at = self.at(start)?;
        let follow = link != LastLink::Kept;
        match self.walking(lower).quick_to_read(&at, path, follow) {
            Some(found) => found,
            None => Ok((self.find_by_names(lower, start, path, link)?, None)),
        }
    }

    /// What there is at a path, name by name.
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

    fn walking<'a>(&'a mut self, lower: &'a Lower) -> Walk<'a> {
        Walk {
            tree: &self.tree,
            lower,
            reads: &mut self.reads,
        }
    }
}
