//! Who decides, for the audit trail.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;

/// The decider of what this program decides by itself.
pub const PROGRAM: &str = "airlock";

/// The user who runs the program: `user@machine`.
pub fn name() -> String {
    let machine = rustix::system::uname();
    format!("{}@{}", user(), machine.nodename().to_string_lossy())
}

fn user() -> String {
    let named = ["USER", "LOGNAME"]
        .into_iter()
        .find_map(|name| env::var(name).ok().filter(|user| !user.is_empty()));
    named
        .or_else(user_id)
        .unwrap_or_else(|| "somebody".to_owned())
}

/// The user's name; their numeric id where the environment has no name.
fn user_id() -> Option<String> {
    let own = fs::metadata("/proc/self").ok()?;
    Some(format!("uid{}", own.uid()))
}
