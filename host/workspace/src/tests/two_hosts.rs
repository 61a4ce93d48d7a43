//! Several processes that commit to one folder, and to one that lies in it: each commit is whole,
//! and who was too late is told so.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::fs::FlockOperation;
use rustix::io::Errno;
use tempfile::TempDir;

use super::model::{open, scratch, ticket};
use crate::fault::while_another;
use crate::lower::open_directory;
use crate::{CommitError, Directory, LayerOptions, OpenOptions, Opened, Workspace};

/// How many commits each process makes.
const COMMITS: usize = 60;

struct Fixture {
    folders: TempDir,
}

impl Fixture {
    /// A folder with another one in it, in which two files have the same number.
    fn new() -> Self {
        let folders = TempDir::new_in(scratch()).unwrap();
        let nested = folders.path().join("outer/nested");
        fs::create_dir_all(nested.join("made")).unwrap();
        fs::create_dir(folders.path().join("spill")).unwrap();
        for name in ["one", "two"] {
            fs::write(nested.join(name), "0").unwrap();
        }
        fs::write(nested.join("log"), "").unwrap();
        Self { folders }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folders.path().join(below)
    }

    /// Starts this program once more, as a host that commits.
    fn start(&self, name: &str, workspace: &str, below: &str) -> Child {
        let mut host = Command::new(std::env::current_exe().unwrap());
        host.args([
            "--exact",
            "tests::two_hosts::a_host",
            "--ignored",
            "--nocapture",
        ])
        .env("AIRLOCK_TEST_HOST", name)
        .env("AIRLOCK_TEST_WORKSPACE", self.path(workspace))
        .env("AIRLOCK_TEST_BELOW", below)
        .env("AIRLOCK_TEST_SPILL", self.path("spill"))
        .stdout(Stdio::piped());
        host.spawn().unwrap()
    }
}

fn read(root: &Directory, path: &str) -> io::Result<String> {
    match root.open(path, OpenOptions::default())? {
        Opened::File(file) => {
            let mut bytes = vec![0; 100_000];
            let read = file.read_at(&mut bytes, 0)?;
            Ok(String::from_utf8(bytes[..read].to_vec()).unwrap())
        }
        Opened::Directory(_) => panic!("{path} is a directory"),
    }
}

fn write(root: &Directory, path: &str, text: &str) -> io::Result<()> {
    let options = OpenOptions {
        write: true,
        create: true,
        truncate: true,
        ..OpenOptions::default()
    };
    match root.open(path, options)? {
        Opened::File(file) => file.write_at(text.as_bytes(), 0),
        Opened::Directory(_) => panic!("{path} is a directory"),
    }
}

/// Counts both numbers up, says so in the log, and makes a file; all of it or nothing.
fn count(workspace: &Workspace, below: &str, spill: &Path, id: &str) -> Result<(), CommitError> {
    let view = workspace.view(1000).unwrap();
    view.begin(&LayerOptions::new(spill)).unwrap();
    change(&view.root(), below, id).map_err(|source| CommitError::Io {
        doing: "change the files".to_owned(),
        source,
    })?;
    let committed = view.commit(workspace, &ticket(id))?;
    assert!(committed.not_cleaned_up.is_none());
    Ok(())
}

fn change(root: &Directory, below: &str, id: &str) -> io::Result<()> {
    let path = |name: &str| format!("{below}{name}");
    let log = read(root, &path("log"))?;
    let next = read(root, &path("one"))?.parse::<usize>().unwrap() + 1;
    write(root, &path("one"), &next.to_string())?;
    write(root, &path("two"), &next.to_string())?;
    write(root, &path("log"), &format!("{log}{id}\n"))?;
    write(root, &path(&format!("made/{id}")), id)?;
    match root.open(&path("made/.."), OpenOptions::default())? {
        Opened::Directory(directory) => {
            let listed = directory.list()?;
            assert!(listed.entries.iter().all(|entry| entry.name != ".airlock"));
            Ok(())
        }
        Opened::File(_) => panic!("a directory is a file"),
    }
}

/// Whether somebody else was quicker.
fn is_too_late(error: &CommitError) -> bool {
    match error {
        CommitError::Conflict(_) => true,
        // It was told before the commit already.
        CommitError::Io { source, .. } => Errno::from_io_error(source) == Some(Errno::STALE),
        _ => false,
    }
}

