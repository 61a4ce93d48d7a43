//! What is part of this program and has tools: plugins, and producers that are native.

#[cfg(feature = "ast-edit")]
use airlock_host::native::NativeProducer;
use airlock_host::{Digest, EngineBuilder, SessionBuilder};

/// One of them.
#[derive(Debug)]
pub struct Bundled {
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// The names of its tools, which no other plugin's can have.
    pub tools: &'static [&'static str],
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
        tools: &["batch_rename_preview"],
        form: Form::Component(include_bytes!(
            "../../../plugins/batch-rename/batch_rename.wasm"
        )),
    },
    #[cfg(feature = "ast-edit")]
    Bundled {
        name: "ast_edit",
        about: "Rewrites code by its structure, in many files at once, once you have seen the diff",
        tools: &["ast_edit"],
        form: Form::Native(ast_edit),
    },
];

/// Parses in processes of its own, which are this program.
#[cfg(feature = "ast-edit")]
fn ast_edit() -> NativeProducer {
    let ast_edit = airlock_ast_edit::AstEdit::new();
    #[cfg(unix)]
    let ast_edit = ast_edit.parser(crate::load::this_program());
    ast_edit.producer()
}

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

/// Keeps their tools' names for them.
pub fn reserve_names(engine: EngineBuilder) -> EngineBuilder {
    ALL.iter().fold(engine, |engine, bundled| {
        let digest = bundled.form.digest();
        let tools = bundled.tools.iter();
        tools.fold(engine, |engine, tool| engine.reserve_tool(*tool, digest))
    })
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

#[cfg(test)]
mod tests {
    use airlock_host::{Engine, Plugin};

    use super::*;

    #[tokio::test]
    async fn the_names_that_are_reserved_are_those_of_the_bundled_tools() {
        let engine = reserve_names(Engine::builder()).build().unwrap();
        for bundled in ALL {
            let tools: Vec<String> = match bundled.form {
                Form::Component(bytes) => {
                    let plugin = Plugin::from_bytes(&engine, bundled.name, bytes).await;
                    let plugin = plugin.unwrap();
                    assert!(plugin.rejected().is_empty(), "{:?}", plugin.rejected());
                    plugin.tools().map(|tool| tool.name.clone()).collect()
                }
                #[cfg(feature = "ast-edit")]
                Form::Native(native) => native().tools().map(|tool| tool.name.clone()).collect(),
            };
            assert_eq!(tools, bundled.tools, "{}", bundled.name);
        }
    }
}
