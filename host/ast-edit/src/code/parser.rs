//! tree-sitter's parsers, one per thread and language, which can be stopped in the middle of a
//! source.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use tree_sitter::{ParseOptions, Parser, Tree};

use super::grammar::Grammar;
use super::language;

/// The number of bytes that the parser gets at a time. Between two pieces, it checks whether the
/// call has to end.
const PIECE_BYTES: usize = 32 << 10;

/// The reason why a source was not parsed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ParseFailure {
    /// The call has to end.
    Stopped,
    /// Its nodes are nested deeper than this limit.
    TooDeep(usize),
    /// The parser failed.
    Failed,
    /// The parser process reached its memory limit, in bytes.
    OutOfMemory(u64),
    /// The parser process crashed, for this reason.
    Crashed(String),
    /// The answer of the parser process is too long.
    TooLong,
    /// The parser process could not be started, for this reason.
    NotStarted(String),
}

impl fmt::Display for ParseFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseFailure::Stopped => f.write_str("it was stopped"),
            ParseFailure::TooDeep(most) => write!(f, "it is nested more than {most} deep"),
            ParseFailure::Failed => f.write_str("the parser gave up on it"),
            ParseFailure::OutOfMemory(limit) => {
                let limit = limit >> 20;
                write!(f, "the parser needs more than {limit} MiB of memory for it")
            }
            ParseFailure::TooLong => f.write_str("its result is too long"),
            ParseFailure::NotStarted(how) => write!(f, "the parser could not be started, {how}"),
            ParseFailure::Crashed(how) => write!(f, "the parser crashed on it{how}"),
        }
    }
}

thread_local! {
    /// The parsers are reused, because each has tables of its language.
    static PARSERS: RefCell<[Option<Parser>; language::COUNT]> = const { RefCell::new([const { None }; language::COUNT]) };
}

/// Parses a source until the call has to end. With the tree of the previous source, updated with
/// the edits, only the changes are parsed.
pub(crate) fn tree(
    source: &str,
    grammar: &Grammar,
    old: Option<&Tree>,
) -> Result<Tree, ParseFailure> {
    let stop = grammar.stop();
    if stop.is_due() {
        return Err(ParseFailure::Stopped);
    }
    PARSERS.with_borrow_mut(|parsers| {
        let parser = &mut parsers[grammar.language().index()];
        let parser = match parser {
            Some(parser) => parser,
            None => {
                let mut new = Parser::new();
                let known = new.set_language(&grammar.parser_language());
                known.map_err(|_| ParseFailure::Failed)?;
                parser.insert(new)
            }
        };
        let stopped = Cell::new(false);
        let is_due = || {
            stopped.set(stopped.get() || stop.is_due());
            stopped.get()
        };
        // Ending the source early also ends work that is a single step, such as searching for the
        // end of a text.
        let mut read = |at: usize, _| {
            if at < source.len() && !is_due() {
                &source.as_bytes()[at..source.len().min(at + PIECE_BYTES)]
            } else {
                &[]
            }
        };
        let mut progress = |_: &_| {
            if is_due() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let tree = parser.parse_with_options(&mut read, old, Some(options));
        // Otherwise the next source would be parsed as the rest of this one.
        parser.reset();
        match tree {
            _ if stopped.get() => Err(ParseFailure::Stopped),
            Some(tree) => Ok(tree),
            None => Err(ParseFailure::Failed),
        }
    })
}
