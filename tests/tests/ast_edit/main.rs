//! `ast_edit`, the producer that is part of the host, in real sessions on real files.

mod applying;
mod languages;
mod paths;
mod previewing;
mod producing;
mod refusing;
mod source;
mod tree;
mod untouched;
