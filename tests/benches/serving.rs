//! `airlock serve --http` under load: one client beside a thousand that call tools at once.
//!
//! `cargo bench --bench serving` prints a table; `-- --quick` measures for 5 seconds in place of
//! 60. Each client has a session of its own and one connection, over which it sends its next
//! request when the last was answered. The bench and the server share the machine's cores.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// What a client does again and again.
#[derive(Clone, Copy)]
enum Round {
    /// A preview that finds nothing, and so pushes nothing.
    Call,
    /// A preview of a rename, and its discard: the store makes both durable.
    PreviewAndDiscard,
}

fn main() -> anyhow::Result<()> {
    let is_quick = std::env::args().any(|it| it == "--quick");
    let time = Duration::from_secs(if is_quick { 5 } else { 60 });
    println!(
        "| clients | each | requests a second | median | 99% within | longest | lost | server's memory at most |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for round in [Round::Call, Round::PreviewAndDiscard] {
        for clients in [1, 1000] {
            Runtime::new()?.block_on(measure(clients, round, time))?;
        }
    }
    Ok(())
}

async fn measure(count: usize, round: Round, time: Duration) -> anyhow::Result<()> {
    // A server each, since what one has taken of memory would be another's.
    let server = Server::start()?;
    let mut clients = Vec::with_capacity(count);
    for _ in 0..count {
        clients.push(Client::connect(server.address).await?);
    }
    let until = Instant::now() + time;
    let mut working = JoinSet::new();
    for client in clients {
        working.spawn(client.work(round, until));
    }
    let (mut taken, mut lost) = (Vec::new(), 0);
    for (of_one, result) in working.join_all().await {
        taken.extend(of_one);
        if let Err(error) = result {
            lost += 1;
            eprintln!("lost: {error:#}");
        }
    }
    ensure!(!taken.is_empty(), "nothing was answered");
    taken.sort();
    let at = |share: f64| {
        let index = ((taken.len() - 1) as f64 * share) as usize;
        format!("{:.1} ms", taken[index].as_secs_f64() * 1e3)
    };
    let what = match round {
        Round::Call => "a preview of nothing",
        Round::PreviewAndDiscard => "a preview, and its discard",
    };
    println!(
        "| {count} | {what} | {:.0} | {} | {} | {} | {lost} | {} MiB |",
        taken.len() as f64 / time.as_secs_f64(),
        at(0.5),
        at(0.99),
        at(1.0),
        server.most_memory()? >> 10
    );
    Ok(())
}

struct Server {
    child: Child,
    address: SocketAddr,
    _folder: TempDir,
}

impl Server {
    fn start() -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        let inside = |name: &str| folder.path().join(name);
        let workspace = inside("workspace");
        fs::create_dir(&workspace)?;
        fs::write(workspace.join("a.jpeg"), "a")?;
        fs::write(inside("tokens"), format!("bench:{TOKEN}\n"))?;
        fs::set_permissions(inside("tokens"), Permissions::from_mode(0o600))?;
        // More than the clients can send: they are not to be told to come back later.
        fs::write(
            inside("config.toml"),
            "http.requests-per-second = 1000000\n",
        )?;
        let program = Command::new(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/toolchain/build-program"
        ));
        let program = { program }.stderr(Stdio::inherit()).output()?;
        let program = String::from_utf8(program.stdout)?;
        let mut child = Command::new(program.trim())
            .args(["serve", "--http", "127.0.0.1:0", "--workspace"])
            .arg(&workspace)
            .arg("--token-file")
            .arg(inside("tokens"))
            .arg("--config")
            .arg(inside("config.toml"))
            .arg("--store")
            .arg(inside("pending.db"))
            .arg("batch-rename")
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let stderr = child.stderr.take().context("it is piped")?;
        for line in BufReader::new(stderr).lines() {
            let line = line?;
            if let Some(url) = line.strip_prefix("listening on http://") {
                let address = url.trim_end_matches("/mcp").parse()?;
                return Ok(Self {
                    child,
                    address,
                    _folder: folder,
                });
            }
            eprintln!("{line}");
        }
        bail!("the server doesn't listen")
    }

    /// In KiB.
    fn most_memory(&self) -> anyhow::Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let most = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
        let most = most.context("Linux tells it")?.trim();
        Ok(most.trim_end_matches(" kB").parse()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Client {
    connection: SendRequest<Full<Bytes>>,
    session: Option<String>,
    last: u64,
}

impl Client {
    async fn connect(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (connection, driving) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(driving);
        let mut client = Self {
            connection,
            session: None,
            last: 0,
        };
        let initialize = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        });
        client.request("initialize", initialize).await?;
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        client.post(&initialized).await?;
        Ok(client)
    }

    /// Gives how long each request took, and why it stopped early, if it did.
    async fn work(mut self, round: Round, until: Instant) -> (Vec<Duration>, anyhow::Result<()>) {
        let mut taken = Vec::new();
        while Instant::now() < until {
            if let Err(error) = self.round(round, &mut taken).await {
                return (taken, Err(error));
            }
        }
        (taken, Ok(()))
    }

    async fn round(&mut self, round: Round, taken: &mut Vec<Duration>) -> anyhow::Result<()> {
        match round {
            Round::Call => {
                let params = json!({"files": ["*.jpeg"], "find": "nothing", "replace": "jpg"});
                self.call("batch_rename_preview", params, taken).await?;
            }
            Round::PreviewAndDiscard => {
                let params = json!({"files": ["*.jpeg"], "find": "jpeg$", "replace": "jpg"});
                let previewed = self.call("batch_rename_preview", params, taken).await?;
                let id = &previewed["_meta"]["airlock/pending"][0]["id"];
                let params = json!({"action": "discard", "reason": "a bench's", "id": id});
                self.call("resolve", params, taken).await?;
            }
        }
        Ok(())
    }

    async fn call(
        &mut self,
        tool: &str,
        arguments: Value,
        taken: &mut Vec<Duration>,
    ) -> anyhow::Result<Value> {
        let began = Instant::now();
        let params = json!({"name": tool, "arguments": arguments});
        let result = self.request("tools/call", params).await?;
        ensure!(result["isError"] == false, "{result}");
        taken.push(began.elapsed());
        Ok(result)
    }

    async fn request(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        self.last += 1;
        let id = self.last;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let text = self.post(&message).await?;
        let data = text.lines().filter_map(|it| it.strip_prefix("data: "));
        for message in data.filter(|it| !it.is_empty()) {
            let mut message: Value = serde_json::from_str(message)?;
            if message["id"] == id {
                ensure!(message.get("error").is_none(), "{message}");
                return Ok(message["result"].take());
            }
        }
        bail!("no answer in {text:?}")
    }

    async fn post(&mut self, message: &Value) -> anyhow::Result<String> {
        let mut request = Request::post("/mcp")
            .header("Host", "127.0.0.1")
            .header("Authorization", format!("Bearer {TOKEN}"))
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
        if let Some(session) = &self.session {
            request = request.header("Mcp-Session-Id", session);
        }
        let request = request.body(Full::new(message.to_string().into()))?;
        self.connection.ready().await?;
        let answer = self.connection.send_request(request).await?;
        let (head, body) = answer.into_parts();
        let body = body.collect().await?.to_bytes();
        let body = String::from_utf8_lossy(&body).into_owned();
        ensure!(head.status.is_success(), "{}: {body}", head.status);
        if let Some(session) = head.headers.get("Mcp-Session-Id") {
            self.session = Some(session.to_str()?.to_owned());
        }
        Ok(body)
    }
}