/// What the processes are: not a test by itself.
#[test]
#[ignore = "it is what the tests of several hosts start"]
fn a_host() {
    let given = |name: &str| std::env::var(format!("AIRLOCK_TEST_{name}")).unwrap();
    let workspace = open(Path::new(&given("WORKSPACE")));
    let (name, below, spill) = (given("HOST"), given("BELOW"), given("SPILL"));
    let mut conflicts = 0;
    for number in 0..COMMITS {
        let id = format!("{name}-{number}");
        while let Err(error) = count(&workspace, &below, Path::new(&spill), &id) {
            assert!(is_too_late(&error), "{id}: {error}");
            conflicts += 1;
        }
    }
    println!("conflicts {conflicts}");
}

/// Waits for hosts to end, and prints how often each was too late.
fn wait_for(hosts: Vec<Child>) {
    for host in hosts {
        let ended = host.wait_with_output().unwrap();
        let said = String::from_utf8(ended.stdout).unwrap();
        assert!(ended.status.success(), "{said}");
        let conflicts = said.lines().find(|line| line.starts_with("conflicts "));
        println!("{}", conflicts.expect("a host counts its conflicts"));
    }
}

fn check_counted(place: &Fixture, commits: usize) {
    let nested = place.path("outer/nested");
    let expected = commits.to_string();
    for name in ["one", "two"] {
        assert_eq!(fs::read_to_string(nested.join(name)).unwrap(), expected);
    }
    let log = fs::read_to_string(nested.join("log")).unwrap();
    let mut lines: Vec<_> = log.lines().collect();
    lines.sort();
    let mut made: Vec<_> = super::script::paths(&nested.join("made"));
    made.sort();
    assert_eq!(lines, made);
    assert_eq!(lines.len(), commits);
}

#[test]
fn two_processes_lose_nothing_and_each_commit_is_whole() {
    let place = Fixture::new();
    let start = |name| place.start(name, "outer", "nested/");
    let workspace = open(&place.path("outer"));
    // Who began before them, and is not done before they are.
    let late = workspace.view(1000).unwrap();
    late.begin(&LayerOptions::new(place.path("spill"))).unwrap();
    change(&late.root(), "nested/", "late").unwrap();
    let hosts = vec![start("a"), start("b")];
    // Whoever looks under the lock never sees a commit in progress.
    for _ in 0..50 {
        let numbers = workspace.locked(|| {
            let read = |name| fs::read_to_string(place.path("outer/nested").join(name)).unwrap();
            (read("one"), read("two"))
        });
        let (one, two) = numbers.unwrap();
        assert_eq!(one, two);
    }
    wait_for(hosts);
    match late.commit(&workspace, &ticket("late")) {
        Err(CommitError::Conflict(conflicts)) => {
            let paths: Vec<_> = conflicts.iter().map(|it| &*it.path).collect();
            assert_eq!(paths, ["nested/one", "nested/two", "nested/log"]);
        }
        other => panic!("{other:?}"),
    }
    check_counted(&place, 2 * COMMITS);
}

#[test]
fn a_workspace_in_another_and_the_one_above_it_commit_to_the_same_files() {
    let place = Fixture::new();
    let outer = open(&place.path("outer"));
    // From its first commit on, those in it know of it.
    count(&outer, "nested/", &place.path("spill"), "first").unwrap();
    let hosts = vec![
        place.start("above-a", "outer", "nested/"),
        place.start("nested-a", "outer/nested", ""),
        place.start("above-b", "outer", "nested/"),
        place.start("nested-b", "outer/nested", ""),
    ];
    for _ in 0..20 {
        let numbers = outer.locked(|| {
            let read = |name| fs::read_to_string(place.path("outer/nested").join(name)).unwrap();
            (read("one"), read("two"))
        });
        let (one, two) = numbers.unwrap();
        assert_eq!(one, two);
    }
    wait_for(hosts);
    check_counted(&place, 4 * COMMITS + 1);
    // Each has its own records, which the other one doesn't show.
    assert!(outer.is_committed("above-a-0").unwrap());
    assert!(!outer.is_committed("nested-a-0").unwrap());
    let nested = open(&place.path("outer/nested"));
    assert!(nested.is_committed("nested-b-0").unwrap());
}

