//! Stores by address: choosing one and opening it.

pub mod file;
mod server;

use std::env;
use std::ffi::OsString;
use std::path::{PathBuf, absolute};
use std::sync::Arc;

use airlock_host::effects::Effects;
use airlock_host::pending::{ActionId, CallRecord, DenialRecord, SessionId};
use airlock_host::store::{ActionRecord, BackendErrorKind, DurableStore, UnreadableAction};
use airlock_render::shell;
use etcetera::base_strategy::{BaseStrategy, choose_base_strategy};

use crate::Error;
use crate::configuration::OperatorFiles;

/// The environment variable that sets the default store.
const VARIABLE: &str = "AIRLOCK_STORE";

/// The location of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A file's path.
    File(PathBuf),
    /// An address that may contain a password: never show it unredacted.
    Postgres(String),
}

/// The origin of the choice of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChosenBy {
    Nobody,
    /// A file of the operator's configuration.
    File,
    Variable,
    Option,
}

/// The store options of a command line.
#[derive(Debug, Clone, Default)]
pub struct StoreOptions {
    /// The store.
    pub store: Option<OsString>,
    /// The operator's configuration, which may set the store.
    pub config: OperatorFiles,
}

/// The action to take if the store's file doesn't exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenMissing {
    /// Create it.
    Make,
    /// Fail if the user named the file, since it may be mistyped. Use an empty store if it is the
    /// default.
    Refuse,
}

/// The choice of a store.
#[derive(Debug, Clone)]
pub struct StoreChoice {
    /// The store's location.
    pub location: Location,
    chosen: ChosenBy,
    config: OperatorFiles,
}

/// An open store.
pub struct Store {
    choice: StoreChoice,
    durable: Arc<dyn DurableStore>,
}

impl StoreChoice {
    /// Chooses the store: the one that the user named, else that of `AIRLOCK_STORE`, else that of
    /// the operator's configuration, else the user's default store. Files in a workspace can't
    /// choose it.
    ///
    /// # Errors
    /// Fails if the address or the configuration is invalid, or if the user has no folder for a
    /// store.
    pub fn of(named: &StoreOptions) -> Result<Self, Error> {
        let variable = || env::var_os(VARIABLE).filter(|store| !store.is_empty());
        let (store, chosen) = match (&named.store, variable()) {
            (Some(store), _) => (Some(store.clone()), ChosenBy::Option),
            (None, Some(store)) => (Some(store), ChosenBy::Variable),
            (None, None) => match named.config.operator()?.store() {
                Some((store, _)) => (Some(store.into()), ChosenBy::File),
                None => (None, ChosenBy::Nobody),
            },
        };
        let location = match store {
            Some(store) => Location::read(store)?,
            None => default_location()?,
        };
        Ok(Self {
            location,
            chosen,
            config: named.config.clone(),
        })
    }

    /// Returns the operator's configuration.
    pub fn config(&self) -> &OperatorFiles {
        &self.config
    }

    /// Returns true if `AIRLOCK_STORE` set the store.
    pub fn is_by_variable(&self) -> bool {
        self.chosen == ChosenBy::Variable
    }

    /// Returns true if a missing file should be created.
    pub fn makes(&self, missing: WhenMissing) -> bool {
        missing == WhenMissing::Make || self.chosen != ChosenBy::Option
    }

    /// Returns a command line of this program for the same store, to be run in the same
    /// environment.
    pub fn command(&self, words: &[&str]) -> String {
        // The environment applies to the next command too.
        let named = (self.chosen == ChosenBy::Option).then(|| self.location.without_password());
        self.command_with(words, named)
    }

    /// Returns a command line that can be run in any folder and without the variable. The address
    /// of a server still has to come from the variable, since command lines must not contain
    /// passwords.
    pub fn command_anywhere(&self, words: &[&str]) -> String {
        let named = match (self.chosen, &self.location) {
            (ChosenBy::Option | ChosenBy::Variable, Location::File(path)) => {
                let path = absolute(path).unwrap_or_else(|_| path.clone());
                Some(path.to_string_lossy().into_owned())
            }
            (ChosenBy::Option, server @ Location::Postgres(_)) => Some(server.without_password()),
            _ => None,
        };
        self.command_with(words, named)
    }

    fn command_with(&self, words: &[&str], store: Option<String>) -> String {
        let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        words.extend(store.into_iter().flat_map(|it| ["--store".to_owned(), it]));
        if let Some(config) = self.config.named() {
            let config = config.to_string_lossy().into_owned();
            words.extend(["--config".to_owned(), config]);
        }
        let words = shell::join(words.iter().map(String::as_str));
        format!("airlock {words}")
    }
}

