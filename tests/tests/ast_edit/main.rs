//! `ast_edit`, a native tool, in real sessions on real files.

mod advising;
mod applying;
mod damaged;
mod filling;
mod languages;
mod meaning;
mod parsing;
mod paths;
mod previewing;
mod producing;
mod refusing;
mod selecting;
mod source;
mod stopping;
mod tree;
mod untouched;

use airlock_ast_edit::AstEdit;
use airlock_host::native::NativeProducer;

/// As programs have it: sources are parsed in processes of their own.
fn ast_edit() -> NativeProducer {
    let ast_edit = AstEdit::new();
    // A rule that is to be broken is named by the environment, which these processes don't get: see
    // `tests/conformance/break-rules`.
    match std::env::var_os("AIRLOCK_BROKEN") {
        Some(_) => ast_edit.producer(),
        None => ast_edit.parser(env!("CARGO_BIN_EXE_compiler")).producer(),
    }
}