/// What another process gets that asks for a folder's lock, without waiting.
fn lock_of_another(folder: &Path, how: FlockOperation) -> Result<(), Errno> {
    match File::open(folder.join(".airlock/lock")) {
        Ok(file) => rustix::fs::flock(&file, how),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn who_may_only_read_a_folder_holds_up_no_commit() {
    let place = Fixture::new();
    let nested = place.path("outer/nested");
    let mut held = Vec::new();
    for folder in [place.path("outer"), nested.clone()] {
        let file = open_directory(&folder).unwrap();
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
        held.push(file);
    }
    let workspace = open(&nested);
    count(&workspace, "", &place.path("spill"), "it").unwrap();
    let private = nested.join(".airlock");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&private), 0o700);
    assert_eq!(mode(&private.join("lock")), 0o600);
}

#[test]
fn who_commits_nothing_leaves_nothing() {
    let place = Fixture::new();
    let nested = place.path("outer/nested");
    let workspace = open(&nested);
    let is_left = || nested.join(".airlock").exists();
    workspace.locked(|| assert!(is_left())).unwrap();
    assert!(!is_left());
    let view = workspace.view(0).unwrap();
    view.begin(&LayerOptions::new(place.path("spill"))).unwrap();
    view.commit(&workspace, &ticket("nothing")).unwrap();
    assert!(!is_left());
    view.begin(&LayerOptions::new(place.path("spill"))).unwrap();
    write(&view.root(), "one", "2").unwrap();
    let refused = view.commit_if(&workspace, &ticket("no"), |_| Err(CommitError::OtherFolder));
    assert!(matches!(refused, Err(CommitError::OtherFolder)));
    assert!(!is_left());
    view.commit(&workspace, &ticket("it")).unwrap();
    assert!(is_left());
}

#[test]
fn a_lock_that_somebody_has_removed_is_not_waited_for_and_not_taken() {
    let place = Fixture::new();
    let nested = place.path("outer/nested");
    let workspace = open(&nested);
    count(&workspace, "", &place.path("spill"), "first").unwrap();
    let lock = nested.join(".airlock/lock");
    let old = File::open(&lock).unwrap();
    rustix::fs::flock(&old, FlockOperation::NonBlockingLockExclusive).unwrap();
    let removed = lock.clone();
    // Between the opening of the file and the lock: the second attempt has another file.
    let exclusive = FlockOperation::NonBlockingLockExclusive;
    let remove = move || {
        std::fs::remove_file(&removed).unwrap();
        rustix::fs::flock(&old, FlockOperation::Unlock).unwrap();
    };
    while_another(2, remove, || {
        workspace.locked(|| {
            assert_eq!(lock_of_another(&nested, exclusive), Err(Errno::WOULDBLOCK));
        })
    })
    .unwrap();
}

#[test]
fn the_lock_is_held_from_the_check_on_and_never_before() {
    let place = Fixture::new();
    let [outer, nested] = ["outer", "outer/nested"].map(|below| place.path(below));
    let beside = outer.join("made");
    fs::create_dir(&beside).unwrap();
    let exclusive = FlockOperation::NonBlockingLockExclusive;
    let shared = FlockOperation::NonBlockingLockShared;
    let free = |folder: &Path| assert_eq!(lock_of_another(folder, exclusive), Ok(()));
    count(&open(&outer), "nested/", &place.path("spill"), "first").unwrap();
    let workspace = open(&nested);
    let view = workspace.view(0).unwrap();
    view.begin(&LayerOptions::new(place.path("spill"))).unwrap();
    write(&view.root(), "one", "1").unwrap();
    view.changes().unwrap();
    [&outer, &nested]
        .into_iter()
        .for_each(|folder| free(folder));
    let committed = view.commit_if(&workspace, &ticket("it"), |_| {
        assert_eq!(lock_of_another(&nested, shared), Err(Errno::WOULDBLOCK));
        assert_eq!(lock_of_another(&outer, exclusive), Err(Errno::WOULDBLOCK));
        // One beside it doesn't wait.
        assert_eq!(lock_of_another(&outer, shared), Ok(()));
        free(&beside);
        Ok::<_, CommitError>(())
    });
    committed.unwrap();
    [&outer, &nested]
        .into_iter()
        .for_each(|folder| free(folder));

    // Who refuses holds it no longer either, and is to be asked again.
    view.begin(&LayerOptions::new(place.path("spill"))).unwrap();
    write(&view.root(), "one", "2").unwrap();
    let refused = view.commit_if(&workspace, &ticket("no"), |_| Err(CommitError::OtherFolder));
    assert!(matches!(refused, Err(CommitError::OtherFolder)));
    [&outer, &nested]
        .into_iter()
        .for_each(|folder| free(folder));
    view.commit(&workspace, &ticket("again")).unwrap();
}
