//! `airlock install`: fetches a plugin, asks for grants, and pins it.

mod asking;
pub mod candidate;
pub mod describing;

use airlock_desk::configuration::{Grant, GrantWord, OperatorFiles};
use airlock_desk::fetching::{self, FetchedComponent};
use airlock_desk::lock::{Difference, Entry, InstalledName, Lock};
use airlock_desk::signing::Signing;
use airlock_registry::Reference;
use airlock_render::{Block, Line, Role};

use crate::bundled::CATALOG;
use crate::commands::installed::Effective;
use crate::documents::installed::{InstallReport, InstallState, InstalledPlugin, Installs};
use crate::failure::{Exit, Failure};
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::{Output, show_on_stderr};
use crate::terminal::progress::Progress;
use candidate::{Candidate, downloading};

/// The arguments of the command.
pub struct Request {
    /// `None` to fetch the components that the lock lists.
    pub reference: Option<Reference>,
    pub name: Option<InstalledName>,
    pub consent: Consent,
    pub files: OperatorFiles,
}

/// The decision about grants.
pub enum Consent {
    /// Asks the person at the terminal.
    Ask,
    /// Grants a new plugin all its wants, and an installed one nothing more.
    Given,
    /// Grants nothing but these.
    Exactly(Vec<GrantWord>),
    /// Grants these in addition.
    Also(Vec<GrantWord>),
}

impl Consent {
    /// Returns the grant that needs no question. `None` to ask.
    fn grant(&self, before: Option<&Entry>, entry: &Entry) -> Option<Grant> {
        let granted = before.map(|it| it.grant.clone());
        match self {
            Consent::Ask => None,
            Consent::Given => Some(granted.unwrap_or_else(|| Grant::of_wants(&entry.wants()))),
            Consent::Exactly(words) => Some(Grant::of_wants([]).with_words(words.iter().cloned())),
            Consent::Also(words) => {
                let granted = granted.unwrap_or_else(|| Grant::of_wants([]));
                Some(granted.with_words(words.iter().cloned()))
            }
        }
    }

    /// Notes each grant of the command line that has no effect, because the plugin doesn't want it.
    fn note_unwanted(&self, entry: &Entry) {
        let (Consent::Exactly(words) | Consent::Also(words)) = self else {
            return;
        };
        if entry.facts.wants.is_none() {
            return;
        }
        let nothing = Grant::of_wants([]);
        for word in words {
            let alone = nothing.clone().with_words([word.clone()]);
            if alone != nothing && alone.limited_to(&entry.wants()) == nothing {
                let text = format!("{} doesn't want {word}, so this is not granted", entry.name);
                show_on_stderr(&Block::new().own_named(Role::Note, "note:", &text, 2));
            }
        }
    }
}

/// The outcome for a plugin.
pub struct Done {
    pub entry: Entry,
    pub state: InstallState,
    /// The differences from the installed version, if there was one.
    pub differences: Vec<Difference>,
}

pub async fn install(request: Request, verbose: u8, out: &mut Output) -> Result<Exit, Failure> {
    let (interrupt, progress) = (Interrupt::watch(), Progress::new(verbose));
    let lock = lock_of(&request.files)?;
    let Some(reference) = &request.reference else {
        return fetch_missing(&lock, &request.files, &interrupt, &progress, out).await;
    };
    let name = name_for(reference, request.name)?;
    let reference = candidate::absolute(reference)?;
    let before = lock.find(name.as_str()).cloned();
    if let Some(before) = before.as_ref().filter(|it| !it.is_from(&reference)) {
        let message = format!("{name} is installed already, from {}", before.reference);
        let hint = format!("choose another name: `--as NAME`, or `airlock uninstall {name}` first");
        return Err(Failure::usage(message).quoting().with_hint(hint));
    }
    let signing = signing_of(&request.files)?;
    let candidate = Candidate {
        lock: &lock,
        signing: &signing,
        name,
        reference,
    };
    let entry = candidate.fetch(&interrupt, &progress).await?;
    let done = decide(&lock, before, entry, &request.consent, &interrupt, out).await?;
    report(&[done], &[], &request.files, out);
    Ok(Exit::Done)
}

/// Returns the lock that the command changes.
///
/// # Errors
/// If there is no folder for it, its configuration file doesn't exist, or the lock has errors.
pub fn lock_of(files: &OperatorFiles) -> Result<Lock, Failure> {
    if let Some(named) = files.named().filter(|it| !it.is_file()) {
        let message = format!("there is no configuration file {}", named.display());
        return Err(Failure::usage(message).with_hint("create it first; it may be empty"));
    }
    let lock = files.own_lock().map_err(airlock_desk::Error::from)?;
    lock.ok_or_else(|| {
        Failure::host("there is no configuration folder for airlock.lock")
            .with_hint("name a configuration file: `--config FILE`")
    })
}

/// Returns the requirements on signers.
///
/// # Errors
/// If the configuration has errors.
pub fn signing_of(files: &OperatorFiles) -> Result<Signing, Failure> {
    Ok(files.signing().map_err(airlock_desk::Error::from)?)
}

fn name_for(reference: &Reference, given: Option<InstalledName>) -> Result<InstalledName, Failure> {
    let name = match given {
        Some(name) => name,
        None => InstalledName::suggested_by(reference).ok_or_else(|| {
            Failure::usage(format!("{reference} suggests no name"))
                .quoting()
                .with_hint("choose one: `--as NAME`")
        })?,
    };
    if CATALOG.find(name.as_str()).is_some() {
        let message = format!("a plugin called {name} is bundled with this program");
        return Err(Failure::usage(message).with_hint("choose another name: `--as NAME`"));
    }
    Ok(name)
}

