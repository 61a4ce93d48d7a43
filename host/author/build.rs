//! Makes tables of the SDKs' files, which are part of the program: a new file of theirs needs no
//! line here. In the repository, `sdk` holds links to the SDKs' own folders, and the TypeScript
//! SDK's archive, which `tests/toolchain/pack-node-sdk` makes; in a packed crate, all are files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Each in a folder of `sdk`, and the name of its table.
const SDKS: [(&str, &str); 5] = [
    ("c", "C"),
    ("go", "GO"),
    ("python", "PYTHON"),
    ("rust", "RUST"),
    ("ts", "TS"),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A folder stands for all that is below it.
    println!("cargo::rerun-if-changed=sdk");
    println!("cargo::rerun-if-changed=build.rs");
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let mut tables = String::new();
    for (folder, table) in SDKS {
        let folder = package.join("sdk").join(folder);
        let mut names = Vec::new();
        find(&folder, "", &mut names)?;
        names.sort();
        writeln!(tables, "pub static {table}: &[(&str, &[u8])] = &[")?;
        for name in names {
            let path = folder.join(&name);
            writeln!(tables, "    ({name:?}, include_bytes!({path:?})),")?;
        }
        writeln!(tables, "];")?;
    }
    fs::write(Path::new(&env::var("OUT_DIR")?).join("sdks.rs"), tables)?;
    Ok(())
}

/// Adds the files below a folder, with `/` in their names on every system. Follows links.
fn find(folder: &Path, below: &str, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string();
        let name = name.map_err(|_| io::Error::other("an SDK's file has no name in UTF-8"))?;
        if is_left_out(&name) {
            continue;
        }
        let name = format!("{below}{name}");
        if entry.path().is_dir() {
            find(&entry.path(), &format!("{name}/"), names)?
        } else {
            names.push(name)
        }
    }
    Ok(())
}

/// Documents and tests, which are of use in the repository alone, and what tools leave beside
/// sources. `exclude` in `Cargo.toml` has the same files.
fn is_left_out(name: &str) -> bool {
    let for_the_repository = name.ends_with(".md") || name.ends_with("_test.go");
    for_the_repository || name == "__pycache__" || name.starts_with('.')
}
