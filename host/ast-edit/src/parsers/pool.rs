//! The processes that parse for one search: as many as its threads ask at one time and as there are
//! [permits](super::permits) for, each used again until the search ends or others wait for its
//! permit.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use airlock_host::native::{RunningCall, STACK_BYTES, Stop};
use airlock_worker::{Bounds, ExitReason, Process, Started};
use serde::de::DeserializeOwned;

use super::permits::{CallPermits, Permit, Permits, Taken};
use super::protocol::{self, ARGUMENT, Handshake, Request};
use crate::code::Op;
use crate::code::language::Language;
use crate::code::outline::{OpOutline, Outline, Refusal};
use crate::code::parser::ParseFailure;
use crate::code::rewrite::{Edit, LEFT_NAMED, MemoryBudget, Rewrite, RewriteError};

/// How long an answer is waited for before it is asked whether the call has to end.
const PATIENCE: Duration = Duration::from_millis(20);

pub(super) struct Pool {
    program: PathBuf,
    bounds: Bounds,
    ops: Vec<Op>,
    stop: Arc<Stop>,
    permits: Arc<CallPermits<Worker>>,
}

/// One process. Dropped, it is killed.
#[derive(Debug)]
struct Worker {
    started: Started,
    process: Process,
    /// Behind the process, so that it is free only once that is gone.
    permit: Permit,
}

/// Why a process gave no answer.
enum NoAnswer {
    Stopped,
    /// The answer has more bytes than there is room for.
    TooLong,
    Io(io::Error),
}

/// The longest answer about ops, or about the errors of a source, in bytes.
const ANSWER_BYTES: u32 = 16 << 20;

impl Drop for Pool {
    fn drop(&mut self) {
        // At the call's end, also where somebody looks for idle ones at this moment.
        self.permits.clear();
    }
}

impl Pool {
    pub fn new(
        program: &Path,
        memory: u64,
        permits: &Arc<Permits>,
        ops: &[Op],
        call: &RunningCall,
    ) -> Self {
        // Should this host hang, so that nobody kills the process, the system does.
        let time = call.limits().call_time;
        Self {
            program: program.to_owned(),
            bounds: Bounds {
                memory: memory.saturating_add(STACK_BYTES as u64),
                processor_seconds: time.as_secs().saturating_add(2),
            },
            ops: ops.to_vec(),
            stop: Arc::clone(call.stop()),
            permits: CallPermits::new(permits),
        }
    }

    pub fn outline(&self, language: Language) -> Result<Outline, ParseFailure> {
        let question = Request::Outline {
            language: language.name().to_owned(),
        };
        let (ops, refused): (Vec<OpOutline>, Vec<(usize, Refusal)>) =
            self.ask(&question, "", |length| length <= ANSWER_BYTES)?;
        let mut indices = ops.iter().map(|op| op.index);
        let mut others = refused.iter().map(|(index, _)| *index);
        let is_op = |index| index < self.ops.len();
        match indices.all(is_op) && others.all(is_op) {
            true => Ok(Outline::new(language, ops, refused)),
            false => Err(does_not_fit()),
        }
    }

    pub fn find(
        &self,
        language: Language,
        source: &str,
        room: &MemoryBudget,
        checks_contents: bool,
    ) -> Result<Rewrite, RewriteError> {
        match self.find_once(language, source, room, checks_contents) {
            // Perhaps what the edits make of it was too much. That a file can't be checked is no
            // reason to leave it as it is.
            Err(RewriteError::ParseFailure(
                ParseFailure::OutOfMemory(_) | ParseFailure::Crashed(_),
            )) if checks_contents => self.find_once(language, source, room, false),
            found => found,
        }
    }

    fn find_once(
        &self,
        language: Language,
        source: &str,
        room: &MemoryBudget,
        checks_contents: bool,
    ) -> Result<Rewrite, RewriteError> {
        let question = Request::Find {
            language: language.name().to_owned(),
            room: room.left(),
            checks_contents,
        };
        // As long as it is here, the answer is part of what the replacements of all files take
        // together.
        let mut taken = 0;
        let admits = |length: u32| {
            let has_room = room.take(length as usize).is_ok();
            taken = if has_room { length as usize } else { 0 };
            has_room
        };
        let found = self.ask::<Result<Rewrite, RewriteError>>(&question, source, admits);
        room.give_back(taken);
        if let Err(ParseFailure::TooLong) = found {
            return Err(RewriteError::TooLarge);
        }
        // Whatever the process says, the host cuts the source where this says, and counts by it.
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
        let question = Request::Errors {
            language: language.name().to_owned(),
        };
        self.ask::<Result<_, ParseFailure>>(&question, source, |length| length <= ANSWER_BYTES)?
    }

