//! What is part of a program and has tools: plugins, and producers that are native.

use airlock_host::digest::Digest;
use airlock_host::native::NativeProducer;
use airlock_host::{EngineBuilder, SessionBuilder};

/// One of them.
#[derive(Debug)]
pub struct Bundled {
    /// How it is called, where a path to a plugin could be given too.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// The names of its tools, which no other plugin's can have.
    pub tools: &'static [&'static str],
    /// How it comes.
    pub form: Form,
}

/// How it comes.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// A plugin, as the bytes of a component.
    Component(&'static [u8]),
    /// Code of the host.
    Native(fn() -> NativeProducer),
}

/// All that a program brings along.
#[derive(Debug, Clone, Copy)]
pub struct Catalog(&'static [Bundled]);

impl Form {
    /// By which stores know it.
    pub fn digest(self) -> Digest {
        match self {
            Form::Component(bytes) => Digest::of(bytes),
            Form::Native(native) => native().digest(),
        }
    }
}

impl Catalog {
    /// These, in the order in which they are listed.
    pub const fn new(all: &'static [Bundled]) -> Self {
        Self(all)
    }

    /// All of them.
    pub fn all(self) -> &'static [Bundled] {
        self.0
    }

    /// The one of this name, in which `_` and `-` are the same.
    pub fn find(self, name: &str) -> Option<&'static Bundled> {
        let plain = |name: &str| name.replace('_', "-");
        let name = plain(name);
        self.0.iter().find(|bundled| plain(bundled.name) == name)
    }

    /// Their names, for a message.
    pub(crate) fn names(self) -> String {
        let names: Vec<&str> = self.0.iter().map(|bundled| bundled.name).collect();
        names.join(", ")
    }

    /// Keeps their tools' names for them.
    pub fn reserve_names(self, engine: EngineBuilder) -> EngineBuilder {
        self.0.iter().fold(engine, |engine, bundled| {
            let digest = bundled.form.digest();
            let tools = bundled.tools.iter();
            tools.fold(engine, |engine, tool| engine.reserve_tool(*tool, digest))
        })
    }

    /// Binds those that are native: what they staged is resolved by them, and not by what a store
    /// keeps.
    pub fn bind_native(self, session: SessionBuilder) -> SessionBuilder {
        self.0
            .iter()
            .fold(session, |session, bundled| match bundled.form {
                Form::Component(_) => session,
                Form::Native(native) => session.bind(&native()),
            })
    }
}