impl Location {
    fn read(store: OsString) -> Result<Self, Error> {
        let text = store.to_string_lossy();
        match text.split_once("://") {
            Some(("postgres" | "postgresql", _)) => Ok(Self::Postgres(text.into_owned())),
            Some((scheme, _)) if is_scheme(scheme) => Err(Error::UnknownStore {
                scheme: scheme.to_owned(),
            }),
            _ if store.is_empty() => Err(Error::EmptyStorePath),
            _ => Ok(Self::File(PathBuf::from(store))),
        }
    }

    /// Returns the address without its password.
    pub fn without_password(&self) -> String {
        match self {
            Location::File(path) => path.to_string_lossy().into_owned(),
            Location::Postgres(address) => without_password(address),
        }
    }
}

/// Returns true for a scheme as RFC 3986 defines it. Any other text before `://` is part of a path.
fn is_scheme(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Removes everything from the address that may be a password. When in doubt, it removes more.
fn without_password(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("postgres", address));
    // An unencoded password may contain any of the characters that end one.
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

fn default_location() -> Result<Location, Error> {
    Ok(Location::File(state_folder()?.join("pending.db")))
}

/// Returns the folder for the user's state.
///
/// # Errors
/// Fails if the user has no such folder.
pub fn state_folder() -> Result<PathBuf, Error> {
    let user = choose_base_strategy().map_err(Error::NoPlace)?;
    let state = user.state_dir().unwrap_or_else(|| user.data_dir());
    Ok(state.join("airlock"))
}

/// Opens the store that the user named, or the default one: see [`StoreChoice::of`].
///
/// # Errors
/// The errors of [`StoreChoice::of`], and those of opening the store.
pub async fn open(named: &StoreOptions, missing: WhenMissing) -> Result<Store, Error> {
    let choice = StoreChoice::of(named)?;
    let durable = match &choice.location {
        Location::File(path) => file::open(path, choice.makes(missing)).await?,
        Location::Postgres(address) => server::connect(address).await?,
    };
    Ok(Store { choice, durable })
}

/// The fewest characters that name an action.
const MIN_ID_CHARS: usize = 4;

/// The number of ids that an ambiguity error lists.
const MAX_LISTED_IDS: usize = 5;

impl Store {
    /// Returns the store, with its operations for operators.
    pub fn durable(&self) -> &dyn DurableStore {
        &*self.durable
    }

    /// Returns a shared handle of the store, such as for a session.
    pub fn shared(&self) -> Arc<dyn DurableStore> {
        Arc::clone(&self.durable)
    }

    /// Returns true if other machines may use the store too.
    pub fn is_shared(&self) -> bool {
        matches!(self.choice.location, Location::Postgres(_))
    }

    /// Returns the store's location, for people.
    pub fn location(&self) -> String {
        self.durable.location()
    }

    /// Returns how the store was chosen.
    pub fn choice(&self) -> &StoreChoice {
        &self.choice
    }

    /// Returns a command line of this program for the same store: see [`StoreChoice::command`].
    pub fn command(&self, words: &[&str]) -> String {
        self.choice.command(words)
    }

    /// Finds the action with this id, in any session. A unique beginning or ending of at least 4
    /// characters is enough, so that a slip of the finger can't decide.
    ///
    /// # Errors
    /// Fails if no action or several actions match, or if the store can't be used.
    pub async fn find(&self, id: &str) -> Result<ActionRecord, Error> {
        let is_too_short = id.chars().count() < MIN_ID_CHARS;
        let mut id = ActionId::from(id);
        if let Some(record) = self.durable().find(&id).await? {
            return Ok(record);
        }
        let mut alike = if is_too_short {
            Vec::new()
        } else {
            let like = self.durable().ids_like(id.as_str(), MAX_LISTED_IDS + 1);
            like.await?
        };
        if alike.len() > 1 {
            let more = alike.len() > MAX_LISTED_IDS;
            alike.truncate(MAX_LISTED_IDS);
            return Err(Error::SeveralActions {
                part: id,
                alike: self.labelled(alike).await?,
                more,
            });
        }
        if let Some(only) = alike.pop() {
            id = only;
            if let Some(record) = self.durable().find(&id).await? {
                return Ok(record);
            }
        }
        let all = self.command(&["pending", "--all"]);
        let log = self.command(&["log", "--all"]);
        Err(Error::NoSuchAction {
            id,
            store: self.location(),
            advice: if is_too_short {
                format!("give at least {MIN_ID_CHARS} characters of an id: `{all}` lists them")
            } else {
                format!("`{all}` lists pending actions, and `{log}` past decisions")
            },
        })
    }

    /// Adds labels to ids, leaving out actions that were removed in the meantime.
    async fn labelled(&self, ids: Vec<ActionId>) -> Result<Vec<(ActionId, String)>, Error> {
        let mut labelled = Vec::new();
        for id in ids {
            if let Some(record) = self.durable().find(&id).await? {
                labelled.push((id, record.action.label));
            }
        }
        Ok(labelled)
    }

    /// Returns the call that pushed an action, with the preview that its caller got. An unreadable
    /// record doesn't prevent viewing the rest or deciding.
    ///
    /// # Errors
    /// Fails if the store can't be used.
    pub async fn call_record(&self, record: &ActionRecord) -> Result<Option<CallRecord>, Error> {
        let id = &record.action.id;
        match self.durable().call_record(&record.session, id).await {
            Err(error) if error.backend_kind() == Some(BackendErrorKind::Damaged) => {
                tracing::error!("the preview of the action {id} is left out: {error}");
                Ok(None)
            }
            call => Ok(call?),
        }
    }

    /// Returns the effects of an action's rehearsal. Damaged effects are reported in the log.
    ///
    /// # Errors
    /// Fails if the store can't be read.
    pub async fn effects(&self, record: &ActionRecord) -> Result<Option<Effects>, Error> {
        let id = &record.action.id;
        match self.durable().effects(&record.session, id).await {
            Err(error) if error.backend_kind() == Some(BackendErrorKind::Damaged) => {
                tracing::error!("what the action {id} does is left out: {error}");
                Ok(None)
            }
            found => Ok(found?.map(|record| record.effects)),
        }
    }

    /// Returns the denials of an action, oldest first.
    ///
    /// # Errors
    /// Fails if the store can't be read.
    pub async fn denials(&self, record: &ActionRecord) -> Result<Vec<DenialRecord>, Error> {
        let id = &record.action.id;
        Ok(self.durable().denials(&record.session, id).await?)
    }

    /// Returns the open actions of a session, or of all, that listings leave out because they can't
    /// be read. An action whose session can't be read may belong to any.
    ///
    /// # Errors
    /// Fails if the store can't be used.
    pub async fn unreadable(
        &self,
        session: Option<&SessionId>,
    ) -> Result<Vec<UnreadableAction>, Error> {
        let mut all = self.durable().unreadable_actions().await?;
        if let Some(session) = session {
            all.retain(|action| action.session == *session || action.session.as_str().is_empty());
        }
        Ok(all)
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

    fn choice(store: &str, chosen: ChosenBy) -> StoreChoice {
        StoreChoice {
            location: Location::read(store.into()).unwrap(),
            chosen,
            config: OperatorFiles::default(),
        }
    }

    #[test]
    fn a_command_names_the_store_that_an_option_chose() {
        let check = |store: &str, chosen, expected: &str| {
            let choice = choice(store, chosen);
            assert_eq!(choice.command(&["show", "a b"]), expected);
        };
        check(
            "my.db",
            ChosenBy::Option,
            "airlock show 'a b' --store my.db",
        );
        check("my.db", ChosenBy::Variable, "airlock show 'a b'");
        check("my.db", ChosenBy::File, "airlock show 'a b'");
        check("my.db", ChosenBy::Nobody, "airlock show 'a b'");
        check(
            "postgres://u:secret@h/d",
            ChosenBy::Option,
            "airlock show 'a b' --store postgres://u@h/d",
        );
    }

    #[test]
    fn a_command_for_anywhere_names_a_file_from_the_root() {
        let check = |store: &str, chosen, expected: &str| {
            let choice = choice(store, chosen);
            assert_eq!(choice.command_anywhere(&["log"]), expected);
        };
        let here = env::current_dir().unwrap().join("my.db");
        let here = shell::join([&*here.to_string_lossy()]);
        let named = format!("airlock log --store {here}");
        check("my.db", ChosenBy::Option, &named);
        check("my.db", ChosenBy::Variable, &named);
        check("my.db", ChosenBy::File, "airlock log");
        check("/my.db", ChosenBy::Nobody, "airlock log");
        let server = "postgres://u:secret@h/d";
        let named = "airlock log --store postgres://u@h/d";
        check(server, ChosenBy::Option, named);
        check(server, ChosenBy::Variable, "airlock log");
    }

    #[test]
    fn a_command_names_the_configuration_that_an_option_named() {
        let choice = StoreChoice {
            config: OperatorFiles::new(Some("/my conf.toml".into())),
            ..choice("my.db", ChosenBy::File)
        };
        let expected = "airlock log --config '/my conf.toml'";
        assert_eq!(choice.command(&["log"]), expected);
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
