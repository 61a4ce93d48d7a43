//! Debian's docker-registry, and servers that answer as a test says.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::Value;
use tempfile::TempDir;

/// A registry that ends with the test.
pub struct Registry {
    pub host: String,
    process: Child,
    _folder: TempDir,
}

impl Registry {
    pub fn start() -> Self {
        let folder = TempDir::new().unwrap();
        let config = "version: 0.1\n\
             log: {level: info}\n\
             storage: {filesystem: {rootdirectory: data}, delete: {enabled: true}}\n\
             http: {addr: '127.0.0.1:0'}\n";
        fs::write(folder.path().join("config.yml"), config).unwrap();
        let mut process = Command::new(program("docker-registry"))
            .args(["serve", "config.yml"])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let mut log = String::new();
        let host = loop {
            let line = lines.next().unwrap_or_else(|| panic!("it ended:\n{log}"));
            let line = line.unwrap();
            if let Some((_, rest)) = line.split_once("listening on ") {
                break rest.split(['"', ' ', ',']).next().unwrap().to_owned();
            }
            log.push_str(&line);
            log.push('\n');
        };
        // It must never wait for the pipe to be read.
        thread::spawn(move || lines.for_each(drop));
        Self {
            host,
            process,
            _folder: folder,
        }
    }

    /// The manifest of a tag.
    pub fn manifest(&self, name: &str, tag: &str) -> Value {
        let accept = "Accept: application/vnd.oci.image.manifest.v1+json\r\n";
        let path = format!("/v2/{name}/manifests/{tag}");
        let answer = ask(&self.host, "GET", &path, accept, b"");
        serde_json::from_slice(&answer).unwrap()
    }

    /// Gives a tag a manifest, as it is.
    pub fn tag(&self, name: &str, tag: &str, manifest: &Value) {
        let media_type = manifest["mediaType"].as_str().unwrap();
        let kind = format!("Content-Type: {media_type}\r\n");
        let path = format!("/v2/{name}/manifests/{tag}");
        ask(
            &self.host,
            "PUT",
            &path,
            &kind,
            manifest.to_string().as_bytes(),
        );
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // One that has ended already needs no end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A program that `tests/registry/install` installs.
fn program(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let program = target.join("registry/bin").join(name);
    let missing = format!("{name} is missing: run tests/registry/install");
    assert!(program.exists(), "{missing}");
    program
}

/// Sends a request, and returns the body of its answer, which must be a good one.
fn ask(host: &str, method: &str, path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(host).unwrap();
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.0\r\nHost: {host}\r\n{headers}Content-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|it| it == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&answer[..end]);
    assert_eq!(&head[9..10], "2", "{method} {path}: {head}");
    answer[end + 4..].to_vec()
}

/// Starts a server that answers each path with a status and a body, and returns its address.
pub fn serve(answer: impl Fn(&str) -> (u16, Vec<u8>) + Send + 'static) -> String {
    serve_with(move |path| {
        let (status, body) = answer(path);
        let length = body.len();
        (format!("{status} X\r\nContent-Length: {length}"), body)
    })
}

/// The same, but the answer has its own status line and headers.
pub fn serve_with(answer: impl Fn(&str) -> (String, Vec<u8>) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut lines = stream.by_ref().lines().map_while(Result::ok);
            let first = lines.next().unwrap_or_default();
            lines.take_while(|it| !it.is_empty()).for_each(drop);
            let path = first.split(' ').nth(1).unwrap_or_default();
            let (head, body) = answer(path);
            let head = format!("HTTP/1.1 {head}\r\nConnection: close\r\n\r\n");
            // A client that has seen enough ends the connection.
            let stream = stream.get_mut();
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(&body);
        }
    });
    host
}
