//! Generates tables of the SDKs' files, which are part of the program, so a new file needs no line
//! here. In the repository, `sdk` contains links to the SDKs' own folders, and the archive of the
//! TypeScript SDK that `tests/toolchain/pack-node-sdk` makes. In a packed crate, these are files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The SDKs: the folder of each in `sdk`, and the name of its table.
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

/// Returns whether a file is left out: documents and tests, which are only useful in the
/// repository, and files that tools leave next to sources. `exclude` in `Cargo.toml` lists the same
/// files.
fn is_left_out(name: &str) -> bool {
    let for_the_repository = name.ends_with(".md") || name.ends_with("_test.go");
    for_the_repository || name == "__pycache__" || name.starts_with('.')
}
