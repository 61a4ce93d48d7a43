//! Renames.

use std::io;

use rustix::io::Errno;

use super::Directory;
use crate::bounded::Paths;
use crate::bounds::Access;
use crate::lower::Kind;
use crate::path::is_private;
use crate::walk::LastLink;

impl Directory {
    /// Renames an object, possibly to another directory of the same view.
    ///
    /// # Errors
    /// System errors.
    pub fn rename(&self, path: &str, to: &Directory, new_path: &str) -> io::Result<()> {
        if !self.held.is_same(&to.held) {
            return Err(Errno::XDEV.into());
        }
        let view = &self.held.view;
        let mut state = view.state();
        let must_be_directory = path.ends_with('/') || new_path.ends_with('/');
        let trimmed = path.trim_end_matches('/');
        let from = state.walk(&view.lower, &self.held, trimmed, LastLink::Kept)?;
        let trimmed = new_path.trim_end_matches('/');
        let into = state.walk(&view.lower, &to.held, trimmed, LastLink::Kept)?;
        let (Some((old_directory, _)), Some((new_directory, new_name))) = (from.place, into.place)
        else {
            return Err(Errno::BUSY.into());
        };
        let moved = from.found.ok_or(Errno::NOENT)?;
        let is_directory = state.tree.kind(&moved) == Kind::Directory;
        if must_be_directory && !is_directory {
            return Err(Errno::NOTDIR.into());
        }
        if is_private(&new_name) {
            return Err(Errno::PERM.into());
        }
        self.held.check(&state, Access::Change, &moved)?;
        let at_new_name = || Paths::of(&state.tree, &new_directory).join(&new_name);
        to.held.check_paths(at_new_name, |paths, bounds| {
            paths.check_access(bounds, Access::Change)
        })?;
        if is_directory {
            let at_old_name = || Paths::of(&state.tree, &moved);
            self.held.check_paths(at_old_name, Paths::check_moved)?;
            to.held.check_paths(at_new_name, Paths::check_moved)?;
        }
        // From here on, check in the system's order, so that the same rename fails for the same
        // reason.
        let id = state.own_found(view, &moved)?;
        let target = state.own(view, &new_directory)?;
        if is_directory && state.tree.is_within(target, id) {
            return Err(Errno::INVAL.into());
        }
        if let Some(replaced) = &into.found {
            let replaces_directory = state.tree.kind(replaced) == Kind::Directory;
            let source = state.own(view, &old_directory)?;
            let replaced_id = state.own_found(view, replaced)?;
            if replaces_directory && state.tree.is_within(source, replaced_id) {
                return Err(Errno::NOTEMPTY.into());
            }
            if state.is_same_object(&moved, replaced) {
                return Ok(());
            }
            match (is_directory, replaces_directory) {
                (false, true) => return Err(Errno::ISDIR.into()),
                (true, false) => return Err(Errno::NOTDIR.into()),
                (true, true) if !state.is_empty(&view.lower, replaced)? => {
                    return Err(Errno::NOTEMPTY.into());
                }
                _ => {}
            }
        }
        state.own_directory(view, &old_directory)?;
        state.own_directory(view, &new_directory)?;
        state.tree.check_length(target, &new_name)?;
        if let Some(replaced) = &into.found {
            let replaced = state.own_found(view, replaced)?;
            state.tree.unlink(&view.lower, replaced)?;
        }
        state.tree.move_to(&view.lower, id, target, &new_name)
    }
}
