//! The parser processes of one search. Each is reused until the search ends or others wait for its
//! permit.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use airlock_host::native::{RunningCall, STACK_BYTES, Stop};
use airlock_worker::{Bounds, ExitReason, Permits, Pool, ReceiveError, Worker};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::protocol::{PARSER, ParserRequest};
use crate::code::Op;
use crate::code::language::Language;
use crate::code::outline::{OpOutline, Outline, Refusal};
use crate::code::parser::ParseFailure;
use crate::code::rewrite::{
    Edit, LINES_NAMED, MemoryBudget, Rewrite, RewriteError, WORD_BYTES, WORDS_NAMED,
};

pub(super) struct Processes {
    program: PathBuf,
    bounds: Bounds,
    ops: Vec<Op>,
    stop: Arc<Stop>,
    pool: Pool,
}

/// The longest answer about ops or the errors of a source, in bytes.
const ANSWER_BYTES: u64 = 16 << 20;

impl Processes {
    pub fn new(
        program: &Path,
        memory: u64,
        permits: &Arc<Permits>,
        ops: &[Op],
        call: &RunningCall,
    ) -> Self {
        // If the host hangs and can't kill the process, the system does.
        let time = call.limits().call_time;
        Self {
            program: program.to_owned(),
            bounds: Bounds {
                memory: memory.saturating_add(STACK_BYTES as u64),
                processor_seconds: time.as_secs().saturating_add(2),
            },
            ops: ops.to_vec(),
            stop: Arc::clone(call.stop()),
            pool: Pool::new(permits),
        }
    }

    pub fn outline(&self, language: Language) -> Result<Outline, ParseFailure> {
        let question = ParserRequest::Outline {
            language: language.name().to_owned(),
        };
        let (ops, refused): (Vec<OpOutline>, Vec<(usize, Refusal)>) =
            self.ask(&question, "", |length| length <= ANSWER_BYTES)?;
        let mut indices = ops.iter().map(|op| op.index);
        let mut others = refused.iter().map(|(index, _)| *index);
        let is_op = |index| index < self.ops.len();
        if indices.all(is_op) && others.all(is_op) {
            Ok(Outline::new(language, ops, refused))
        } else {
            Err(does_not_fit())
        }
    }

    pub fn find(
        &self,
        language: Language,
        source: &str,
        room: &MemoryBudget,
        checks_contents: bool,
    ) -> Result<Rewrite, RewriteError> {
        let question = ParserRequest::Find {
            language: language.name().to_owned(),
            room: room.left(),
            checks_contents,
        };
        // While it is held, the answer counts toward the memory of all files' replacements.
        let mut taken = 0;
        let admits = |length| match usize::try_from(length) {
            Ok(bytes) if room.take(bytes).is_ok() => {
                taken = bytes;
                true
            }
            _ => false,
        };
        let found = self.ask::<Result<Rewrite, RewriteError>>(&question, source, admits);
        room.give_back(taken);
        if let Err(ParseFailure::TooLong) = found {
            return Err(RewriteError::TooLarge);
        }
        // The process is not trusted: the host cuts the source at these positions.
        let found = found.map_err(RewriteError::ParseFailure)??;
        if !fits(&found, source, self.ops.len()) {
            return Err(RewriteError::ParseFailure(does_not_fit()));
        }
        let texts = found.edits.iter().map(|edit| edit.text.len());
        room.take(texts.map(|bytes| bytes + size_of::<Edit>()).sum())?;
        Ok(found)
    }

    pub fn errors(
        &self,
        language: Language,
        source: &str,
    ) -> Result<Option<(usize, usize)>, ParseFailure> {
        let question = ParserRequest::Errors {
            language: language.name().to_owned(),
        };
        self.ask::<Result<_, ParseFailure>>(&question, source, |length| length <= ANSWER_BYTES)?
    }

    /// Asks a process. `admits` returns whether there is room for an answer of a given length.
    fn ask<T: DeserializeOwned>(
        &self,
        question: &ParserRequest,
        source: &str,
        admits: impl FnOnce(u64) -> bool,
    ) -> Result<T, ParseFailure> {
        let is_due = || self.stop.is_due();
        if is_due() {
            return Err(ParseFailure::Stopped);
        }
        let taken = self.pool.take(is_due, || self.start())?;
        let mut parser = taken.ok_or(ParseFailure::Stopped)?;
        let worker = &mut parser.worker;
        let answer = self
            .send(worker, question)
            .and_then(|()| Ok(worker.send(&[source.as_bytes()], is_due)?))
            .and_then(|()| worker.receive(admits, is_due))
            .and_then(|answer| serde_json::from_slice(&answer).map_err(not_json));
        let answer = answer.map_err(|error| self.unanswered(worker, &error))?;
        self.pool.keep(parser);
        Ok(answer)
    }

    fn start(&self) -> Result<Worker, ParseFailure> {
        let started = Worker::start(&self.program, &PARSER, self.bounds, &[]);
        let mut worker = started.map_err(|error| {
            ParseFailure::NotStarted(format!("{}: {error}", self.program.display()))
        })?;
        match self.send(&worker, &self.ops) {
            Ok(()) => Ok(worker),
            Err(error) => Err(self.unanswered(&mut worker, &error)),
        }
    }

    fn send(&self, worker: &Worker, message: &impl Serialize) -> Result<(), ReceiveError> {
        let message = serde_json::to_vec(message).map_err(not_json)?;
        Ok(worker.send(&[&message], || self.stop.is_due())?)
    }

    /// Ends a process that gave no answer, and returns the reason.
    fn unanswered(&self, worker: &mut Worker, error: &ReceiveError) -> ParseFailure {
        match error {
            ReceiveError::GivenUp => return ParseFailure::Stopped,
            ReceiveError::TooLong(_) => return ParseFailure::TooLong,
            _ => {}
        }
        match worker.end() {
            ExitReason::Memory => {
                ParseFailure::OutOfMemory(self.bounds.memory - STACK_BYTES as u64)
            }
            ExitReason::Time => ParseFailure::Crashed("; it used up its CPU time".to_owned()),
            ExitReason::Otherwise(how) if how.is_empty() => {
                ParseFailure::Crashed(format!("; {error}"))
            }
            ExitReason::Otherwise(how) => ParseFailure::Crashed(how),
        }
    }
}

fn not_json(error: serde_json::Error) -> ReceiveError {
    ReceiveError::Failed(io::Error::from(error))
}

fn does_not_fit() -> ParseFailure {
    ParseFailure::Crashed("; its answer does not fit the source".to_owned())
}

/// Returns whether edits lie in the source, in order and on character boundaries, and whether the
/// other counts are possible.
fn fits(found: &Rewrite, source: &str, ops: usize) -> bool {
    // A place may match in several readings of each op.
    let most = source.len().saturating_add(1).saturating_mul(16);
    let errors = found.errors.as_ref();
    let counted = found.nested <= most
        && found
            .matches
            .iter()
            .all(|(op, matches)| *op < ops && *matches <= most)
        && errors.is_none_or(|errors| errors.count <= most)
        && found
            .left
            .values()
            .chain([&found.comments])
            .all(|places| places.count <= most && places.lines.len() <= LINES_NAMED)
        && found.words.len() <= WORDS_NAMED
        && found.words.iter().all(|word| word.len() <= WORD_BYTES);
    let mut end = 0;
    counted
        && found.edits.iter().all(|edit| {
            let range = &edit.range;
            let follows = end <= range.start && range.start <= range.end;
            end = range.end;
            follows && source.get(range.clone()).is_some()
        })
}
