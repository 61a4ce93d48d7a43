//! What is bundled with a program: plugins, and native producers.

use airlock_host::SessionBuilder;
use airlock_host::digest::Digest;
use airlock_host::native::NativeProducer;

/// A plugin or native producer that is bundled with a program.
#[derive(Debug)]
pub struct Bundled {
    /// Its name on the command line, where a path to a plugin could be given too.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// The names of its tools.
    pub tools: &'static [&'static str],
    /// What kind of thing it is.
    pub kind: BundledKind,
}

/// What kind of thing it is.
#[derive(Debug, Clone, Copy)]
pub enum BundledKind {
    /// A plugin.
    Component {
        /// The component.
        bytes: &'static [u8],
        /// What was recorded when it was built, whose line `component sha256:…` has its digest: at
        /// each start of the program that is needed, and takes time to compute.
        record: &'static str,
    },
    /// Code of the host.
    Native(fn() -> NativeProducer),
}

/// All that is bundled with a program.
#[derive(Debug, Clone, Copy)]
pub struct Catalog(&'static [Bundled]);

impl BundledKind {
    /// The digest that stores know it by.
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
    /// A catalog of these, listed in this order.
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

    /// Binds the native ones: the actions that they pushed are resolved by them, rather than by a
    /// component from a store.
    pub fn bind_native(self, session: SessionBuilder) -> SessionBuilder {
        self.0
            .iter()
            .fold(session, |session, bundled| match bundled.kind {
                BundledKind::Component { .. } => session,
                BundledKind::Native(native) => session.bind(&native()),
            })
    }
}
