//! A server of the Model Context Protocol, in a process of its own, and one client for all: rmcp's.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use beside_contestant::TOOL;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::RunningService;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;
use tokio::runtime::Runtime;

use crate::place::{Place, TOKEN, expected, params};
use crate::processor::of_process;
use crate::rounds::Sample;

/// The most actions that are pending at one time, as with the library.
const STACK: u32 = 20;

/// Longer than any of them takes to end.
const ENDS_WITHIN: Duration = Duration::from_secs(20);

/// A process that serves.
pub struct Server {
    child: Child,
    id: u32,
    /// Where it listens, over HTTP.
    url: Option<String>,
}

/// A client's conversation with a server.
pub struct Client {
    runtime: Arc<Runtime>,
    service: RunningService<RoleClient, ()>,
    server: u32,
}

/// The server that rmcp makes.
pub fn rmcp(place: &Place) -> Command {
    let mut command = place.command(place.program("beside-rmcp-server"));
    command.arg(place.workspace());
    command
}

/// The server in Python.
pub fn python(place: &Place) -> Command {
    let mut command = place.command(&place.python);
    command.arg(place.python_server()).arg(place.workspace());
    command
}

/// `airlock serve`, over standard input and output.
pub fn airlock(place: &Place) -> Command {
    let mut command = place.command(&place.airlock);
    command.arg("serve").arg(&place.component);
    command.arg("--workspace").arg(place.workspace());
    command.arg("--config").arg(place.inside("config.toml"));
    command.arg("--store").arg(place.inside("pending.db"));
    command
}

/// Starts a server that speaks over standard input and output, and its conversation.
pub fn start(
    runtime: &Arc<Runtime>,
    place: &Place,
    mut command: Command,
) -> anyhow::Result<(Server, Client)> {
    let _inside = runtime.enter();
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(place.complaints()?);
    let mut command = tokio::process::Command::from(command);
    let mut child = command
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("starting {command:?}"))?;
    let asks = child.stdin.take().context("it is piped")?;
    let answers = child.stdout.take().context("it is piped")?;
    let id = child.id().context("it has just been started")?;
    let service = runtime
        .block_on(().serve((answers, asks)))
        .with_context(|| format!("a first word with {command:?}"))?;
    let client = Client {
        runtime: Arc::clone(runtime),
        service,
        server: id,
    };
    let url = None;
    Ok((Server { child, id, url }, client))
}

/// Starts `airlock serve --http`.
pub fn start_http(runtime: &Runtime, place: &Place) -> anyhow::Result<Server> {
    let _inside = runtime.enter();
    let mut command = airlock(place);
    command.args(["--http", "127.0.0.1:0", "--token-file"]);
    command.arg(place.tokens());
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    let mut command = tokio::process::Command::from(command);
    let mut child = command.kill_on_drop(true).spawn()?;
    let id = child.id().context("it has just been started")?;
    let said = child.stderr.take().context("it is piped")?;
    let mut lines = BufReader::new(said).lines();
    let url = runtime.block_on(async {
        while let Some(line) = lines.next_line().await? {
            if let Some(url) = line.strip_prefix("listening on ") {
                return Ok(url.to_owned());
            }
        }
        anyhow::bail!("the server doesn't listen")
    })?;
    // So that it never waits for somebody to read what it says.
    runtime.spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    let url = Some(url);
    Ok(Server { child, id, url })
}

impl Server {
    /// The process.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// A conversation over HTTP.
    pub fn connect(&self, runtime: &Arc<Runtime>) -> anyhow::Result<Client> {
        let _inside = runtime.enter();
        let url = self.url.clone().context("it doesn't listen")?;
        let config = StreamableHttpClientTransportConfig::with_uri(url).auth_header(TOKEN);
        let transport = StreamableHttpClientTransport::from_config(config);
        let service = runtime.block_on(().serve(transport))?;
        Ok(Client {
            runtime: Arc::clone(runtime),
            service,
            server: self.id,
        })
    }

    /// Ends the conversation, and waits until the process has ended too.
    pub fn stop(mut self, client: Client) -> anyhow::Result<()> {
        let Client {
            runtime, service, ..
        } = client;
        runtime.block_on(async {
            service.cancel().await?;
            let ended = tokio::time::timeout(ENDS_WITHIN, self.child.wait()).await;
            let status = ended.context("it didn't end")??;
            ensure!(status.success(), "it ended with {status}");
            Ok(())
        })
    }
}

impl Client {
    /// Calls the tool, and sees that it says what it should.
    pub fn check(&self) -> anyhow::Result<()> {
        let result = self.call(TOOL, &params())?;
        let mut texts = result.content.iter().filter_map(|it| it.as_text());
        let says = texts.any(|it| it.text.contains(expected().trim_end()));
        ensure!(says, "it said {result:?}");
        match pending(&result) {
            Some(id) => self.discard(&id),
            None => Ok(()),
        }
    }

    /// Calls the tool so many times, with params for which it pushes nothing.
    pub fn calls(&self, params: &Value, count: u32) -> anyhow::Result<Sample> {
        self.timed(|| (0..count).try_for_each(|_| self.call(TOOL, params).map(drop)))
    }

    /// Calls the tool so many times; what it pushes is discarded in between, and that not counted.
    pub fn previews(&self, count: u32) -> anyhow::Result<Sample> {
        let (mut sum, params) = (Sample::default(), params());
        for done in (0..count).step_by(STACK as usize) {
            let mut pushed = Vec::new();
            let took = self.timed(|| {
                (0..(count - done).min(STACK)).try_for_each(|_| {
                    pushed.extend(pending(&self.call(TOOL, &params)?));
                    Ok(())
                })
            })?;
            sum.clock += took.clock;
            sum.processor += took.processor;
            pushed.iter().try_for_each(|id| self.discard(id))?;
        }
        Ok(sum)
    }

    /// Calls the tool, and discards what it pushed, so many times.
    pub fn previews_and_discards(&self, count: u32) -> anyhow::Result<Sample> {
        let params = params();
        let both = || {
            let id = pending(&self.call(TOOL, &params)?).context("nothing is pending")?;
            self.discard(&id)
        };
        self.timed(|| (0..count).try_for_each(|_| both()))
    }

    fn timed(&self, work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<Sample> {
        let (clock, processor) = (Instant::now(), of_process(self.server)?);
        work()?;
        Ok(Sample {
            clock: clock.elapsed().as_secs_f64(),
            processor: of_process(self.server)? - processor,
        })
    }

    fn discard(&self, id: &str) -> anyhow::Result<()> {
        let params = json!({"action": "discard", "reason": "a benchmark says so", "id": id});
        self.call("resolve", &params).map(drop)
    }

    fn call(&self, tool: &'static str, arguments: &Value) -> anyhow::Result<CallToolResult> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let call = CallToolRequestParams::new(tool).with_arguments(arguments);
        let result = self.runtime.block_on(self.service.call_tool(call))?;
        ensure!(result.is_error != Some(true), "{tool}: {result:?}");
        Ok(result)
    }
}

/// The id of what a call of Airlock's left pending.
fn pending(result: &CallToolResult) -> Option<String> {
    let pending = result.meta.as_ref()?.0.get("airlock/pending")?;
    Some(pending.get(0)?.get("id")?.as_str()?.to_owned())
}
