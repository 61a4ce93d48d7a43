//! A PostgreSQL server of a test's own, on a private port.

mod encryption;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use airlock_store_postgres::PostgresStore;

const USER: &str = "airlock";
const PASSWORD: &str = "correct horse";
/// As it stands in an address.
const PASSWORD_IN_URL: &str = "correct%20horse";

/// A store whose claims are free again that long after their host is gone.
///
/// # Panics
/// Where there is no server at that address.
pub async fn connect_with_lease(url: &str, lease_time: Duration) -> PostgresStore {
    let builder = PostgresStore::builder(url).lease_time(lease_time);
    builder.connect().await.expect("the store connects")
}

/// Whether the server waits for its disk: only then does it lose nothing when the machine loses
/// power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// As in earnest.
    On,
    /// Faster, and as good where only processes die.
    Off,
}

/// The server of a whole test run: its port and its folder, as `PORT:FOLDER`.
pub const SHARED_SERVER: &str = "AIRLOCK_TEST_POSTGRES";

/// A server that ends, and removes its files, with the process that started it, however that dies.
#[derive(Debug)]
pub struct PostgresServer {
    folder: PathBuf,
    port: u16,
    databases: AtomicU32,
    /// Cleans up when the pipe to its standard input is closed; none for another process's server.
    guard: Option<Child>,
}

impl PostgresServer {
    /// Returns the server that no test stops: the one that `with_postgres` started for this test
    /// run, or else one for this process.
    pub fn shared() -> &'static Self {
        static SHARED: LazyLock<PostgresServer> = LazyLock::new(|| {
            let running = std::env::var(SHARED_SERVER).ok();
            running.map_or_else(
                || PostgresServer::new(Sync::Off),
                |server| PostgresServer::running(&server),
            )
        });
        &SHARED
    }

    fn running(server: &str) -> Self {
        let parsed = server.split_once(':');
        let parsed = parsed.and_then(|(port, folder)| Some((port.parse().ok()?, folder.into())));
        let (port, folder) = parsed.unwrap_or_else(|| panic!("{SHARED_SERVER}={server:?}"));
        Self {
            folder,
            port,
            databases: AtomicU32::new(0),
            guard: None,
        }
    }

    /// Returns the value of [`SHARED_SERVER`] with which other processes share this server.
    pub fn address(&self) -> String {
        format!("{}:{}", self.port, self.folder.display())
    }

    /// Makes a server and starts it.
    ///
    /// # Panics
    /// Where there are no server programs, or they fail.
    pub fn new(sync: Sync) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("airlock-postgres-")
            .tempdir();
        let folder = folder.expect("a temporary directory").keep();
        let server = Self {
            guard: Some(guard(&folder)),
            port: free_port(),
            databases: AtomicU32::new(0),
            folder,
        };
        server.make_cluster();
        server.write_settings(sync);
        server.start();
        server
    }

    fn make_cluster(&self) {
        let password = self.folder.join("password");
        fs::write(&password, PASSWORD).expect("the password is written");
        run(Command::new("chown")
            .arg("-R")
            .arg(unprivileged())
            .arg(&self.folder));
        let encoding = [
            "--encoding=UTF8",
            "--locale=C",
            "--auth=scram-sha-256",
            "--no-sync",
        ];
        let mut initdb = self.program("initdb");
        initdb
            .arg("-D")
            .arg(self.data())
            .args(["-U", USER])
            .args(encoding);
        initdb.arg(format!("--pwfile={}", password.display()));
        run(&mut initdb);
    }

    fn write_settings(&self, sync: Sync) {
        let fsync = if sync == Sync::On { "on" } else { "off" };
        self.add_settings(&format!(
            "listen_addresses = '127.0.0.1'\nport = {}\nunix_socket_directories = '{}'\nfsync = {fsync}\n\
             max_connections = 200\nshared_buffers = 64MB\nlog_line_prefix = '%m %p %d '\n",
            self.port,
            self.folder.display(),
        ));
    }

    fn add_settings(&self, settings: &str) {
        let file = self.data().join("postgresql.conf");
        let file = OpenOptions::new().append(true).open(file);
        let mut file = file.expect("the file of the settings");
        file.write_all(settings.as_bytes())
            .expect("the settings are written");
    }

    /// Starts a server that was stopped.
    ///
    /// # Panics
    /// Where it doesn't start.
    pub fn start(&self) {
        self.control(&["start"]);
    }

    /// Stops it: `smart`, `fast`, or `immediate`, which leaves it to recover.
    ///
    /// # Panics
    /// Where it doesn't stop.
    pub fn stop(&self, mode: &str) {
        self.control(&["stop", "-m", mode]);
    }

    /// Stops it, and starts it at once.
    ///
    /// # Panics
    /// Where it doesn't.
    pub fn restart(&self, mode: &str) {
        self.control(&["restart", "-m", mode]);
    }

    fn control(&self, action: &[&str]) {
        let mut control = self.program("pg_ctl");
        control
            .arg("-D")
            .arg(self.data())
            .arg("-l")
            .arg(self.folder.join("data/log"));
        // The server would keep our end of a pipe open.
        control
            .args(["-w", "-t", "60"])
            .args(action)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let done = control.status().expect("pg_ctl runs");
        assert!(done.success(), "pg_ctl {action:?} failed:\n{}", self.log());
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.join("data/log")).unwrap_or_default()
    }

    /// The address of one of its databases.
    pub fn url(&self, database: &str) -> String {
        self.url_as(USER, PASSWORD_IN_URL, database)
    }

    /// The address for another user.
    pub fn url_as(&self, user: &str, password: &str, database: &str) -> String {
        format!(
            "postgres://{user}:{password}@127.0.0.1:{}/{database}",
            self.port
        )
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Makes an empty database, and gives its name.
    ///
    /// # Panics
    /// Where the server refuses.
    pub fn database(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{number}", std::process::id());
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        name
    }

    /// Makes an empty database, and gives its address.
    ///
    /// # Panics
    /// Where the server refuses.
    pub fn database_url(&self) -> String {
        self.url(&self.database())
    }

    /// Runs statements as the superuser, and gives the values that the last one answers, a line for
    /// each row.
    ///
    /// # Panics
    /// Where one fails.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let mut psql = self.program("psql");
        psql.env("PGPASSWORD", PASSWORD)
            .args(["-h", "127.0.0.1", "-U", USER, "-d", database]);
        psql.arg("-p").arg(self.port.to_string());
        psql.args(["--no-psqlrc", "-qAt", "-v", "ON_ERROR_STOP=1", "-c", sql]);
        let output = run(&mut psql);
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// One of PostgreSQL's programs, as a user under which the server is willing to run.
    fn program(&self, name: &str) -> Command {
        let program = programs().join(name);
        let mut command = if unprivileged_needed() {
            let user = unprivileged();
            let mut command = Command::new("setpriv");
            command
                .arg(format!("--reuid={user}"))
                .arg("--clear-groups")
                .arg("--")
                .arg(program);
            command
        } else {
            Command::new(program)
        };
        // Not the caller's own home, which that user may not read.
        command.env("HOME", &self.folder);
        command.current_dir(&self.folder).stdin(Stdio::null());
        command
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if let Some(guard) = &mut self.guard {
            drop(guard.stdin.take());
            let _ = guard.wait();
        }
    }
}

