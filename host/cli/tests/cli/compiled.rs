//! Compiled code in a folder that whoever runs the program can't write to.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use airlock_tests::component;
use serde_json::Value;
use tempfile::TempDir;

use crate::airlock::{airlock, airlock_in, command};

const NOBODY: u32 = 65534;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A copy of the program that everybody may run, with compiled code beside it.
struct Installed {
    /// Everybody's to read.
    folder: TempDir,
    program: PathBuf,
    plugin: PathBuf,
    /// Where its code is, by itself: `lib/airlock/compiled`.
    compiled: PathBuf,
    entry: PathBuf,
}

impl Installed {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        set_mode(folder.path(), 0o755);
        let bin = folder.path().join("usr/bin");
        fs::create_dir_all(&bin).unwrap();
        let program = bin.join("airlock");
        // By another process: see `hints.rs`.
        let mut copy = Command::new("cp");
        copy.arg(command(folder.path()).get_program()).arg(&program);
        assert!(copy.status().unwrap().success());
        set_mode(&program, 0o755);
        // A small one, since it is compiled again and again.
        let plugin = folder.path().join("plugin.wasm");
        fs::copy(component("bench"), &plugin).unwrap();
        // Others may read it whatever the umask is.
        let compile = Command::new("sh")
            .args(["-c", "umask 077 && exec \"$@\"", "sh"])
            .args([&program, Path::new("compile"), Path::new("--json"), &plugin])
            .env_clear()
            .env("HOME", folder.path())
            .output();
        let compile = compile.unwrap();
        assert!(compile.status.success(), "{compile:?}");
        let told: Value = serde_json::from_slice(&compile.stdout).unwrap();
        assert_eq!(told["compiled"][0]["name"], "plugin");
        let entry = PathBuf::from(told["compiled"][0]["path"].as_str().unwrap());
        let compiled = folder.path().join("usr/lib/airlock/compiled");
        assert_eq!(entry.parent().unwrap(), compiled);
        Self {
            folder,
            program,
            plugin,
            compiled,
            entry,
        }
    }

    fn lib(&self) -> PathBuf {
        self.folder.path().join("usr/lib")
    }

    /// Runs it as nobody, or as whom the test runs as where that is not root. Whether it took the
    /// compiled code, since otherwise it has put some into its cache.
    fn is_used(&self, variables: &[(&str, &Path)], wrapped: &[&str]) -> bool {
        let home = TempDir::new().unwrap();
        let mut line: Vec<&str> = wrapped.to_vec();
        let (program, plugin) = (self.program.to_str(), self.plugin.to_str());
        line.extend([program.unwrap(), "inspect", plugin.unwrap(), "--json"]);
        let mut command = Command::new(line[0]);
        command.args(&line[1..]).env_clear();
        command.env("HOME", home.path()).current_dir(home.path());
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.envs(variables.iter().copied());
        if is_root() && wrapped.is_empty() {
            command.uid(NOBODY).gid(NOBODY);
        }
        // In a namespace of its own there is no such user.
        if is_root() && !wrapped.contains(&"--user") {
            chown(home.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let ran = command.output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        let told: Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert_eq!(told["tools"][0]["name"], "bench");
        let cached = fs::read_dir(home.path().join(".cache/airlock/compiled")).unwrap();
        cached.count() == 0
    }
}

/// What a user can't have written runs as it is, and anything else is compiled by themselves.
#[test]
fn code_is_used_unchecked_only_where_its_user_can_not_write_to_it_nor_to_what_is_above() {
    let installed = Installed::new();
    let check = |what: &str, expected: bool| {
        assert_eq!(installed.is_used(&[], &[]), expected, "{what}");
    };
    let (lib, compiled, entry) = (installed.lib(), &installed.compiled, &installed.entry);
    // Whoever is not root has nobody else's folder to try.
    check("another user's", is_root());
    let give = |path: &Path, user| {
        if is_root() {
            chown(path, Some(user), None).unwrap();
        }
    };
    for (what, path) in [
        ("the file", entry),
        ("its folder", compiled),
        ("the folder above", &lib),
    ] {
        let mode = fs::metadata(path).unwrap().permissions().mode();
        give(path, NOBODY);
        check(&format!("{what} is the user's own"), false);
        set_mode(path, mode & !0o222);
        check(&format!("{what} is the user's own to make writable"), false);
        give(path, 0);
        set_mode(path, mode | 0o002);
        check(&format!("{what} can be written by all"), false);
        set_mode(path, mode);
    }
    for (mode, what) in [(0o1777, "like /tmp"), (0o711, "not to be listed")] {
        set_mode(&lib, mode);
        check(&format!("what is above is {what}"), is_root());
    }
    set_mode(&lib, 0o755);
    check("as it was", is_root());

    // What is no entry, or another component's, is left aside.
    let good = fs::read(entry).unwrap();
    let mut other = good.clone();
    let last = other.len() - 1;
    other[last] ^= 1;
    for (what, bytes) in [
        ("cut", &good[..good.len() / 2]),
        ("empty", b""),
        ("another's", &other),
    ] {
        fs::write(entry, bytes).unwrap();
        check(what, false);
    }
    fs::remove_file(entry).unwrap();
    check("gone", false);
    let elsewhere = installed.folder.path().join("elsewhere");
    fs::write(&elsewhere, &good).unwrap();
    symlink(&elsewhere, entry).unwrap();
    check("a link", false);
    fs::remove_file(entry).unwrap();
    fs::write(entry, &good).unwrap();
    check("there again", is_root());

    // By name, also by one that leads there.
    let link = installed.folder.path().join("link");
    symlink(compiled, &link).unwrap();
    let named = |path: &Path| installed.is_used(&[("AIRLOCK_COMPILED_DIR", path)], &[]);
    assert_eq!(named(&link), is_root());
    assert!(!named(&lib.join("airlock")), "another folder is named");
    assert!(!named(Path::new("/nowhere")));
    assert!(!named(Path::new("compiled")), "it is not absolute");

    // A third user's, whom nobody has named, and whose the program isn't.
    const THIRD: u32 = 65533;
    give(compiled, THIRD);
    give(entry, THIRD);
    check("a third user's", false);
    assert_eq!(named(compiled), is_root());
}

#[test]
fn code_on_a_file_system_that_is_mounted_read_only_is_used_by_its_owner_and_by_root_too() {
    let installed = Installed::new();
    let folder = installed.compiled.to_str().unwrap();
    let in_namespace = |script: &str| {
        let unshare = ["unshare", "--user", "--map-root-user", "--mount"];
        let script = format!("set -e; {script}; exec \"$@\"");
        let shell = ["sh", "-c", &script, "sh"];
        installed.is_used(&[], &[&unshare[..], &shell[..]].concat())
    };
    let bind = format!("mount --bind {folder} {folder}");
    assert!(!in_namespace(&bind));
    assert!(in_namespace(&format!(
        "{bind}; mount -o remount,bind,ro {folder}"
    )));
}

#[test]
fn compile_says_what_it_has_written_and_who_does_not_use_it() {
    let folder = TempDir::new().unwrap();
    let into = folder.path().join("a/b");
    let into = into.to_str().unwrap();
    let ran = airlock_in(folder.path(), &["compile", "batch-rename", "--into", into]).run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    let mut lines = ran.stdout.lines();
    let first = lines.next().unwrap();
    assert!(first.starts_with("batch-rename  1,"), "{first}");
    assert!(first.ends_with(" bytes of code"), "{first}");
    assert_eq!(lines.next(), Some(&*format!("in {into}")));
    let note = "note: programs of this user compile for themselves all the same: ";
    assert!(ran.stderr.starts_with(note), "{}", ran.stderr);
    let why = match is_root() {
        true => "this program runs as root",
        false => "it belongs to the user whom this program runs as",
    };
    assert!(ran.stderr.contains(why), "{}", ran.stderr);

    let check = |args: &[&str], code: i32, kind: &str, message: &str| {
        let ran = airlock(&["compile", "--json"]).args(args).run();
        assert_eq!((ran.code, ran.error().0.as_str()), (code, kind), "{args:?}");
        assert!(ran.error().1.contains(message), "{args:?}: {ran:#?}");
    };
    let relative = airlock(&["compile", "--json"]).env("AIRLOCK_COMPILED_DIR", "a/b");
    let relative = relative.run().error();
    assert_eq!(
        (relative.0.as_str(), relative.1.as_str()),
        ("usage", "AIRLOCK_COMPILED_DIR is no absolute path")
    );
    check(&["no-such"], 3, "unknown-plugin", "no-such");
    check(&["./no-such.wasm"], 3, "plugin-unreadable", "no-such.wasm");
    check(
        &["batch-rename", "--into", "/proc/x"],
        1,
        "host",
        "can't write to /proc/x",
    );
    if cfg!(feature = "ast-edit") {
        check(&["ast_edit"], 2, "usage", "there is nothing to compile");
    }
}
