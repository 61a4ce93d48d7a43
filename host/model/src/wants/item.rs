//! A component's wants, one by one.

use std::fmt;

use super::{VariableName, WantedHost, Wants};
use crate::pattern::Pattern;
use crate::policy::Paths;

/// One thing that a component wants. Displays in words.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Want {
    /// Reading these paths.
    Read(Pattern),
    /// Changing these paths while applying, and reading them.
    Change(Pattern),
    /// Seeing this environment variable.
    Environment(VariableName),
    /// Clocks that run while an action is applied.
    RealTime,
    /// Fresh randomness while an action is applied.
    FreshRandomness,
    /// Talking to this host.
    Host(WantedHost),
    /// Using this secret.
    Secret(VariableName),
}

impl Wants {
    /// Returns each thing that the component wants, in the order of the fields.
    pub fn items(&self) -> Vec<Want> {
        let mut items: Vec<Want> = self.read.iter().cloned().map(Want::Read).collect();
        items.extend(self.change.iter().cloned().map(Want::Change));
        items.extend(self.environment.iter().cloned().map(Want::Environment));
        items.extend(self.real_time.then_some(Want::RealTime));
        items.extend(self.fresh_randomness.then_some(Want::FreshRandomness));
        items.extend(self.hosts.iter().cloned().map(Want::Host));
        items.extend(self.secrets.iter().cloned().map(Want::Secret));
        items
    }
}

impl Want {
    /// Returns whether a grant of this includes one of the other, as far as the patterns show it.
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            // A path that can be changed can be read, too.
            (Want::Read(paths), Want::Read(other))
            | (Want::Change(paths), Want::Read(other) | Want::Change(other)) => {
                Paths::matching([paths.clone()]).includes(other)
            }
            (one, other) => one == other,
        }
    }
}

impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Want::Read(paths) => write!(f, "read {}", paths.shown()),
            Want::Change(paths) => write!(f, "change {} while applying", paths.shown()),
            Want::Environment(name) => write!(f, "see the variable {name}"),
            Want::RealTime => f.write_str("see the real time while applying"),
            Want::FreshRandomness => f.write_str("get fresh randomness while applying"),
            Want::Host(host) => write!(f, "talk to {host}"),
            Want::Secret(name) => write!(f, "use the secret {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_want_covers_what_comes_with_it() {
        let path = |text: &str| Pattern::new(text).unwrap();
        let check = |one: Want, other: Want, expected| {
            assert_eq!(one.covers(&other), expected, "{one}: {other}");
        };
        check(Want::Read(path("a/")), Want::Read(path("a/")), true);
        check(Want::Read(path("**")), Want::Read(path("a/")), true);
        check(Want::Read(path("a/")), Want::Read(path("**")), false);
        check(Want::Read(path("**")), Want::Change(path("a/")), false);
        check(Want::Change(path("**")), Want::Read(path("a/")), true);
        check(Want::Change(path("**")), Want::Change(path("a/")), true);
        check(Want::Change(path("a/")), Want::Read(path("a/")), true);
        check(Want::Change(path("a/")), Want::Read(path("a/b")), true);
        check(Want::Read(path("a/b")), Want::Read(path("a/")), false);
        check(Want::Read(path("*.md")), Want::Read(path("a/*.md")), false);
        check(Want::RealTime, Want::RealTime, true);
        check(Want::RealTime, Want::FreshRandomness, false);
    }
}
