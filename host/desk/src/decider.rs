//! Actors of decisions, for the audit trail.

use std::env;
use std::fs;

use airlock_host::pending::{Actor, DecidedBy, Evidence};

/// Returns the actor of decisions that this program makes by itself.
pub fn program() -> Actor {
    Actor::program("airlock")
}

/// Returns the person who answered on this program's own terminal.
pub fn person_at_terminal() -> DecidedBy {
    Actor::person(user_at_machine()).with_evidence(Evidence::Terminal)
}

/// Returns the caller of this program: a person, a script, or a model with a shell. The program
/// can't tell which.
pub fn unanswered() -> Actor {
    Actor::Unknown {
        name: Some(user_at_machine().into()),
    }
}

/// Returns the user who runs the program, as `user@machine`.
pub fn user_at_machine() -> String {
    let machine = rustix::system::uname();
    format!("{}@{}", user(), machine.nodename().to_string_lossy())
}

fn user() -> String {
    let named = ["USER", "LOGNAME"]
        .into_iter()
        .find_map(|name| env::var(name).ok().filter(|user| !user.is_empty()));
    named.unwrap_or_else(|| {
        let id = rustix::process::geteuid().as_raw();
        let users = fs::read("/etc/passwd").unwrap_or_default();
        // Other users in the file may have names in any encoding.
        name_of(id, &String::from_utf8_lossy(&users)).unwrap_or_else(|| format!("uid{id}"))
    })
}

/// Returns the name of a user of this machine: see passwd(5).
fn name_of(id: u32, users: &str) -> Option<String> {
    let id = id.to_string();
    let mut users = users.lines().map(|line| line.split(':'));
    users.find_map(|mut fields| {
        let name = fields.next().filter(|name| !name.is_empty())?;
        (fields.nth(1)? == id).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_without_a_name_in_the_environment_has_that_of_the_machine() {
        let users = "root:x:0:0:root:/root:/bin/bash\n# broken\nann:x:1000:1000::/home/ann:/bin/sh\n:x:7:\n";
        let check =
            |id, expected: Option<&str>| assert_eq!(name_of(id, users).as_deref(), expected);
        check(0, Some("root"));
        check(1000, Some("ann"));
        check(7, None);
        check(10, None);
    }
}