    /// `admits` says whether there is room for an answer of so many bytes.
    fn ask<T: DeserializeOwned>(
        &self,
        question: &Request,
        source: &str,
        admits: impl FnOnce(u32) -> bool,
    ) -> Result<T, ParseFailure> {
        if self.stop.is_due() {
            return Err(ParseFailure::Stopped);
        }
        let mut parser = match self.permits.take(|| self.stop.is_due()) {
            Some(Taken::Idle(parser)) => parser,
            Some(Taken::Permit(permit)) => self.start(permit)?,
            None => return Err(ParseFailure::Stopped),
        };
        match parser.ask(question, source, admits, &self.stop) {
            Ok(answer) => {
                self.permits.keep(parser, |parser| &parser.permit);
                Ok(answer)
            }
            Err(NoAnswer::Stopped) => Err(ParseFailure::Stopped),
            Err(NoAnswer::TooLong) => Err(ParseFailure::TooLong),
            Err(NoAnswer::Io(error)) => Err(self.unparsed(parser.end(), &error)),
        }
    }

    fn start(&self, permit: Permit) -> Result<Worker, ParseFailure> {
        let not_started = |error: io::Error| {
            ParseFailure::NotStarted(format!("{}: {error}", self.program.display()))
        };
        let process = Process::default();
        let started = process
            .start(&self.program, ARGUMENT, &[])
            .map_err(not_started)?;
        let stream = &started.stream;
        stream
            .set_read_timeout(Some(PATIENCE))
            .and_then(|()| stream.set_write_timeout(Some(PATIENCE)))
            .map_err(not_started)?;
        let mut parser = Worker {
            started,
            process,
            permit,
        };
        let hello = Handshake::new(self.bounds, &self.ops);
        let mut patient = InterruptibleStream::new(&parser.started.stream, &self.stop);
        match protocol::write(&mut patient, &hello) {
            Ok(()) => Ok(parser),
            Err(_) if patient.stopped => Err(ParseFailure::Stopped),
            Err(error) => Err(self.unparsed(parser.end(), &error)),
        }
    }

    fn unparsed(&self, ended: ExitReason, error: &io::Error) -> ParseFailure {
        match ended {
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

fn does_not_fit() -> ParseFailure {
    ParseFailure::Crashed("; its answer does not fit the source".to_owned())
}

/// Whether edits lie in the source, in their order, between whole characters, and whether there can
/// be as many of all else as there are said to be.
fn fits(found: &Rewrite, source: &str, ops: usize) -> bool {
    // A place may match in several readings of each op.
    let most = source.len().saturating_add(1).saturating_mul(16);
    let errors = found.errors.as_ref();
    let counted = found.nested <= most
        && found
            .matches
            .iter()
            .all(|(op, matches)| *op < ops && *matches <= most)
        && errors.is_none_or(|errors| {
            errors.left <= most && errors.count <= most && errors.left_at.len() <= LEFT_NAMED
        });
    let mut end = 0;
    counted
        && found.edits.iter().all(|edit| {
            let range = &edit.range;
            let follows = end <= range.start && range.start <= range.end;
            end = range.end;
            follows && source.get(range.clone()).is_some()
        })
}

impl Worker {
    fn ask<T: DeserializeOwned>(
        &mut self,
        question: &Request,
        source: &str,
        admits: impl FnOnce(u32) -> bool,
        stop: &Stop,
    ) -> Result<T, NoAnswer> {
        let mut patient = InterruptibleStream::new(&self.started.stream, stop);
        let length = protocol::write(&mut patient, question)
            .and_then(|()| protocol::write_bytes(&mut patient, source.as_bytes()))
            .and_then(|()| protocol::read_length(&mut patient));
        let length = length.map_err(|error| patient.lost(error))?;
        if !admits(length) {
            return Err(NoAnswer::TooLong);
        }
        let body = protocol::read_body(&mut patient, length);
        let body = body.map_err(|error| patient.lost(error))?;
        serde_json::from_slice(&body).map_err(|error| NoAnswer::Io(error.into()))
    }

    fn end(&mut self) -> ExitReason {
        self.process.end(&mut self.started)
    }
}

/// A socket that is waited for until the call has to end.
struct InterruptibleStream<'a> {
    stream: &'a UnixStream,
    stop: &'a Stop,
    stopped: bool,
}

impl<'a> InterruptibleStream<'a> {
    fn new(stream: &'a UnixStream, stop: &'a Stop) -> Self {
        Self {
            stream,
            stop,
            stopped: false,
        }
    }

    fn wait<T>(&mut self, mut work: impl FnMut(&UnixStream) -> io::Result<T>) -> io::Result<T> {
        loop {
            // Also where bytes come in one by one.
            if self.stop.is_due() {
                self.stopped = true;
                return Err(io::Error::other("the call has to end"));
            }
            match work(self.stream) {
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                    ) => {}
                done => return done,
            }
        }
    }

    fn lost(&self, error: io::Error) -> NoAnswer {
        match self.stopped {
            true => NoAnswer::Stopped,
            false => NoAnswer::Io(error),
        }
    }
}

impl Read for InterruptibleStream<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.wait(|mut stream| stream.read(bytes))
    }
}

impl Write for InterruptibleStream<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.wait(|mut stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
