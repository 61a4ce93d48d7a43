//! Where everything is: what was built, and a folder for the files that contestants read.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use beside_contestant::NOTHING;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Lets a client of `airlock serve --http` in.
pub const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// How many files there are, of which the tool renames `RENAMED`.
const FILES: usize = 20;
const RENAMED: usize = 12;

/// What was built, and where files are.
pub struct Place {
    /// The program `airlock`.
    pub airlock: PathBuf,
    /// The tool for Airlock, and for plain wasmtime.
    pub component: PathBuf,
    /// The tool for Extism.
    pub plugin: PathBuf,
    /// A Python that has the package `mcp`.
    pub python: PathBuf,
    folder: TempDir,
}

impl Place {
    /// With all that the script names in the environment.
    pub fn new() -> anyhow::Result<Self> {
        let named = |name: &str| -> anyhow::Result<PathBuf> {
            let path = std::env::var_os(name);
            let path = path.with_context(|| format!("{name} is not set: use tests/beside/run"))?;
            let path = PathBuf::from(path);
            ensure!(path.exists(), "{} is not there", path.display());
            Ok(path)
        };
        // On a disk, as stores are, and not in memory.
        let folder = TempDir::new_in(built().parent().context("it is in a folder")?)?;
        let place = Self {
            airlock: named("BESIDE_AIRLOCK")?,
            component: named("BESIDE_COMPONENT")?,
            plugin: named("BESIDE_PLUGIN")?,
            python: named("BESIDE_PYTHON")?,
            folder,
        };
        fs::create_dir(place.workspace())?;
        for number in 0..FILES {
            let prefix = if number < RENAMED { "IMG_" } else { "notes-" };
            fs::write(
                place.workspace().join(format!("{prefix}{number:04}.jpeg")),
                "",
            )?;
        }
        let cache = place.inside("extism-cache");
        let cache = format!("[cache]\ndirectory = {:?}\n", cache.display().to_string());
        fs::write(place.extism_cache(), cache)?;
        fs::write(place.tokens(), format!("beside:{TOKEN}\n"))?;
        fs::set_permissions(place.tokens(), fs::Permissions::from_mode(0o600))?;
        // More than one client sends.
        let config = "http.requests-per-second = 1000000\n";
        fs::write(place.inside("config.toml"), config)?;
        Ok(place)
    }

    /// A file or folder of this name, which is gone in the end.
    pub fn inside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What the tool reads.
    pub fn workspace(&self) -> PathBuf {
        self.inside("workspace")
    }

    /// The configuration of wasmtime's cache.
    pub fn extism_cache(&self) -> PathBuf {
        self.inside("extism-cache.toml")
    }

    /// Who is let in over HTTP.
    pub fn tokens(&self) -> PathBuf {
        self.inside("tokens")
    }

    /// Where contestants complain.
    pub fn complaints(&self) -> anyhow::Result<File> {
        let mut file = File::options();
        file.create(true).append(true);
        Ok(file.open(self.inside("complaints"))?)
    }

    /// What they complained about so far.
    pub fn complained(&self) -> String {
        fs::read_to_string(self.inside("complaints")).unwrap_or_default()
    }

    /// A program of this workspace.
    pub fn program(&self, name: &str) -> PathBuf {
        built().join(name)
    }

    /// To start a program, which finds nothing of the user's.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        for folder in ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
            command.env(folder, self.inside(folder));
        }
        command
            .env_remove("AIRLOCK_STORE")
            .env_remove("EXTISM_DEBUG");
        command
    }

    /// The server in Python.
    pub fn python_server(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../python/server.py")
    }
}

/// Params that rename, and with `batch-rename` the same files.
pub fn params() -> Value {
    json!({"prefix": "IMG_", "replacement": "beach-"})
}

/// Params that nothing fits.
pub fn params_for_nothing() -> Value {
    serde_json::from_str(NOTHING).unwrap_or_default()
}

/// The same renames, for `batch-rename`.
pub fn params_of_batch_rename() -> Value {
    json!({"files": ["*"], "find": "^IMG_", "replace": "beach-"})
}

/// What every contestant has to say to `params`.
pub fn expected() -> String {
    let mut text = format!("Would rename {RENAMED} files:\n");
    for number in 0..RENAMED {
        text += &format!("IMG_{number:04}.jpeg -> beach-{number:04}.jpeg\n");
    }
    text
}

/// The folder of this program, and of the others of this workspace.
fn built() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    program.parent().map(PathBuf::from).unwrap_or_default()
}
