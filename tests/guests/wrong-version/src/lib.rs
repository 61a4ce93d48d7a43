//! A component for `airlock:tool@0.2.0`. A host of 0.1.0 refuses it and names both versions.

wit_bindgen::generate!({ world: "custom-tool", path: "wit" });

use exports::airlock::tool::{resolver, tool};

struct WrongVersion;

impl tool::Guest for WrongVersion {
    fn definitions() -> Vec<String> {
        vec!["from_the_future".into()]
    }
}

impl resolver::Guest for WrongVersion {
    fn apply(action_id: String) -> Result<String, String> {
        Ok(action_id)
    }
}

#[allow(unsafe_code, reason = "bindings export unsafe functions")]
const _: () = {
    export!(WrongVersion);
};
