//! A server over HTTP, and clients of it that can say whatever they like.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::super::client::Calls;
use crate::airlock::{Store, command};

/// How long anything may take: it is bound by nothing but the machine.
pub const DEADLINE: Duration = Duration::from_secs(90);

pub const ANN: &str = "ann-0123456789abcdef0123456789abcdef";
pub const BEN: &str = "ben-0123456789abcdef0123456789abcdef";
pub const READER: &str = "reader-0123456789abcdef0123456789abcdef";

/// The server, and what it writes to standard error.
pub struct Web {
    pub child: Child,
    pub address: SocketAddr,
    pub said: Receiver<String>,
}

impl Web {
    /// Started in this folder with these arguments, for `ann`, `ben` and `reader`.
    pub fn start(store: &Store, folder: &Path, args: &[&str]) -> Self {
        let tokens = store.path().with_file_name("tokens");
        let text = format!("ann:{ANN}\nben:{BEN}\nreader:{READER}:read-only\n");
        fs::write(&tokens, text).unwrap();
        fs::set_permissions(&tokens, Permissions::from_mode(0o600)).unwrap();
        let mut all = vec!["--token-file", tokens.to_str().unwrap()];
        all.extend(args);
        Self::start_as_told(store, folder, &all)
    }

    pub fn start_as_told(store: &Store, folder: &Path, args: &[&str]) -> Self {
        let mut child = command(folder)
            .args(["serve", "--http", "127.0.0.1:0"])
            .args(args)
            .env("AIRLOCK_STORE", store.path())
            .env("XDG_STATE_HOME", store.path().with_file_name("state"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (sender, said) = channel();
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let address = loop {
            let line: String = said.recv_timeout(DEADLINE).expect("it listens");
            if let Some(url) = line.strip_prefix("listening on http://") {
                break url.strip_suffix("/mcp").unwrap().parse().unwrap();
            }
        };
        Self {
            child,
            address,
            said,
        }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream
    }

    /// A client with this token, in the newest era of the protocol.
    pub fn client(&self, token: &str) -> Client {
        Client {
            address: self.address,
            token: token.to_owned(),
            session: None,
            conversation: None,
            capabilities: json!({}),
            last: 0,
        }
    }

    /// One that has begun a session, as before.
    pub fn session(&self, token: &str, capabilities: Value) -> Client {
        let mut client = self.client(token);
        let said = client.post(
            &[],
            &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities,
                "clientInfo": {"name": "test", "version": "1"},
            }}),
        );
        assert_eq!(said.status, 200, "{said:?}");
        client.session = Some(said.header("mcp-session-id").expect("a session"));
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(client.post(&[], &initialized).status, 202);
        client
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Asks it to end; gives the exit code.
    pub fn end(mut self) -> Option<i32> {
        self.signal(Signal::TERM);
        self.child.wait().unwrap().code()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<String> {
        let mut headers = self.head.lines().filter_map(|it| it.split_once(": "));
        let found = headers.find(|(it, _)| it.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.to_owned())
    }

    /// The messages, of a stream of events or alone.
    pub fn messages(&self) -> Vec<Value> {
        if self.header("content-type").as_deref() == Some("application/json") {
            return vec![serde_json::from_str(&self.body).unwrap()];
        }
        let data = self.body.lines().filter_map(|it| it.strip_prefix("data: "));
        let data = data.filter(|it| !it.is_empty());
        data.map(|it| serde_json::from_str(it).unwrap()).collect()
    }
}

/// Reads an answer of which the connection is closed behind.
pub fn read_answer(mut stream: impl Read) -> Answer {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    Answer {
        status: status.unwrap_or(0),
        head: head.replace('\r', ""),
        body: body.to_owned(),
    }
}

/// The head of a request, to which a body of this length belongs. As HTTP/1.0 has it, the answer is
/// not in chunks, and ends with the connection.
pub fn head(method: &str, token: &str, length: usize, more: &[(&str, &str)]) -> String {
    let mut head = format!(
        "{method} /mcp HTTP/1.0\r\nAuthorization: Bearer {token}\r\nContent-Length: {length}\r\n"
    );
    let has = |name: &str| more.iter().any(|(it, _)| it.eq_ignore_ascii_case(name));
    for (name, value) in [
        ("Host", "127.0.0.1"),
        ("Accept", "application/json, text/event-stream"),
        ("Content-Type", "application/json"),
    ] {
        if !has(name) {
            head += &format!("{name}: {value}\r\n");
        }
    }
    for (name, value) in more {
        head += &format!("{name}: {value}\r\n");
    }
    head + "\r\n"
}

/// A client, that opens a connection for each request.
#[derive(Clone)]
pub struct Client {
    pub address: SocketAddr,
    pub token: String,
    /// The transport's, of an older era.
    pub session: Option<String>,
    /// In the newest era, which conversation is meant.
    pub conversation: Option<String>,
    pub capabilities: Value,
    last: u64,
}

impl Client {
    /// Sends a message, and gives the connection on which its answer comes.
    pub fn send(&self, more: &[(&str, &str)], message: &Value) -> TcpStream {
        let body = message.to_string();
        let mut more = more.to_vec();
        if let Some(session) = &self.session {
            more.push(("Mcp-Session-Id", session));
        }
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let head = head("POST", &self.token, body.len(), &more);
        stream.write_all((head + &body).as_bytes()).unwrap();
        stream
    }

    pub fn post(&self, more: &[(&str, &str)], message: &Value) -> Answer {
        read_answer(self.send(more, message))
    }

    /// Sends a request of the protocol.
    pub fn begin(&mut self, method: &str, mut params: Value) -> TcpStream {
        self.last += 1;
        let named = [&params["name"], &params["taskId"]];
        let name = named.into_iter().find_map(Value::as_str);
        let name = name.unwrap_or_default().to_owned();
        let mut more = Vec::new();
        if self.session.is_none() {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
            if let Some(conversation) = &self.conversation {
                meta["airlock/session"] = conversation.as_str().into();
            }
            more.extend([
                ("MCP-Protocol-Version", "2026-07-28"),
                ("Mcp-Method", method),
            ]);
            if !name.is_empty() {
                more.push(("Mcp-Name", &name));
            }
        }
        let id = self.last;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&more, &message)
    }

    /// The id of the action that a preview makes.
    #[track_caller]
    pub fn previewed_id(&mut self) -> String {
        let previewed = self.preview();
        let id = &previewed["_meta"]["airlock/pending"][0]["id"];
        id.as_str().expect("something is pending").to_owned()
    }

    #[track_caller]
    pub fn resolve(&mut self, decision: &str, id: Option<&str>) -> Value {
        let mut arguments = json!({"action": decision, "reason": "as asked"});
        if let Some(id) = id {
            arguments["id"] = id.into();
        }
        self.call("resolve", arguments)
    }

    /// The names of the tools that it is shown.
    pub fn tools(&mut self) -> Vec<String> {
        let listed = self.request("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().iter();
        tools
            .map(|it| it["name"].as_str().unwrap().to_owned())
            .collect()
    }
}

impl Calls for Client {
    /// The last message that comes of it.
    #[track_caller]
    fn request(&mut self, method: &str, params: Value) -> Value {
        let answer = read_answer(self.begin(method, params));
        let messages = answer.messages();
        assert!(!messages.is_empty(), "{answer:?}");
        messages.last().unwrap().clone()
    }
}
