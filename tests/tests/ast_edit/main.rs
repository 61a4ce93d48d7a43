//! `ast_edit`, the producer that is part of the host, in real sessions on real files.

mod advising;
mod applying;
mod damaged;
mod languages;
mod paths;
mod previewing;
mod producing;
mod refusing;
mod selecting;
mod source;
mod stopping;
mod tree;
mod untouched;