/// Fetches the components that the lock lists and that are missing.
async fn fetch_missing(
    lock: &Lock,
    files: &OperatorFiles,
    interrupt: &Interrupt,
    progress: &Progress,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let signing = signing_of(files)?;
    let (mut all, mut failures) = (Vec::new(), Vec::new());
    for entry in lock.entries() {
        let what = format!("Fetching {}…", entry.name);
        let mut shown = downloading(progress, &entry.name);
        let cache = lock.components();
        let fetching = fetching::fetch_pinned(entry, &cache, &mut shown);
        let fetching = progress.during(what, fetching);
        let fetched = interrupt.token().run_until_cancelled(fetching).await;
        let fetched = fetched.ok_or_else(Failure::interrupted)?;
        let checked = fetched.and_then(|(was_missing, component)| {
            check_signers(lock, entry, &signing, component)?;
            Ok(was_missing)
        });
        let state = match checked {
            Ok(true) => InstallState::Fetched,
            Ok(false) => InstallState::Unchanged,
            Err(error) => {
                failures.push(Failure::from(error));
                continue;
            }
        };
        all.push(Done {
            entry: entry.clone(),
            state,
            differences: Vec::new(),
        });
    }
    report(&all, &failures, files, out);
    Ok(failures.first().map_or(Exit::Done, Failure::exit))
}

/// Checks the signers of a component that may have been fetched.
fn check_signers(
    lock: &Lock,
    entry: &Entry,
    signing: &Signing,
    fetched: Option<FetchedComponent>,
) -> Result<(), airlock_desk::Error> {
    if let Some(fetched) = fetched {
        let confirmed = signing.confirm(entry, lock, &fetched);
        confirmed.inspect_err(|_| drop(lock.components().remove(entry.digest)))?;
    }
    signing.check_entry(entry)
}

/// Shows the candidate, asks unless that is answered, and pins it.
pub async fn decide(
    lock: &Lock,
    before: Option<Entry>,
    mut entry: Entry,
    consent: &Consent,
    interrupt: &Interrupt,
    out: &mut Output,
) -> Result<Done, Failure> {
    let differences = before
        .as_ref()
        .map_or_else(Vec::new, |it| entry.differences_from(it));
    let shown = match &before {
        Some(before) if before.is_as(&entry) => return unchanged(lock, before, &entry, consent),
        Some(before) => describing::update(before, &entry, &differences),
        None => describing::new(&entry),
    };
    let granted = match consent.grant(before.as_ref(), &entry) {
        Some(grant) => {
            out.show(&shown);
            Some(grant)
        }
        None => {
            let question = asking::Question::new(before.as_ref(), &entry, &differences, shown);
            let asked = question.ask(interrupt, out).await;
            asked.inspect_err(|_| drop(lock.forget(entry.digest)))?
        }
    };
    let Some(granted) = granted else {
        lock.forget(entry.digest)?;
        let state = match before {
            Some(_) => InstallState::Kept,
            None => InstallState::Declined,
        };
        return Ok(Done {
            entry: before.unwrap_or(entry),
            state,
            differences,
        });
    };
    // If a later version wants more, it has to ask.
    entry.set_grant(granted);
    consent.note_unwanted(&entry);
    lock.replace(before.as_ref(), Some(entry.clone()))?;
    Ok(Done {
        entry,
        state: match before {
            Some(_) => InstallState::Updated,
            None => InstallState::Installed,
        },
        differences,
    })
}

/// Keeps a plugin whose component is the same, with the grants of the command line.
fn unchanged(lock: &Lock, before: &Entry, now: &Entry, consent: &Consent) -> Result<Done, Failure> {
    let mut entry = before.clone();
    entry.manifest = now.manifest;
    if let Some(grant) = consent.grant(Some(before), before) {
        entry.set_grant(grant);
        consent.note_unwanted(&entry);
    }
    let state = if entry.grant == before.grant {
        InstallState::Unchanged
    } else {
        InstallState::Updated
    };
    if *before != entry {
        lock.replace(Some(before), Some(entry.clone()))?;
    }
    Ok(Done {
        entry,
        state,
        differences: Vec::new(),
    })
}

/// Reports the outcomes and failures.
pub fn report(all: &[Done], failures: &[Failure], files: &OperatorFiles, out: &mut Output) {
    let effective = Effective::of(files);
    out.gap();
    for done in all {
        let name = &done.entry.name;
        out.line(Line::from(match done.state {
            InstallState::Installed => format!("Installed {name}: `airlock run {name}` runs it."),
            InstallState::Updated => format!("Updated {name}."),
            InstallState::Fetched => format!("Fetched {name}."),
            InstallState::Unchanged => format!("{name} is up to date."),
            InstallState::Kept => format!("{name} was left as it is."),
            InstallState::Declined => format!("{name} was not installed."),
        }));
        if matches!(done.state, InstallState::Installed | InstallState::Updated) {
            out.show(&describing::granted(&effective.policy(&done.entry)));
        }
    }
    if all.is_empty() && failures.is_empty() {
        out.line("Nothing is installed.");
    }
    if !out.is_json() {
        failures.iter().for_each(|it| _ = it.report_on_stderr());
    }
    let reports = all.iter().map(|done| InstallReport {
        plugin: InstalledPlugin::new(&done.entry, &effective.policy(&done.entry)),
        differences: done.differences.iter().map(ToString::to_string).collect(),
        state: done.state,
    });
    out.json(&Installs {
        errors: failures.iter().map(Failure::object).collect(),
        plugins: reports.collect(),
    });
}
