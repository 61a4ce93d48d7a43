//! The process that parses for a search, until the search has no more questions.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use airlock_host::native::{STACK_BYTES, Stop};
use airlock_worker::{Host, serve_if_asked_for};

use super::protocol::{PARSER, ParserRequest};
use crate::code::Op;
use crate::code::language::Language;
use crate::code::pattern::Ops;
use crate::code::rewrite::{self, MemoryBudget};

/// Turns this process into a parser if it was started as one. Otherwise returns at once.
///
/// A program that passes itself to [`AstEdit::parser`](crate::AstEdit::parser) must call this first
/// in its `main`, before it starts a thread or opens a file.
pub fn parser_main() {
    serve_if_asked_for(&PARSER, serve);
}

fn serve(host: Host) -> io::Result<()> {
    let parser = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(|| answer_all(host))?;
    match parser.join() {
        Ok(done) => done,
        Err(_) => Err(io::Error::other("it panicked")),
    }
}

fn answer_all(mut host: Host) -> io::Result<()> {
    let Some(ops) = host.receive()? else {
        return Ok(());
    };
    let mut parser = Parser::new(serde_json::from_slice(&ops)?);
    while let Some(question) = host.receive()?
        && let Some(source) = host.receive()?
    {
        let question = serde_json::from_slice(&question)?;
        let source = str::from_utf8(&source).map_err(io::Error::other)?;
        host.send(&[&parser.answer(&question, source)?])?;
    }
    Ok(())
}

struct Parser {
    given: Vec<Op>,
    read: HashMap<usize, Ops>,
    /// A stop that never comes: the host kills the process after waiting long enough.
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

    fn answer(&mut self, question: &ParserRequest, source: &str) -> io::Result<Vec<u8>> {
        let answer = match question {
            ParserRequest::Outline { language } => {
                let outline = self.ops(find_language(language)?).outline();
                serde_json::to_vec(&outline.into_parts())
            }
            ParserRequest::Find {
                language,
                room,
                checks_contents,
            } => {
                let stop = Arc::clone(&self.stop);
                let ops = self.ops(find_language(language)?);
                let room = MemoryBudget::new(*room);
                let found = rewrite::find(source, ops, &room, *checks_contents, &stop);
                serde_json::to_vec(&found)
            }
            ParserRequest::Errors { language } => {
                let errors = rewrite::errors(source, find_language(language)?, &self.stop);
                serde_json::to_vec(&errors)
            }
        };
        Ok(answer?)
    }

    fn ops(&mut self, language: Language) -> &Ops {
        let (given, stop) = (&self.given, &self.stop);
        let read = self.read.entry(language.index());
        read.or_insert_with(|| Ops::read(given, language, stop))
    }
}

fn find_language(language: &str) -> io::Result<Language> {
    Language::named(language).ok_or_else(|| io::Error::other("there is no such language here"))
}
