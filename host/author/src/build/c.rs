//! C: a compiler for WASI builds a core module, and this program turns it into a component.

mod problems;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use airlock_host::wants::About;
use anyhow::{Context, anyhow};
use tokio::process::Command;

use super::bindings::{self, World};
use super::problem;
use super::project::{Language, Project};
use super::sdk::{self, Sdk};
use super::toolchain::{self, Toolchain, failed, missing};
use super::{BuildOutput, component};
use crate::error::Error;

/// The environment variable with a compiler and its options for WASI.
const COMPILER: &str = "AIRLOCK_CC";

/// The folder for generated files, relative to the project's. The compiler gets relative paths, so
/// that the same sources give the same component elsewhere.
const GENERATED: &str = "build/generated";

const OPTIONS: [&str; 6] = [
    // Builds a library that is initialized once before it is called.
    "-mexec-model=reactor",
    "-Os",
    "-s",
    // A missing result is undefined behavior and would end the tool.
    "-Werror=return-type",
    // Keeps assertions, which zig removes from optimized code.
    "-UNDEBUG",
    // Every instance contains the whole stack.
    "-Wl,-z,stack-size=1048576",
];

pub async fn build(
    project: &Project,
    options: &[OsString],
    toolchain: &Toolchain<'_>,
) -> Result<BuildOutput, Error> {
    let compiler = find_compiler(toolchain).await?;
    let sources = sources(project)?;
    let sdk = provide_sdk(&project.folder)?;

    let (program, arguments) = compiler.split_first().expect("a compiler has a name");
    let mut cc = Command::new(program);
    cc.args(arguments)
        .args(OPTIONS)
        .current_dir(&project.folder);
    for folder in sdk.headers {
        cc.arg("-I").arg(folder);
    }
    cc.args(&project.manifest.c.flags).args(options);
    cc.args(&sources).args(sdk.link);
    let module = Path::new(GENERATED).join("core.wasm");
    cc.arg("-o").arg(&module);
    let ended = toolchain.run_to_its_end("Compiling C", &mut cc).await?;
    if !ended.succeeded() {
        let found = problems::of(&ended.said, &sources);
        return Err(problem::tell(&found, &ended.said, &ended, toolchain));
    }
    toolchain.pass_on(&ended.said);

    let module = std::fs::read(project.folder.join(module))
        .context("the compiler wrote no module")
        .map_err(failed)?;
    Ok(BuildOutput {
        component: component::from_module(&module)?,
        about: project.info(
            About::default(),
            Some(("airlock-tool-c", env!("CARGO_PKG_VERSION").to_owned())),
        ),
    })
}

/// Returns the command that compiles for WASI.
async fn find_compiler(toolchain: &Toolchain<'_>) -> Result<Vec<OsString>, Error> {
    if let Some(named) = std::env::var_os(COMPILER).filter(|named| !named.is_empty()) {
        let words: Vec<OsString> = named
            .to_string_lossy()
            .split_whitespace()
            .map(OsString::from)
            .collect();
        return if words.is_empty() {
            Err(Error::usage(anyhow!("{COMPILER} names no compiler")))
        } else {
            Ok(words)
        };
    }
    let zig = |program: PathBuf, module: &[&str]| {
        let words = module.iter().chain(&["cc", "-target", "wasm32-wasi"]);
        let mut command = vec![program.into_os_string()];
        command.extend(words.map(OsString::from));
        command
    };
    if let Some(program) = toolchain::find("zig") {
        return Ok(zig(program, &[]));
    }
    for python in ["python3", "python"] {
        let Some(program) = toolchain::find(python) else {
            continue;
        };
        let mut looking = Command::new(&program);
        let spec = "import importlib.util as u; print(u.find_spec('ziglang') is not None)";
        looking.args(["-c", spec]);
        let found = toolchain.run("Looking for zig", &mut looking).await;
        if found.is_ok_and(|said| said.starts_with(b"True")) {
            return Ok(zig(program, &["-m", "ziglang"]));
        }
    }
    Err(missing(
        "a C compiler for WebAssembly",
        "pip install ziglang (or set AIRLOCK_CC to a clang of your own with its options for WASI)",
    ))
}

/// Returns the sources that the project lists, or all of `src`.
fn sources(project: &Project) -> Result<Vec<PathBuf>, Error> {
    let named = &project.manifest.c.sources;
    if !named.is_empty() {
        return Ok(named.clone());
    }
    let sources = sources_in(&project.folder, "src");
    if sources.is_empty() {
        Err(Error::usage(anyhow!(
            "there is no .c file in {}",
            project.folder.join("src").display()
        ))
        .with_advice("name the sources in airlock.toml: [c] sources = [\"tool.c\"]"))
    } else {
        Ok(sources)
    }
}

/// Returns the sources in a folder, relative to the project's, sorted by name.
fn sources_in(project: &Path, folder: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(project.join(folder));
    let mut sources: Vec<PathBuf> = files
        .into_iter()
        .flatten()
        .flatten()
        .map(|file| Path::new(folder).join(file.file_name()))
        .filter(|file| file.extension().is_some_and(|extension| extension == "c"))
        .collect();
    sources.sort();
    sources
}

/// The files that the compiler gets besides the project's own sources.
struct Provided {
    /// Header folders, relative to the project's folder.
    headers: Vec<&'static str>,
    /// Files to compile and link, relative to the project's folder.
    link: Vec<PathBuf>,
}

/// Provides the bindings and the SDK: the project's copy, or else that of this program.
fn provide_sdk(project: &Path) -> Result<Provided, Error> {
    let generated = project.join(GENERATED);
    let mut provided = if sdk::is_kept(project, Language::C) {
        Provided {
            headers: vec![sdk::FOLDER, GENERATED],
            link: sources_in(project, sdk::FOLDER),
        }
    } else {
        let own = Sdk::of(Language::C)?;
        own.write_files(&generated)?;
        let sources = own.files().filter(|(name, _)| name.ends_with(".c"));
        Provided {
            headers: vec![GENERATED],
            link: sources
                .map(|(name, _)| Path::new(GENERATED).join(name))
                .collect(),
        }
    };
    for (name, contents) in World::read()?.for_c()?.iter() {
        bindings::write(&generated.join(name), contents)?;
        if name.ends_with(".c") || name.ends_with(".o") {
            provided.link.push(Path::new(GENERATED).join(name));
        }
    }
    Ok(provided)
}
