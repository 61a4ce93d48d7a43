//! The process that parses for a search, until that has no more questions.

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use airlock_host::native::{STACK_BYTES, Stop};
use airlock_worker::serve_if_asked_for;

use super::protocol::{self, ARGUMENT, Handshake, Request};
use crate::code::Op;
use crate::code::language::Language;
use crate::code::pattern::Ops;
use crate::code::rewrite::{self, MemoryBudget};

/// Makes this process a parser, if that is what it was started for, and otherwise returns at once.
///
/// A program that names itself in [`AstEdit::parser`](crate::AstEdit::parser) calls this first in
/// its `main`: before it starts a thread, and before it opens a file.
pub fn parser_main() {
    serve_if_asked_for(ARGUMENT, serve);
}

fn serve() -> io::Result<()> {
    // What the host gave as the standard input is a socket.
    let mut host = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (bounds, ops) = protocol::read::<Handshake>(&mut host)?.take()?;
    bounds.apply()?;
    let parser = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let mut parser = Parser::new(ops);
            while let Some(question) = next(&mut host)? {
                let source = protocol::read_bytes(&mut host)?;
                let source = str::from_utf8(&source).map_err(io::Error::other)?;
                parser.answer(&question, source, &mut host)?;
            }
            io::Result::Ok(())
        })?;
    match parser.join() {
        Ok(done) => done,
        Err(_) => Err(io::Error::other("it panicked")),
    }
}

/// The next question; none where the host has no more.
fn next(host: &mut UnixStream) -> io::Result<Option<Request>> {
    match protocol::read(host) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        question => question.map(Some),
    }
}

struct Parser {
    given: Vec<Op>,
    read: HashMap<usize, Ops>,
    /// Never due: who has waited long enough kills the process.
    stop: Arc<Stop>,
}

impl Parser {
    fn new(given: Vec<Op>) -> Self {
        Self {
            given,
            read: HashMap::new(),
            stop: Arc::new(Stop::after(Duration::MAX)),
        }
    }

    fn answer(
        &mut self,
        question: &Request,
        source: &str,
        host: &mut UnixStream,
    ) -> io::Result<()> {
        match question {
            Request::Outline { language } => {
                let outline = self.ops(known(language)?).outline();
                protocol::write(host, &outline.into_parts())
            }
            Request::Find {
                language,
                room,
                checks_contents,
            } => {
                let stop = Arc::clone(&self.stop);
                let ops = self.ops(known(language)?);
                let room = MemoryBudget::new(*room);
                let found = rewrite::find(source, ops, &room, *checks_contents, &stop);
                protocol::write(host, &found)
            }
            Request::Errors { language } => {
                let errors = rewrite::errors(source, known(language)?, &self.stop);
                protocol::write(host, &errors)
            }
        }
    }

    fn ops(&mut self, language: Language) -> &Ops {
        let (given, stop) = (&self.given, &self.stop);
        let read = self.read.entry(language.index());
        read.or_insert_with(|| Ops::read(given, language, stop))
    }
}

fn known(language: &str) -> io::Result<Language> {
    Language::named(language).ok_or_else(|| io::Error::other("there is no such language here"))
}
