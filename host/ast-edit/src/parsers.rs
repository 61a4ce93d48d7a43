//! Parsing in processes with limits, if there is a program for them, or else in this process.
//!
//! Parsers are C code with unbounded needs: tree-sitter can take quadratic time or memory within
//! one step, and a stack overflow there would kill the host. In a separate process, the cost is one
//! file that is not searched.

#[cfg(unix)]
mod processes;
#[cfg(unix)]
mod protocol;
#[cfg(unix)]
mod serve;

use std::path::PathBuf;
#[cfg(unix)]
use std::sync::LazyLock;
use std::sync::{Arc, OnceLock};

use airlock_host::native::{RunningCall, Stop};
#[cfg(unix)]
use airlock_worker::Permits;

use crate::code::Op;
use crate::code::language::{self, Language};
use crate::code::outline::Outline;
use crate::code::parser::ParseFailure;
use crate::code::pattern::Ops;
use crate::code::rewrite::{self, MemoryBudget, Rewrite, RewriteError};
#[cfg(unix)]
use crate::parallel::cores;

#[cfg(unix)]
use processes::Processes;
#[cfg(unix)]
pub use serve::parser_main;

/// The settings for parsing.
#[derive(Debug, Clone)]
pub(crate) struct ParserSettings {
    pub program: Option<PathBuf>,
    /// The memory limit of each process, in bytes.
    pub memory: u64,
    /// The permits for processes that run at once.
    #[cfg(unix)]
    pub permits: Arc<Permits>,
}

impl ParserSettings {
    /// Returns settings that parse in this process.
    pub fn new(memory: u64) -> Self {
        /// The permits of all searches: two per core, so that one search leaves as many to others.
        #[cfg(unix)]
        static PERMITS: LazyLock<Arc<Permits>> = LazyLock::new(|| Permits::new(2 * cores()));
        Self {
            program: None,
            memory,
            #[cfg(unix)]
            permits: Arc::clone(&PERMITS),
        }
    }
}

/// The parsers of one search, for all of its threads.
pub(crate) struct Parsers<'a> {
    ops: &'a [Op],
    stop: &'a Arc<Stop>,
    outlines: PerLanguage<Result<Outline, ParseFailure>>,
    location: Location,
}

/// Values that are created for the first file of each language.
type PerLanguage<T> = [OnceLock<T>; language::COUNT];

enum Location {
    ThisProcess(Box<PerLanguage<Ops>>),
    #[cfg(unix)]
    OtherProcess(Processes),
}

impl<'a> Parsers<'a> {
    pub fn new(parsing: &ParserSettings, ops: &'a [Op], call: &'a RunningCall) -> Self {
        let location = match &parsing.program {
            #[cfg(unix)]
            Some(program) => Location::OtherProcess(Processes::new(
                program,
                parsing.memory,
                &parsing.permits,
                ops,
                call,
            )),
            _ => Location::ThisProcess(Box::new(std::array::from_fn(|_| OnceLock::new()))),
        };
        Self {
            ops,
            stop: call.stop(),
            outlines: std::array::from_fn(|_| OnceLock::new()),
            location,
        }
    }

    /// Returns the ops as code of a language.
    ///
    /// # Errors
    /// [`ParseFailure`], if the parser process could not parse the ops themselves.
    pub fn outline(&self, language: Language) -> Result<&Outline, ParseFailure> {
        let outline = self.outlines[language.index()].get_or_init(|| match &self.location {
            Location::ThisProcess(ops) => Ok(self.ops_here(ops, language).outline()),
            #[cfg(unix)]
            Location::OtherProcess(processes) => processes.outline(language),
        });
        outline.as_ref().map_err(ParseFailure::clone)
    }

    /// Applies the ops to a source: see [`rewrite::find`].
    ///
    /// # Errors
    /// [`RewriteError`].
    pub fn find(
        &self,
        language: Language,
        source: &str,
        room: &MemoryBudget,
        checks_contents: bool,
    ) -> Result<Rewrite, RewriteError> {
        match &self.location {
            Location::ThisProcess(ops) => {
                let ops = self.ops_here(ops, language);
                rewrite::find(source, ops, room, checks_contents, self.stop)
            }
            #[cfg(unix)]
            Location::OtherProcess(processes) => {
                processes.find(language, source, room, checks_contents)
            }
        }
    }

    /// Returns the syntax errors in a source: see [`rewrite::errors`].
    ///
    /// # Errors
    /// [`ParseFailure`].
    pub fn errors(
        &self,
        language: Language,
        source: &str,
    ) -> Result<Option<(usize, usize)>, ParseFailure> {
        match &self.location {
            Location::ThisProcess(_) => rewrite::errors(source, language, self.stop),
            #[cfg(unix)]
            Location::OtherProcess(processes) => processes.errors(language, source),
        }
    }

    fn ops_here<'b>(&self, ops: &'b PerLanguage<Ops>, language: Language) -> &'b Ops {
        ops[language.index()].get_or_init(|| Ops::read(self.ops, language, self.stop))
    }
}
