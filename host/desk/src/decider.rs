//! Who decides, for the audit trail.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;

use airlock_host::pending::Actor;

/// For what this program decides by itself.
pub fn program() -> Actor {
    Actor::program("airlock")
}

/// The user who runs the program: `user@machine`.
pub fn user_at_machine() -> Actor {
    let machine = rustix::system::uname();
    Actor::person(format!(
        "{}@{}",
        user(),
        machine.nodename().to_string_lossy()
    ))
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
