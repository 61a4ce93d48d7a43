//! A person decides on a local web page about what a model wants to apply.
//!
//! ```text
//! cargo run --release --example web_approver -- host/cli/bundled/batch_rename.wasm photos \
//!   batch_rename_preview '{"files": ["*.jpeg"], "find": "jpeg$", "replace": "jpg"}'
//! ```
//!
//! This plays the model's part: it calls the tool and wants to apply the result. Then it serves the
//! page until it is stopped.

mod page;

use std::path::Path;
use std::sync::Arc;

use airlock_host::approval::{Approval, ApprovalRequest, Approver};
use airlock_host::policy::ProducerWithPolicy;
use airlock_host::{Engine, Error, Plugin, Session, compile};
use async_trait::async_trait;
use page::Page;
use serde_json::{Value, json};

/// Leaves each decision to the person. The model doesn't learn the page's address, so that it can't
/// decide by its own tools.
struct AsksOnThePage;

#[async_trait]
impl Approver for AsksOnThePage {
    async fn approve(&self, _: &ApprovalRequest<'_>) -> Approval {
        let how = "The user decides on the page that this program serves.".to_owned();
        Approval::NeedsPerson { how }
    }
}

fn main() -> anyhow::Result<()> {
    // This program is also the one that compiles plugins, in a process with limits.
    compile::compiler_main();
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [component, workspace, tool, params] = &args[..] else {
        anyhow::bail!("usage: web_approver COMPONENT WORKSPACE TOOL PARAMS");
    };
    let engine = Engine::builder()
        .compiler(std::env::current_exe()?)
        .user_cache("airlock-web-approver")
        .build()?;
    let plugin = Plugin::load(&engine, component).await?;
    let session = open(Path::new(workspace), &plugin)?;
    session
        .call(tool, &serde_json::from_str::<Value>(params)?)
        .await?;
    println!("The model hears: {}", wish(&session).await);
    let page = Arc::new(Page::open(session).await?);
    println!("Decide at {}", page.url());
    Ok(page.serve().await?)
}

fn open(workspace: &Path, tools: impl Into<ProducerWithPolicy>) -> Result<Session, Error> {
    let session = Session::builder().approver(AsksOnThePage);
    session.workspace(workspace).bind(tools).open()
}

