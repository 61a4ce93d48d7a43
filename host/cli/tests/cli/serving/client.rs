//! A client of `airlock serve` that can say whatever it likes.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use crate::airlock::{Store, command};

/// How long anything may take: it is bound by nothing but the machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// What a client does, however its messages travel.
pub trait Calls {
    /// What comes back of a request; in between may be notifications.
    fn request(&mut self, method: &str, params: Value) -> Value;

    /// The result of a tool.
    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let said = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(said.get("error").is_none(), "{said}");
        said["result"].clone()
    }

    #[track_caller]
    fn preview(&mut self) -> Value {
        let params = json!({"files": ["*.jpeg"], "find": "jpeg$", "replace": "jpg"});
        self.call("batch_rename_preview", params)
    }
}

/// The server, and what it writes.
pub struct Server {
    pub child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// Locked for each line that is read: whoever holds it keeps the client from reading.
    pub ears: Arc<Mutex<()>>,
    writing: Option<JoinHandle<ChildStdin>>,
    /// The lines of standard error.
    pub said: Receiver<String>,
    last: u64,
    /// What is in each request beside its params, in the newest era of the protocol.
    meta: Option<Value>,
}

impl Server {
    /// Started in this folder, with these arguments.
    pub fn start(store: &Store, folder: &Path, args: &[&str]) -> Self {
        let mut command: Command = command(folder);
        let mut child = command
            .arg("serve")
            .args(args)
            .env("AIRLOCK_STORE", store.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        let ears = Arc::<Mutex<()>>::default();
        let listening = Arc::clone(&ears);
        thread::spawn(move || {
            for line in stdout.lines() {
                drop(listening.lock().unwrap());
                let line = line.unwrap();
                let message = serde_json::from_str(&line).expect("each line is a message");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (sender, said) = channel();
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                eprintln!("{line}");
                let _ = sender.send(line);
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
            ears,
            writing: None,
            said,
            last: 0,
            meta: None,
        }
    }

    /// The same, after `initialize` in this version, by a client that can do this.
    pub fn initialized(
        store: &Store,
        folder: &Path,
        args: &[&str],
        version: &str,
        capabilities: Value,
    ) -> (Self, Value) {
        let mut server = Self::start(store, folder, args);
        let said = server.request(
            "initialize",
            json!({
                "protocolVersion": version,
                "capabilities": capabilities,
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        (server, said["result"].clone())
    }

    /// The same without, as of 2026-07-28.
    pub fn stateless(store: &Store, folder: &Path, args: &[&str], capabilities: Value) -> Self {
        let mut server = Self::start(store, folder, args);
        server.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }));
        server
    }

    pub fn send(&mut self, message: &Value) {
        self.write(&format!("{message}\n"));
    }

    pub fn write(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("it is open");
        stdin.write_all(line.as_bytes()).unwrap();
    }

    /// Has another thread write these lines, as fast as the server takes them and until it ends.
    /// Gives how many it has taken.
    pub fn write_all(&mut self, lines: Vec<String>) -> Arc<AtomicUsize> {
        let mut stdin = self.stdin.take().expect("it is open");
        let taken = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&taken);
        self.writing = Some(thread::spawn(move || {
            for line in lines {
                if stdin.write_all(line.as_bytes()).is_err() {
                    break;
                }
                counted.fetch_add(1, Ordering::Relaxed);
            }
            stdin
        }));
        taken
    }

    /// Waits until all of them are written.
    pub fn written(&mut self) {
        let writing = self.writing.take().expect("something is being written");
        self.stdin = Some(writing.join().unwrap());
    }

    #[track_caller]
    pub fn next(&self) -> Value {
        let next = self.lines.recv_timeout(DEADLINE);
        next.expect("the server says something")
    }

    pub fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    #[track_caller]
    pub fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            assert!(message.get("id").is_none(), "{message}");
        }
    }

    #[track_caller]
    pub fn resolve(&mut self, decision: &str) -> Value {
        self.call("resolve", json!({"action": decision, "reason": "as asked"}))
    }

    /// Has the model want the topmost action applied, and a person asked: the call, and what asks.
    #[track_caller]
    pub fn begin_asking(&mut self) -> (u64, Value) {
        let arguments = json!({"action": "apply", "reason": "the model's"});
        let call = json!({"name": "resolve", "arguments": arguments});
        let id = self.begin("tools/call", call);
        let asked = self.next();
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        (id, asked)
    }

    /// Says no more.
    pub fn close(&mut self) {
        drop(self.stdin.take());
    }

    /// Ends the connection; gives the exit code.
    pub fn end(mut self) -> i32 {
        self.close();
        self.child
            .wait()
            .unwrap()
            .code()
            .expect("it ends by itself")
    }
}

impl Calls for Server {
    #[track_caller]
    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request without params, as it is written.
pub fn line(id: u64, method: &str) -> String {
    let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}});
    format!("{request}\n")
}

/// The code and the message of an answer that is an error.
#[track_caller]
pub fn error(said: &Value) -> (i64, String) {
    let error = &said["error"];
    let code = error["code"].as_i64();
    let code = code.unwrap_or_else(|| panic!("no error: {said}"));
    (code, error["message"].as_str().unwrap().to_owned())
}

/// The text of all blocks.
pub fn text(result: &Value) -> String {
    texts(result, |_| true)
}

/// The text of the tool's blocks.
pub fn words(result: &Value) -> String {
    texts(result, |block| block.get("_meta").is_none())
}

fn texts(result: &Value, is_meant: impl Fn(&&Value) -> bool) -> String {
    let content = result["content"].as_array().expect("it has content");
    let meant = content.iter().filter(is_meant);
    let texts = meant.filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

pub fn asks() -> Value {
    json!({"elicitation": {}})
}
