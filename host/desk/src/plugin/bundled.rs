//! Plugins and native producers that are bundled with a program.

use airlock_host::SessionBuilder;
use airlock_host::digest::Digest;
use airlock_host::native::NativeProducer;

/// A plugin or native producer that is bundled with a program.
#[derive(Debug)]
pub struct Bundled {
    /// The name on the command line, which also accepts a path to a plugin.
    pub name: &'static str,
    /// A one-line description.
    pub about: &'static str,
    /// The names of its tools.
    pub tools: &'static [&'static str],
    /// The kind: a plugin or a native producer.
    pub kind: BundledKind,
}

/// The kind of a bundled producer.
#[derive(Debug, Clone, Copy)]
pub enum BundledKind {
    /// A plugin.
    Component {
        /// The component.
        bytes: &'static [u8],
        /// The record of its build. The line `component sha256:…` has the digest, which is needed
        /// at each start of the program and takes time to compute.
        record: &'static str,
    },
    /// A native producer, which is code of the host.
    Native(fn() -> NativeProducer),
}

/// The plugins and native producers that are bundled with a program.
#[derive(Debug, Clone, Copy)]
pub struct Catalog(&'static [Bundled]);

impl BundledKind {
    /// Returns the digest by which stores know it.
    pub fn digest(self) -> Digest {
        match self {
            BundledKind::Component { bytes, record } => {
                let mut lines = record.lines();
                let recorded = lines.find_map(|line| line.strip_prefix("component ")?.parse().ok());
                recorded.unwrap_or_else(|| Digest::of(bytes))
            }
            BundledKind::Native(native) => native().digest(),
        }
    }
}

impl Catalog {
    /// Creates a catalog that lists these in this order.
    pub const fn new(all: &'static [Bundled]) -> Self {
        Self(all)
    }

    /// Returns all entries.
    pub fn all(self) -> &'static [Bundled] {
        self.0
    }

    /// Returns the entry with this name, in which `_` and `-` are the same.
    pub fn find(self, name: &str) -> Option<&'static Bundled> {
        let plain = |name: &str| name.replace('_', "-");
        let name = plain(name);
        self.0.iter().find(|bundled| plain(bundled.name) == name)
    }

    /// Returns the names of all entries, for a message.
    pub(crate) fn names(self) -> String {
        let names: Vec<&str> = self.0.iter().map(|bundled| bundled.name).collect();
        names.join(", ")
    }

    /// Binds the native producers to a session. They resolve the actions that they pushed, rather
    /// than a component from a store.
    pub fn bind_native(self, session: SessionBuilder) -> SessionBuilder {
        self.0
            .iter()
            .fold(session, |session, bundled| match bundled.kind {
                BundledKind::Component { .. } => session,
                BundledKind::Native(native) => session.bind(&native()),
            })
    }
}
