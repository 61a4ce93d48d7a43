//! What is part of this program and has tools: plugins, and producers that are native.

#[cfg(feature = "ast-edit")]
use airlock_host::NativeProducer;
use airlock_host::{Digest, SessionBuilder};

/// One of them.
#[derive(Debug)]
pub struct Bundled {
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    pub form: Form,
}

/// How it comes.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// A plugin, as the bytes of a component.
    Component(&'static [u8]),
    /// Code of the host.
    #[cfg(feature = "ast-edit")]
    Native(fn() -> NativeProducer),
}

pub const ALL: &[Bundled] = &[
    Bundled {
        name: "batch-rename",
        about: "Renames files by a regular expression, once you have seen the list of old and new names",
        form: Form::Component(include_bytes!(
            "../../../plugins/batch-rename/batch_rename.wasm"
        )),
    },
    #[cfg(feature = "ast-edit")]
    Bundled {
        name: "ast_edit",
        about: "Rewrites code by its structure, in many files at once, once you have seen the diff",
        form: Form::Native(NativeProducer::ast_edit),
    },
];

impl Form {
    pub fn digest(self) -> Digest {
        match self {
            Form::Component(bytes) => Digest::of(bytes),
            #[cfg(feature = "ast-edit")]
            Form::Native(native) => native().digest(),
        }
    }
}

/// The one of this name, in which `_` and `-` are the same.
pub fn find(name: &str) -> Option<&'static Bundled> {
    let plain = |name: &str| name.replace('_', "-");
    let name = plain(name);
    ALL.iter().find(|bundled| plain(bundled.name) == name)
}

/// Their names, for a message.
pub fn names() -> String {
    let names: Vec<&str> = ALL.iter().map(|bundled| bundled.name).collect();
    names.join(", ")
}

/// Binds those that are native: what they staged is resolved by them, and not by what a store keeps.
pub fn bind_native(session: SessionBuilder) -> SessionBuilder {
    ALL.iter()
        .fold(session, |session, bundled| match bundled.form {
            Form::Component(_) => session,
            #[cfg(feature = "ast-edit")]
            Form::Native(native) => session.producer(&native()),
        })
}