/// A process that waits for our end of the pipe to be closed, which the system does for us when we
/// die.
fn guard(folder: &Path) -> Child {
    let script = r#"
        cat >/dev/null
        read -r server <"$1/data/postmaster.pid" && kill -QUIT "$server"
        while [ -e "$1/data/postmaster.pid" ] && kill -0 "$server"; do sleep 0.05; done
        rm -rf "$1"
    "#;
    let mut guard = Command::new("sh");
    guard
        .args(["-c", script, "guard"])
        .arg(folder)
        .current_dir("/");
    // In a group of its own: an interrupt from the terminal is for the tests, not for who cleans up
    // behind them.
    std::os::unix::process::CommandExt::process_group(&mut guard, 0);
    guard
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    guard.spawn().expect("sh runs")
}

/// Where `initdb` and the others are.
fn programs() -> &'static Path {
    static PROGRAMS: LazyLock<PathBuf> = LazyLock::new(|| {
        let install = Path::new(env!("CARGO_MANIFEST_DIR")).join("../postgres/install");
        let output = run(&mut Command::new(install));
        PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
    });
    &PROGRAMS
}

/// The server refuses to run as root.
fn unprivileged_needed() -> bool {
    let own = fs::metadata("/proc/self").expect("this process has a folder");
    own.uid() == 0
}

/// The user that the package made for it, where it did.
fn unprivileged() -> &'static str {
    static USER: LazyLock<String> = LazyLock::new(|| {
        let user = |name: &str| {
            let known = Command::new("id")
                .args(["-u", name])
                .stderr(Stdio::null())
                .output();
            known.is_ok_and(|output| output.status.success())
        };
        match unprivileged_needed() {
            true if user("postgres") => "postgres".to_owned(),
            true => "nobody".to_owned(),
            false => {
                let output = run(Command::new("id").arg("-un"));
                String::from_utf8_lossy(&output.stdout).trim().to_owned()
            }
        }
    });
    &USER
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it has an address").port()
}

fn run(command: &mut Command) -> Output {
    let output = command.output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed: {said}");
    output
}
