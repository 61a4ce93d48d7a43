//! The tool as a plugin of Extism, which finds the files in `/workspace`.

#[allow(unsafe_code, reason = "the macro exports a function by its name")]
mod exports {
    use std::path::Path;

    use beside_logic::Params;
    use extism_pdk::{FnResult, Json, plugin_fn};

    /// Answers with what would be renamed.
    #[plugin_fn]
    pub fn rename_prefix(Json(params): Json<Params>) -> FnResult<String> {
        let renames = beside_logic::plan(Path::new("/workspace"), &params)?;
        Ok(beside_logic::text(&renames))
    }
}
