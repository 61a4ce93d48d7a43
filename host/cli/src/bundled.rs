//! The plugins and native producers that are part of this program.

use std::sync::OnceLock;

use airlock_desk::plugin::{Bundled, BundledKind, Catalog};
use airlock_host::native::{NativeProducer, UNDO, Undo};

pub const CATALOG: Catalog = Catalog::new(&[
    Bundled {
        name: "files",
        about: "Reads, searches and changes files, once you have seen the diff",
        tools: &[
            "read_file",
            "list_directory",
            "find_files",
            "grep",
            "write_file",
            "edit_file",
            "apply_patch",
            "search_replace",
            "edit_values",
            "move_file",
            "copy_file",
            "delete_file",
            "make_directory",
        ],
        kind: BundledKind::Component {
            bytes: include_bytes!("../bundled/files.wasm"),
            record: include_str!("../bundled/files.wasm.lock"),
        },
    },
    Bundled {
        name: "batch-rename",
        about: "Renames files by a regular expression, once you have seen the list of old and new names",
        tools: &["batch_rename_preview"],
        kind: BundledKind::Component {
            bytes: include_bytes!("../bundled/batch_rename.wasm"),
            record: include_str!("../bundled/batch_rename.wasm.lock"),
        },
    },
    Bundled {
        name: "scripts",
        about: "Runs JavaScript that works on files, once you have seen what it changes",
        tools: &["run_script"],
        kind: BundledKind::Component {
            bytes: include_bytes!("../bundled/scripts.wasm"),
            record: include_str!("../bundled/scripts.wasm.lock"),
        },
    },
    #[cfg(feature = "ast-edit")]
    Bundled {
        name: "ast_edit",
        about: "Rewrites code by its structure, in many files at once, once you have seen the diff",
        tools: &["ast_edit"],
        kind: BundledKind::Native(ast_edit),
    },
    Bundled {
        name: UNDO,
        about: "Takes back the changes of an applied action, once you have seen the result",
        tools: &[UNDO],
        kind: BundledKind::Native(undo),
    },
]);

/// Returns the `undo` producer. It is built once, because that validates its schema.
fn undo() -> NativeProducer {
    static PRODUCER: OnceLock<NativeProducer> = OnceLock::new();
    PRODUCER.get_or_init(Undo::producer).clone()
}

/// Returns the `ast_edit` producer, which parses in separate processes of this program. It is built
/// once, because that validates its schema.
#[cfg(feature = "ast-edit")]
fn ast_edit() -> NativeProducer {
    static PRODUCER: OnceLock<NativeProducer> = OnceLock::new();
    let producer = PRODUCER.get_or_init(|| {
        let ast_edit = airlock_ast_edit::AstEdit::new();
        #[cfg(unix)]
        let ast_edit = ast_edit.parser(airlock_desk::plugin::this_program());
        ast_edit.producer()
    });
    producer.clone()
}

#[cfg(test)]
mod tests {
    use airlock_host::digest::Digest;
    use airlock_host::{Engine, Plugin};

    use super::*;

    #[tokio::test]
    async fn what_is_recorded_of_bundled_plugins_is_true() {
        let engine = Engine::builder().build().unwrap();
        for bundled in CATALOG.all() {
            let tools: Vec<String> = match bundled.kind {
                BundledKind::Component { bytes, record } => {
                    let recorded = record.contains(&Digest::of(bytes).to_string());
                    assert!(recorded, "{}: run plugins/build", bundled.name);
                    assert_eq!(bundled.kind.digest(), Digest::of(bytes));
                    let plugin = Plugin::from_bytes(&engine, bundled.name, bytes).await;
                    let plugin = plugin.unwrap();
                    assert!(plugin.rejected().is_empty(), "{:?}", plugin.rejected());
                    plugin.tools().map(|tool| tool.name.clone()).collect()
                }
                BundledKind::Native(native) => {
                    native().tools().map(|tool| tool.name.clone()).collect()
                }
            };
            assert_eq!(tools, bundled.tools, "{}", bundled.name);
        }
    }
}
