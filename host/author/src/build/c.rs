//! C: a compiler for WASI makes a core module, and this program the rest.

mod problems;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use tokio::process::Command;

use super::bindings::{self, World};
use super::problem;
use super::project::Project;
use super::toolchain::{self, Toolchain, failed, missing};
use super::{BuildOutput, ProjectInfo, component, embedded};
use crate::error::Error;

/// Names a compiler, with its options for WASI.
const COMPILER: &str = "AIRLOCK_CC";

/// From the project's folder. Paths in it reach the compiler as they are here, so that the same
/// sources elsewhere give the same component.
const GENERATED: &str = "build/generated";

const OPTIONS: [&str; 5] = [
    // A library that is initialized once, and then called.
    "-mexec-model=reactor",
    "-Os",
    "-s",
    // What such a function returns is anything, and a tool would end with it.
    "-Werror=return-type",
    // All of it is part of each instance.
    "-Wl,-z,stack-size=1048576",
];

pub async fn build(
    project: &Project,
    options: &[OsString],
    toolchain: &Toolchain<'_>,
) -> Result<BuildOutput, Error> {
    let compiler = find_compiler(toolchain).await?;
    let sources = sources(project)?;
    let generated = generate(&project.folder.join(GENERATED))?;

    let (program, arguments) = compiler.split_first().expect("a compiler has a name");
    let mut cc = Command::new(program);
    cc.args(arguments)
        .args(OPTIONS)
        .current_dir(&project.folder);
    cc.arg("-I").arg(GENERATED);
    cc.args(&project.manifest.c.flags).args(options);
    cc.args(&sources);
    cc.args(generated.iter().map(|file| Path::new(GENERATED).join(file)));
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
    let manifest = &project.manifest;
    Ok(BuildOutput {
        component: component::from_module(&module)?,
        about: ProjectInfo {
            name: manifest
                .name
                .clone()
                .unwrap_or_else(|| project.folder_name()),
            version: manifest.version.clone(),
            sdk: Some(("airlock-tool-c", env!("CARGO_PKG_VERSION").to_owned())),
        },
    })
}

/// The command that compiles for WASI.
async fn find_compiler(toolchain: &Toolchain<'_>) -> Result<Vec<OsString>, Error> {
    if let Some(named) = std::env::var_os(COMPILER).filter(|named| !named.is_empty()) {
        let words: Vec<OsString> = named
            .to_string_lossy()
            .split_whitespace()
            .map(OsString::from)
            .collect();
        return match words.is_empty() {
            true => Err(Error::usage(anyhow!("{COMPILER} names no compiler"))),
            false => Ok(words),
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

/// What the project says, else all of `src`, in the order of their names.
fn sources(project: &Project) -> Result<Vec<PathBuf>, Error> {
    let named = &project.manifest.c.sources;
    if !named.is_empty() {
        return Ok(named.clone());
    }
    let folder = project.folder.join("src");
    let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut sources: Vec<PathBuf> = files
        .map(|file| Path::new("src").join(file.file_name()))
        .filter(|file| file.extension().is_some_and(|extension| extension == "c"))
        .collect();
    sources.sort();
    match sources.is_empty() {
        false => Ok(sources),
        true => Err(
            Error::usage(anyhow!("there is no .c file in {}", folder.display()))
                .with_advice("name the sources in airlock.toml: [c] sources = [\"tool.c\"]"),
        ),
    }
}

/// Writes the SDK and the bindings, and gives the names of what is to be linked.
fn generate(folder: &Path) -> Result<Vec<String>, Error> {
    let mut link = Vec::new();
    let mut put = |name: &str, contents: &[u8]| {
        if name.ends_with(".c") || name.ends_with(".o") {
            link.push(name.to_owned());
        }
        bindings::write(&folder.join(name), contents)
    };
    for (name, text) in embedded::SDK_C {
        put(name, text.as_bytes())?;
    }
    for (name, contents) in World::read()?.for_c()?.iter() {
        put(name, contents)?;
    }
    Ok(link)
}