/// Does what a model does that wants to apply, and gives what it hears.
async fn wish(session: &Session) -> String {
    let params = json!({"action": "apply", "reason": "it is what was asked for"});
    match session.call("resolve", &params).await {
        Ok(outcome) => outcome.text(),
        Err(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use airlock_host::content::ToolResult;
    use airlock_host::json::Json;
    use airlock_host::native::folder::WritableFolder;
    use airlock_host::native::{
        ApplyCall, DecidedAction, NativeProducer, NativeTool, Preview, PreviewCall, ProposedAction,
    };
    use airlock_host::tool::{ToolDefinition, ToolTraits};
    use tempfile::TempDir;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    const PLUGIN: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../host/cli/bundled/batch_rename.wasm"
    );

    /// Writes a note, with the text that it has at that time.
    struct TakeNote(Arc<Mutex<&'static str>>);

    impl TakeNote {
        fn write(&self, folder: &WritableFolder) -> Result<(), Error> {
            let text = self.0.lock().unwrap().as_bytes();
            let written = folder.write(Path::new("note"), text);
            written.map_err(|error| Error::Tool {
                message: error.to_string(),
            })
        }
    }

    impl NativeTool for TakeNote {
        fn definition(&self) -> ToolDefinition {
            ToolDefinition {
                name: "take_note".to_owned(),
                label: "Take a note".to_owned(),
                description: "Takes a note.".to_owned(),
                parameters: Json::of_own(&json!({"type": "object"})),
                output: None,
                traits: ToolTraits::default(),
            }
        }

        fn state_version(&self) -> u32 {
            1
        }

        fn preview(&self, _: &Value, call: &PreviewCall) -> Result<Preview, Error> {
            self.write(&call.draft()?)?;
            let action = ProposedAction::new("Write <i>a \"note\"</i>", "");
            Ok(Preview::of(ToolResult::text("drafted")).proposing(action))
        }

        fn apply(&self, _: &DecidedAction, call: &ApplyCall) -> Result<ToolResult, Error> {
            self.write(&call.folder()?)?;
            Ok(ToolResult::text("written"))
        }
    }

    /// A page that is served, with a note that waits.
    struct Served {
        folder: TempDir,
        text: Arc<Mutex<&'static str>>,
        page: Arc<Page>,
    }

    async fn served() -> Served {
        let folder = tempfile::tempdir().unwrap();
        let text = Arc::new(Mutex::new("<b>one</b>\n"));
        let tool = NativeProducer::new(TakeNote(Arc::clone(&text))).unwrap();
        let session = open(folder.path(), &tool).unwrap();
        session.call("take_note", &json!({})).await.unwrap();
        let heard = wish(&session).await;
        assert!(heard.contains("The user decides on the page"), "{heard}");
        let page = Arc::new(Page::open(session).await.unwrap());
        tokio::spawn(Arc::clone(&page).serve());
        Served { folder, text, page }
    }

    impl Served {
        fn note(&self) -> Option<String> {
            std::fs::read_to_string(self.folder.path().join("note")).ok()
        }
    }

    /// The address of a page in its parts: host, and path with the token.
    fn parts(page: &Page) -> (String, String) {
        let url = page.url();
        let (host, token) = url["http://".len()..].split_once('/').unwrap();
        (host.to_owned(), format!("/{token}"))
    }

    /// Sends a request as it is, and gives the status and the rest of the answer.
    async fn send(page: &Page, head: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(parts(page).0).await.unwrap();
        let length = body.len();
        let request = format!(
            "{head}\r\nConnection: close\r\nContent-Length: {length}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        (answer["HTTP/1.1 ".len()..][..3].parse().unwrap(), answer)
    }

    async fn look(page: &Page) -> String {
        let (host, path) = parts(page);
        let head = format!("GET {path} HTTP/1.1\r\nHost: {host}");
        let (status, html) = send(page, &head, "").await;
        assert_eq!(status, 200, "{html}");
        html
    }

    /// What a browser sends at a click on a button of the first action that a page shows.
    fn form(html: &str, decision: &str) -> String {
        let value = |name: &str| {
            let (_, rest) = html
                .split_once(&format!("name=\"{name}\" value=\""))
                .unwrap();
            rest.split_once('"').unwrap().0
        };
        let (action, version) = (value("action"), value("version"));
        format!("action={action}&version={version}&decision={decision}")
    }

    async fn click(page: &Page, html: &str, decision: &str) -> (u16, String) {
        let (host, path) = parts(page);
        let head = format!("POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}");
        send(page, &head, &form(html, decision)).await
    }

    #[tokio::test]
    async fn a_click_applies_what_the_page_shows_or_discards_it() {
        for (decision, note) in [("apply", Some("<b>one</b>\n")), ("discard", None)] {
            let served = served().await;
            let html = look(&served.page).await;
            assert!(
                html.contains("Write &lt;i&gt;a &quot;note&quot;&lt;/i&gt;"),
                "{html}"
            );
            assert!(html.contains("\n+&lt;b&gt;one&lt;/b&gt;\n"), "{html}");
            assert!(!html.contains("<b>") && !html.contains("<i>"), "{html}");
            assert_eq!(served.note(), None);
            let (status, answer) = click(&served.page, &html, decision).await;
            assert_eq!(status, 200, "{answer}");
            assert!(answer.contains("Nothing is pending."), "{answer}");
            assert_eq!(served.note().as_deref(), note, "{decision}");
            // A second click finds nothing.
            let (status, answer) = click(&served.page, &html, decision).await;
            assert_eq!(status, 409, "{answer}");
        }
    }

    #[tokio::test]
    async fn nothing_is_applied_but_what_the_page_showed() {
        let served = served().await;
        let before = look(&served.page).await;
        *served.text.lock().unwrap() = "two\n";
        // The apply turns out to differ; from then on the page shows that.
        for _ in 0..2 {
            let (status, answer) = click(&served.page, &before, "apply").await;
            assert_eq!(status, 409, "{answer}");
            assert!(answer.contains("\n+two\n"), "{answer}");
            assert_eq!(served.note(), None);
        }
        let now = look(&served.page).await;
        let (status, answer) = click(&served.page, &now, "apply").await;
        assert_eq!(status, 200, "{answer}");
        assert_eq!(served.note().as_deref(), Some("two\n"));
    }

    #[tokio::test]
    async fn a_request_needs_the_token_the_host_and_the_origin() {
        let served = served().await;
        let form = form(&look(&served.page).await, "apply");
        let (host, path) = parts(&served.page);
        let own = format!("http://{host}");
        for (method, path, host, origin, status) in [
            ("GET", "/", &*host, None, 403),
            ("GET", &*path, "evil.example", None, 421),
            ("POST", "/", &host, Some(&*own), 403),
            (
                "POST",
                &path,
                "evil.example",
                Some("http://evil.example"),
                421,
            ),
            ("POST", &path, &host, Some("http://evil.example"), 403),
            ("POST", &path, &host, Some("null"), 403),
            ("POST", &path, &host, None, 403),
        ] {
            let origin = origin.map(|origin| format!("\r\nOrigin: {origin}"));
            let origin = origin.unwrap_or_default();
            let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}{origin}");
            let (found, answer) = send(&served.page, &head, &form).await;
            assert_eq!(found, status, "{head}: {answer}");
            assert!(!answer.contains("note"), "{answer}");
        }
        assert_eq!(served.note(), None);
    }

    #[tokio::test]
    async fn a_plugin_s_action_is_shown_and_applied_too() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a&b.jpeg"), "").unwrap();
        let engine = Engine::builder().build().unwrap();
        let plugin = Plugin::load(&engine, PLUGIN).await.unwrap();
        let session = open(folder.path(), &plugin).unwrap();
        let params = json!({"files": ["*.jpeg"], "find": "jpeg$", "replace": "jpg"});
        let call = session.call("batch_rename_preview", &params);
        call.await.unwrap();
        let page = Arc::new(Page::open(session).await.unwrap());
        tokio::spawn(Arc::clone(&page).serve());
        let html = look(&page).await;
        assert!(html.contains("a&amp;b.jpg"), "{html}");
        let (status, answer) = click(&page, &html, "apply").await;
        assert_eq!(status, 200, "{answer}");
        assert!(folder.path().join("a&b.jpg").exists());
    }
}
