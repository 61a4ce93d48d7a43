//! The processes that parse for one search: as many as its threads ask at one time, each used again until the search ends.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use airlock_host::native::{RunningCall, STACK_BYTES, Stop};
use airlock_worker::{Bounds, Ended, Process, Started};
use serde::de::DeserializeOwned;

use super::protocol::{self, ARGUMENT, Hello, Question};
use crate::code::Op;
use crate::code::language::Language;
use crate::code::outline::{OpOutline, Outline, Refusal};
use crate::code::parser::Unparsed;
use crate::code::rewrite::{Found, Stuck};
use crate::parallel::lock;

/// How long an answer is waited for before it is asked whether the call has to end.
const PATIENCE: Duration = Duration::from_millis(20);

pub(super) struct Pool {
    program: PathBuf,
    bounds: Bounds,
    ops: Vec<Op>,
    stop: Arc<Stop>,
    idle: Mutex<Vec<Parser>>,
}

/// One process. Dropped, it is killed.
struct Parser {
    started: Started,
    process: Process,
}

/// Why a process gave no answer.
enum Lost {
    Stopped,
    Ended(io::Error),
}

impl Pool {
    pub fn new(program: &Path, memory: u64, ops: &[Op], call: &RunningCall) -> Self {
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
            idle: Mutex::default(),
        }
    }

    pub fn outline(&self, language: Language) -> Result<Outline, Unparsed> {
        let question = Question::Outline {
            language: language.name().to_owned(),
        };
        let (ops, refused): (Vec<OpOutline>, Vec<(usize, Refusal)>) = self.ask(&question, "")?;
        Ok(Outline::new(language, ops, refused))
    }

    pub fn find(
        &self,
        language: Language,
        source: &str,
        room: usize,
        checks_contents: bool,
    ) -> Result<Found, Stuck> {
        let question = Question::Find {
            language: language.name().to_owned(),
            room,
            checks_contents,
        };
        let found: Result<Found, Stuck> = self.ask(&question, source).map_err(Stuck::Unparsed)?;
        // Whatever the process says, the host cuts the source where this says.
        found.and_then(|found| match fits(&found, source) {
            true => Ok(found),
            false => Err(Stuck::Unparsed(Unparsed::Crashed(
                "; what it answered is no part of the source".to_owned(),
            ))),
        })
    }

    pub fn errors(
        &self,
        language: Language,
        source: &str,
    ) -> Result<Option<(usize, usize)>, Unparsed> {
        let question = Question::Errors {
            language: language.name().to_owned(),
        };
        self.ask::<Result<_, Unparsed>>(&question, source)?
    }

    fn ask<T: DeserializeOwned>(&self, question: &Question, source: &str) -> Result<T, Unparsed> {
        if self.stop.is_due() {
            return Err(Unparsed::Stopped);
        }
        let idle = lock(&self.idle).pop();
        let mut parser = match idle {
            Some(parser) => parser,
            None => self.start()?,
        };
        match parser.ask(question, source, &self.stop) {
            Ok(answer) => {
                lock(&self.idle).push(parser);
                Ok(answer)
            }
            Err(Lost::Stopped) => Err(Unparsed::Stopped),
            Err(Lost::Ended(error)) => Err(self.unparsed(parser.end(), &error)),
        }
    }

    fn start(&self) -> Result<Parser, Unparsed> {
        let not_started =
            |error: io::Error| Unparsed::NotStarted(format!("{}: {error}", self.program.display()));
        let process = Process::default();
        let started = process
            .start(&self.program, ARGUMENT, &[])
            .map_err(not_started)?;
        let stream = &started.stream;
        stream
            .set_read_timeout(Some(PATIENCE))
            .and_then(|()| stream.set_write_timeout(Some(PATIENCE)))
            .map_err(not_started)?;
        let mut parser = Parser { started, process };
        let hello = Hello::new(self.bounds, &self.ops);
        let mut patient = Patient::new(&parser.started.stream, &self.stop);
        match protocol::write(&mut patient, &hello) {
            Ok(()) => Ok(parser),
            Err(_) if patient.stopped => Err(Unparsed::Stopped),
            Err(error) => Err(self.unparsed(parser.end(), &error)),
        }
    }

    fn unparsed(&self, ended: Ended, error: &io::Error) -> Unparsed {
        match ended {
            Ended::Memory => Unparsed::OutOfMemory(self.bounds.memory - STACK_BYTES as u64),
            Ended::Time => Unparsed::Stopped,
            Ended::Otherwise(how) if how.is_empty() => Unparsed::Crashed(format!("; {error}")),
            Ended::Otherwise(how) => Unparsed::Crashed(how),
        }
    }
}

/// Whether edits lie in the source, in their order, between whole characters.
fn fits(found: &Found, source: &str) -> bool {
    let mut end = 0;
    found.edits.iter().all(|edit| {
        let range = &edit.range;
        let follows = end <= range.start && range.start <= range.end;
        end = range.end;
        follows && source.get(range.clone()).is_some()
    })
}

impl Parser {
    fn ask<T: DeserializeOwned>(
        &mut self,
        question: &Question,
        source: &str,
        stop: &Stop,
    ) -> Result<T, Lost> {
        let mut patient = Patient::new(&self.started.stream, stop);
        let answered = protocol::write(&mut patient, question)
            .and_then(|()| protocol::write_bytes(&mut patient, source.as_bytes()))
            .and_then(|()| protocol::read(&mut patient));
        answered.map_err(|error| match patient.stopped {
            true => Lost::Stopped,
            false => Lost::Ended(error),
        })
    }

    fn end(&mut self) -> Ended {
        self.process.end(&mut self.started)
    }
}

/// A socket that is waited for until the call has to end.
struct Patient<'a> {
    stream: &'a UnixStream,
    stop: &'a Stop,
    stopped: bool,
}

impl<'a> Patient<'a> {
    fn new(stream: &'a UnixStream, stop: &'a Stop) -> Self {
        Self {
            stream,
            stop,
            stopped: false,
        }
    }

    fn wait<T>(&mut self, mut work: impl FnMut(&UnixStream) -> io::Result<T>) -> io::Result<T> {
        loop {
            match work(self.stream) {
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                    ) =>
                {
                    if self.stop.is_due() {
                        self.stopped = true;
                        return Err(io::Error::other("the call has to end"));
                    }
                }
                done => return done,
            }
        }
    }
}

impl Read for Patient<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.wait(|mut stream| stream.read(bytes))
    }
}

impl Write for Patient<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.wait(|mut stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
