//! Gives a staged file the attributes of the file that it replaces. The order never gives any user
//! more access than the earlier file did: the file is created with permissions for its owner only,
//! the owner is set before the ACL, and the permissions are set last.

use std::fs::File;
use std::io;

use rustix::fs::{Gid, Uid, XattrFlags, fchmod, fchown, fremovexattr, fsetxattr, fstat};
use rustix::io::Errno;

use crate::error::{Doing, Failed};
use crate::fault::step;
use crate::kept::{ACL, Kept, attribute};
use crate::lower::Stamp;
use crate::system;

/// Sets the attributes. `real` is the earlier file at `path` in the folder, and `mode` the wanted
/// permissions.
pub(super) fn keep(
    kept: &Kept,
    (real, path): (&File, &str),
    made: &File,
    mode: u32,
) -> Result<(), Failed> {
    let keeping = |what: &str| format!("keep {what} of {path}");
    if !kept.has_acl {
        remove_inherited_acl(made).doing(|| format!("stage {path}"))?;
    }
    let (early, late): (Vec<_>, Vec<_>) = kept.attributes.iter().partition(|name| is_early(name));
    for name in early {
        copy(name, real, made).doing(|| keeping(name))?;
    }
    own(kept, made).doing(|| keeping("the owner and the group"))?;
    for name in late {
        copy(name, real, made).doing(|| keeping(name))?;
    }
    let mode = kept.mode(mode);
    set_mode(made, mode).doing(|| keeping("the permissions"))?;
    check(kept, made, mode).doing(|| keeping("the owner and the permissions"))
}

/// Returns whether an attribute is set before the owner. Other users' files can't be written to,
/// and changing the owner removes the security attributes.
fn is_early(name: &str) -> bool {
    name.starts_with("user.") || name.starts_with("trusted.")
}

/// Removes an ACL that came from the private folder, if the earlier file had none.
fn remove_inherited_acl(made: &File) -> io::Result<()> {
    step()?;
    match fremovexattr(made, ACL) {
        Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn copy(name: &str, real: &File, made: &File) -> io::Result<()> {
    // Another program may have removed it.
    let Some(value) = attribute(real, name)? else {
        return Ok(());
    };
    // The system gives some of them to each new file, and programs can't set those.
    if name.starts_with("security.") && attribute(made, name)?.as_ref() == Some(&value) {
        return Ok(());
    }
    step()?;
    Ok(fsetxattr(made, name, &value, XattrFlags::empty())?)
}

fn own(kept: &Kept, made: &File) -> io::Result<()> {
    let now = Stamp::of(&fstat(made)?).owner;
    let user = kept.owner.filter(|user| *user != now.0);
    let group = kept.group.filter(|group| *group != now.1);
    if user.is_some() || group.is_some() {
        step()?;
        fchown(made, user.map(Uid::from_raw), group.map(Gid::from_raw))?;
    }
    Ok(())
}

fn set_mode(made: &File, mode: u32) -> io::Result<()> {
    step()?;
    Ok(fchmod(made, system::mode(mode))?)
}

/// Checks the result, because the system may silently ignore a part of the request.
fn check(kept: &Kept, made: &File, mode: u32) -> io::Result<()> {
    let now = Stamp::of(&fstat(made)?);
    let is_owned = kept.owner.is_none_or(|user| user == now.owner.0)
        && kept.group.is_none_or(|group| group == now.owner.1);
    if is_owned && now.mode & !mode == 0 {
        Ok(())
    } else {
        Err(Errno::PERM.into())
    }
}
