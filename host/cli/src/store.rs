//! Which store the command line means, and opening it.

pub mod file;
mod server;

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use airlock_host::{DurableStore, PendingStore};
use etcetera::base_strategy::{BaseStrategy, choose_base_strategy};

use airlock_render::shell;

use crate::args::StoreArgs;
use crate::failure::Failure;

/// The environment variable for who always uses another store than the default.
const VARIABLE: &str = "AIRLOCK_STORE";

/// A place for a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    File(PathBuf),
    /// With all that the address holds, a password too: never to be shown as it is.
    Postgres(String),
}

/// Who said which store to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChosenBy {
    Nobody,
    Variable,
    Option,
}

/// What becomes of a file that isn't there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenMissing {
    Make,
    /// An error, since there is nothing in it to read; but who has not mistyped an option finds an empty store.
    Refuse,
}

/// The store that a command line chose.
#[derive(Debug, Clone)]
pub struct Choice {
    pub location: Location,
    chosen: ChosenBy,
}

/// An open store.
pub struct Store {
    choice: Choice,
    durable: Arc<dyn DurableStore>,
}

impl Choice {
    pub fn of(args: &StoreArgs) -> Result<Self, Failure> {
        let variable = || env::var_os(VARIABLE).filter(|store| !store.is_empty());
        let (store, chosen) = match &args.store {
            Some(store) => (Some(store.clone()), ChosenBy::Option),
            None => match variable() {
                Some(store) => (Some(store), ChosenBy::Variable),
                None => (None, ChosenBy::Nobody),
            },
        };
        let location = match store {
            Some(store) => Location::read(store)?,
            None => default_location()?,
        };
        Ok(Self { location, chosen })
    }

    /// Whether a file that isn't there is to be made.
    pub fn makes(&self, missing: WhenMissing) -> bool {
        missing == WhenMissing::Make || self.chosen != ChosenBy::Option
    }

    /// A command line of this program that uses the same store.
    pub fn command(&self, words: &[&str]) -> String {
        let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        // What the environment says holds for the next command too.
        if self.chosen == ChosenBy::Option {
            words.extend(["--store".to_owned(), self.location.shown()]);
        }
        let words = shell::join(words.iter().map(String::as_str));
        format!("airlock {words}")
    }
}

impl Location {
    fn read(store: OsString) -> Result<Self, Failure> {
        let text = store.to_string_lossy();
        match text.split_once("://") {
            Some(("postgres" | "postgresql", _)) => Ok(Self::Postgres(text.into_owned())),
            Some((scheme, _)) if is_scheme(scheme) => {
                Err(Failure::usage(format!("there is no store for {scheme}://"))
                    .with_hint("a store is a file, or postgres://USER@HOST/DATABASE"))
            }
            _ if store.is_empty() => Err(Failure::usage("the store's path is empty")),
            _ => Ok(Self::File(PathBuf::from(store))),
        }
    }

    /// Without a password.
    pub fn shown(&self) -> String {
        match self {
            Location::File(path) => path.to_string_lossy().into_owned(),
            Location::Postgres(address) => without_password(address),
        }
    }
}

/// What RFC 3986 calls one; anything else before `://` is part of a path.
fn is_scheme(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// The address without what may be a password, in the places where one may stand. Rather too little is left than too much.
fn without_password(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("postgres", address));
    // A password that is not encoded may hold any of the characters that end one.
    let (user, rest) = match rest.rsplit_once('@') {
        Some((user, rest)) => (user.split(':').next(), rest),
        None => (None, rest),
    };
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let query: Vec<&str> = query
        .split('&')
        .filter(|pair| !pair.is_empty() && !pair.to_ascii_lowercase().contains("pass"))
        .collect();
    let user = user.map(|user| format!("{user}@")).unwrap_or_default();
    let query = match query[..] {
        [] => String::new(),
        _ => format!("?{}", query.join("&")),
    };
    format!("{scheme}://{user}{place}{query}")
}

fn default_location() -> Result<Location, Failure> {
    let user = choose_base_strategy().map_err(|error| {
        Failure::host(format!("there is no place for the pending store: {error}"))
            .with_hint("`--store PATH` or AIRLOCK_STORE names one")
    })?;
    let state = user.state_dir().unwrap_or_else(|| user.data_dir());
    Ok(Location::File(state.join("airlock").join("pending.db")))
}

/// Opens the store that the command line chose.
pub async fn open(args: &StoreArgs, missing: WhenMissing) -> Result<Store, Failure> {
    let choice = Choice::of(args)?;
    let durable = match &choice.location {
        Location::File(path) => file::open(path, choice.makes(missing)).await?,
        Location::Postgres(address) => server::connect(address).await?,
    };
    Ok(Store { choice, durable })
}

impl Store {
    pub fn durable(&self) -> &dyn DurableStore {
        &*self.durable
    }

    /// For a session.
    pub fn pending(&self) -> Arc<dyn PendingStore> {
        Arc::clone(&self.durable) as Arc<dyn PendingStore>
    }

    /// Whether other machines may use it too.
    pub fn is_shared(&self) -> bool {
        matches!(self.choice.location, Location::Postgres(_))
    }

    /// Which it is, for people.
    pub fn location(&self) -> String {
        self.durable.location()
    }

    /// See [`Choice::command`].
    pub fn command(&self, words: &[&str]) -> String {
        self.choice.command(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_a_file_or_a_server() {
        let file = |path: &str| Some(Location::File(path.into()));
        let server = |address: &str| Some(Location::Postgres(address.into()));
        let check = |text: &str, expected| {
            assert_eq!(Location::read(text.into()).ok(), expected, "{text}");
        };
        check("pending.db", file("pending.db"));
        check("/a b/c", file("/a b/c"));
        check("./odd://name", file("./odd://name"));
        check("postgres", file("postgres"));
        check("postgres://u@h/d", server("postgres://u@h/d"));
        check("postgresql://h", server("postgresql://h"));
        check("mysql://h", None);
        check("", None);
    }

    #[test]
    fn a_command_names_the_store_that_an_option_chose() {
        let check = |store: &str, chosen, expected: &str| {
            let location = Location::read(store.into()).unwrap();
            let choice = Choice { location, chosen };
            assert_eq!(choice.command(&["show", "a b"]), expected);
        };
        check(
            "my.db",
            ChosenBy::Option,
            "airlock show 'a b' --store my.db",
        );
        check("my.db", ChosenBy::Variable, "airlock show 'a b'");
        check("my.db", ChosenBy::Nobody, "airlock show 'a b'");
        check(
            "postgres://u:secret@h/d",
            ChosenBy::Option,
            "airlock show 'a b' --store postgres://u@h/d",
        );
    }

    #[test]
    fn a_password_is_never_shown() {
        let check = |address, expected| assert_eq!(without_password(address), expected);
        check("postgres://u@h/d", "postgres://u@h/d");
        check("postgres://h:5432/d", "postgres://h:5432/d");
        check("postgres://u:secret@h:5432/d", "postgres://u@h:5432/d");
        check("postgres://u:se:cr@et@h/d", "postgres://u@h/d");
        check(
            "postgres://u:se/cr?et@h/d?sslmode=require",
            "postgres://u@h/d?sslmode=require",
        );
        check(
            "postgres:///d?host=h&password=secret&user=u",
            "postgres:///d?host=h&user=u",
        );
        check("postgres://h/d?passfile=/p", "postgres://h/d");
        check("postgres://h/d?PASSWORD=x", "postgres://h/d");
    }
}
