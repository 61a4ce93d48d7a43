//! A plugin's grants after a reload.

use std::fs;

use serde_json::json;

use super::super::client::{Calls, Server, words};
use super::{File, hang_up, script, told};
use crate::airlock::{Store, folder};

/// Lets a component want something impossible, so that it can't be loaded.
fn wants_nonsense(path: &str) {
    let mut bytes = fs::read(path).unwrap();
    bytes.extend_from_slice(b"\0\x0f\x0dairlock:wants[");
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_plugin_that_can_not_be_loaded_again_keeps_its_grants() {
    let (store, folder, plugin) = (Store::new(), folder(&["a.jpeg"]), File::of("puppet"));
    let file = store.path().with_file_name("airlock-host.toml");
    let path = plugin.path();
    let text = format!(
        "plugins = ['{path}']\ndecide = 'model'\n[[grant]]\nplugins = ['{path}']\nread = ['docs/']"
    );
    fs::write(&file, text).unwrap();
    let (mut server, _) = Server::initialized(
        &store,
        folder.path(),
        &["--config", file.to_str().unwrap()],
        "2025-11-25",
        json!({}),
    );
    let read = script(json!([{"do": "fs", "op": "read", "path": "a.jpeg"}]));
    let denied = "Permission denied";
    let said = server.call("puppet", read.clone());
    assert!(words(&said).contains(denied), "{said}");

    wants_nonsense(&path);
    hang_up(&server.child);
    told(&server.said, "not reloaded, and served as it was");
    told(&server.said, "the list of tools is the same");
    let said = server.call("puppet", read);
    assert!(words(&said).contains(denied), "{said}");
    assert_eq!(server.end(), 0);
}
