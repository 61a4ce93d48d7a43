//! The access control list (ACL) that a new file or directory inherits from its future directory,
//! instead of from the private folder in which it is created.

use std::collections::HashMap;
use std::fs::File;
use std::io;

use rustix::fs::{OFlags, XattrFlags, fremovexattr, fsetxattr};
use rustix::io::Errno;

use crate::fault::step;
use crate::kept::attribute;
use crate::lower::Lower;

/// The attribute that holds the ACL that new files in a directory inherit, in Linux.
pub(crate) const DEFAULT_ACL: &str = "system.posix_acl_default";

/// The default ACLs of directories. The transaction's folder is given the required one, so that
/// the system itself creates the ACL of new objects there.
pub(super) struct Inherited<'a> {
    folder: &'a File,
    lower: &'a Lower,
    /// The ACLs by path.
    known: HashMap<String, Option<Vec<u8>>>,
    /// The ACL of the transaction's folder. `None` until it is read: it may have inherited one
    /// from the private folder.
    now: Option<Option<Vec<u8>>>,
}

impl<'a> Inherited<'a> {
    pub fn new(folder: &'a File, lower: &'a Lower) -> Self {
        Self {
            folder,
            lower,
            known: HashMap::new(),
            now: None,
        }
    }

    /// Lets the next objects in the transaction's folder inherit from this directory of the real
    /// folder. Returns whether there is anything to inherit.
    pub fn from(&mut self, directory: &str) -> io::Result<bool> {
        let acl = match self.known.get(directory) {
            Some(known) => known.clone(),
            None => {
                let acl = self.default_acl(directory)?;
                self.known.insert(directory.to_owned(), acl.clone());
                acl
            }
        };
        self.set(acl)
    }

    /// Lets the next objects inherit nothing.
    pub fn nothing(&mut self) -> io::Result<()> {
        self.set(None).map(drop)
    }

    fn default_acl(&self, directory: &str) -> io::Result<Option<Vec<u8>>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        match self.lower.open(directory, flags) {
            Ok(directory) => attribute(&File::from(directory), DEFAULT_ACL),
            // The directory may still be writable.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn set(&mut self, acl: Option<Vec<u8>>) -> io::Result<bool> {
        if self.now.as_ref() != Some(&acl) {
            step()?;
            match &acl {
                Some(acl) => fsetxattr(self.folder, DEFAULT_ACL, acl, XattrFlags::empty())?,
                None => match fremovexattr(self.folder, DEFAULT_ACL) {
                    Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP) => {}
                    Err(error) => return Err(error.into()),
                },
            }
            self.now = Some(acl);
        }
        Ok(matches!(self.now, Some(Some(_))))
    }
}
