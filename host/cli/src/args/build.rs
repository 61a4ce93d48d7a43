//! `airlock build`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use super::examples::BUILD_EXAMPLES;
use crate::commands::author::build::Request;

/// Build a tool's project into a component, and check that it can be loaded
#[derive(Debug, Args)]
#[command(after_help = BUILD_EXAMPLES)]
pub struct BuildArgs {
    /// The project's folder, or its module in TypeScript or JavaScript; or a TOML file that gives a
    /// program for WASI tools [default: .]
    #[arg(value_name = "DIR", value_hint = ValueHint::AnyPath)]
    pub folder: Option<PathBuf>,

    /// Write the component to FILE [default: DIR/build/NAME.wasm, or the TOML file's name with
    /// .wasm]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Build again whenever a file of the project changes, until Ctrl-C
    #[arg(long)]
    pub watch: bool,

    /// Print one JSON object, with `--watch` one for each build
    #[arg(long)]
    pub json: bool,

    /// Arguments for the language's own build tool, for example `-- --locked` for cargo
    #[arg(last = true, value_name = "OPTION")]
    pub options: Vec<OsString>,
}

impl From<BuildArgs> for Request {
    fn from(args: BuildArgs) -> Self {
        let named = args.folder.unwrap_or_else(|| PathBuf::from("."));
        let mut options = args.options;
        let folder = match project_of_module(&named) {
            Some((folder, module)) => {
                options.splice(..0, ["--entry".into(), module.into()]);
                folder
            }
            None => named,
        };
        Self {
            folder,
            output: args.output,
            options,
            watch: args.watch,
        }
    }
}

/// Returns the project's folder of a TypeScript or JavaScript module, and the module's path in it.
/// Returns `None` if the path is not that of a module.
fn project_of_module(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let ending = path.extension()?.to_str()?;
    if !["ts", "mts", "cts", "js", "mjs", "cjs"].contains(&ending) || !path.is_file() {
        return None;
    }
    let has_manifest = |folder: &&Path| folder.join("package.json").is_file();
    let above = path.ancestors().skip(1).find(has_manifest);
    let folder = above.or_else(|| path.parent())?;
    let module = path.strip_prefix(folder).ok()?.to_owned();
    let folder = if folder.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        folder.to_owned()
    };
    Some((folder, module))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_module_is_built_in_the_folder_of_its_project() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("with/src")).unwrap();
        for file in [
            "with/package.json",
            "with/src/tool.cts",
            "alone.js",
            "tool.py",
        ] {
            fs::write(root.join(file), "").unwrap();
        }
        let of = |path: &str| project_of_module(&root.join(path));
        let expected = (root.join("with"), PathBuf::from("src/tool.cts"));
        assert_eq!(of("with/src/tool.cts"), Some(expected));
        let expected = (root.to_owned(), PathBuf::from("alone.js"));
        assert_eq!(of("alone.js"), Some(expected));
        for none in ["with", "tool.py", "missing.ts"] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
