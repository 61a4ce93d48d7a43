//! The plugins that are part of this program.

/// One of them.
#[derive(Debug, PartialEq, Eq)]
pub struct Bundled {
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    pub component: &'static [u8],
}

pub const ALL: &[Bundled] = &[Bundled {
    name: "batch-rename",
    about: "Renames files by a regular expression, once you have seen the list of old and new names",
    component: include_bytes!("../../../plugins/batch-rename/batch_rename.wasm"),
}];

/// The one of this name, which may be spelled with underscores, as its file is.
pub fn find(name: &str) -> Option<&'static Bundled> {
    ALL.iter()
        .find(|bundled| bundled.name == name.replace('_', "-"))
}

/// Their names, for a message.
pub fn names() -> String {
    let names: Vec<&str> = ALL.iter().map(|bundled| bundled.name).collect();
    names.join(", ")
}
