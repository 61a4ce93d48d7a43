//! `airlock update`: looks for other versions of installed plugins, and asks.

use airlock_desk::configuration::OperatorFiles;
use airlock_desk::lock::{Entry, InstalledName, Lock};

use crate::commands::install::candidate::Candidate;
use crate::commands::install::{Consent, Done, decide, lock_of, report, signing_of};
use crate::failure::{Exit, Failure};
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::Output;
use crate::terminal::progress::Progress;

/// The arguments of the command.
pub struct Request {
    /// Empty for all.
    pub names: Vec<InstalledName>,
    pub consent: Consent,
    pub files: OperatorFiles,
}

pub async fn update(request: Request, verbose: u8, out: &mut Output) -> Result<Exit, Failure> {
    let (interrupt, progress) = (Interrupt::watch(), Progress::new(verbose));
    let lock = lock_of(&request.files)?;
    let entries = named(&lock, &request.names)?;
    let signing = signing_of(&request.files)?;
    let (mut all, mut failures): (Vec<Done>, Vec<Failure>) = (Vec::new(), Vec::new());
    for entry in entries {
        let candidate = Candidate {
            lock: &lock,
            signing: &signing,
            name: entry.name.clone(),
            reference: entry.reference.clone(),
        };
        let updated = async {
            let now = candidate.fetch(&interrupt, &progress).await?;
            let before = Some(entry.clone());
            decide(&lock, before, now, &request.consent, &interrupt, out).await
        };
        match updated.await {
            Ok(done) => all.push(done),
            Err(failure) => {
                let is_over = failure.exit() == Exit::Interrupted;
                failures.push(failure);
                if is_over {
                    break;
                }
            }
        }
    }
    report(&all, &failures, &request.files, out);
    Ok(failures.first().map_or(Exit::Done, Failure::exit))
}

/// Returns the entries with these names, or all.
///
/// # Errors
/// If there is none with one of the names.
pub fn named<'a>(lock: &'a Lock, names: &[InstalledName]) -> Result<Vec<&'a Entry>, Failure> {
    if names.is_empty() {
        return Ok(lock.entries().iter().collect());
    }
    let mut names: Vec<&InstalledName> = names.iter().collect();
    names.sort();
    names.dedup();
    let entries = names.into_iter().map(|name| {
        lock.find(name.as_str()).ok_or_else(|| {
            let path = lock.path().display();
            Failure::usage(format!("{name} is not installed: {path} doesn't list it"))
                .with_hint("`airlock list` shows the installed plugins")
        })
    });
    entries.collect()
}
