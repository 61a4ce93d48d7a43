//! A web server that answers as a test says, also with lies.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// A request, as far as tests look at it.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    pub path: String,
    headers: Vec<(String, String)>,
    pub body: String,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The first byte of the range that is asked for.
    pub fn start(&self) -> usize {
        let range = self.header("range").unwrap_or("bytes=0-");
        let start = range.strip_prefix("bytes=").unwrap();
        start.trim_end_matches('-').parse().unwrap()
    }
}

/// An answer; the connection is closed after it.
#[derive(Debug, Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Bytes,
    /// How often the body is sent.
    times: usize,
    has_length: bool,
}

impl Reply {
    pub fn new(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Bytes::new(),
            times: 1,
            has_length: true,
        }
    }

    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    pub fn header(mut self, name: &str, value: impl ToString) -> Self {
        self.headers.push((name.to_owned(), value.to_string()));
        self
    }

    /// Sends the body as often as this, so that not all of it is in memory.
    pub fn times(mut self, times: usize) -> Self {
        self.times = times;
        self
    }

    /// Without `Content-Length`, the body ends with the connection.
    pub fn with_length(mut self, has_length: bool) -> Self {
        self.has_length = has_length;
        self
    }
}

/// All bytes, or the rest of them if that was asked for.
pub fn file(request: &Request, bytes: &Bytes) -> Reply {
    match request.start() {
        0 => Reply::new(200).body(bytes.clone()),
        start if start < bytes.len() => {
            let range = format!("bytes {start}-{}/{}", bytes.len() - 1, bytes.len());
            let reply = Reply::new(206).header("content-range", range);
            reply.body(bytes.slice(start..))
        }
        _ => Reply::new(416).header("content-range", format!("bytes */{}", bytes.len())),
    }
}

/// A server that ends with the test.
pub struct Server {
    pub host: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    pub async fn start(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = requests.clone();
        let answer = Arc::new(answer);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let answer = answer.clone();
                let seen = seen.clone();
                tokio::spawn(async move {
                    let mut stream = BufReader::new(stream);
                    if let Some(request) = read(&mut stream).await {
                        let reply = answer(&request);
                        seen.lock().unwrap().push(request);
                        // A client that has seen enough ends the connection.
                        let _ = write(stream.get_mut(), reply).await;
                    }
                });
            }
        });
        Self { host, requests }
    }

    /// A registry with one manifest, and other bytes at all other addresses.
    pub async fn registry(
        manifest: serde_json::Value,
        blob: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::start(move |request| {
            if request.path.contains("/manifests/") {
                Reply::new(200).body(manifest.to_string())
            } else {
                blob(request)
            }
        })
        .await
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let mut words = line.split(' ');
    let mut request = Request {
        method: words.next()?.to_owned(),
        path: words.next()?.to_owned(),
        headers: Vec::new(),
        body: String::new(),
    };
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        request
            .headers
            .push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length = request.header("content-length").unwrap_or("0");
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).await.ok()?;
    request.body = String::from_utf8_lossy(&body).into_owned();
    Some(request)
}

async fn write(stream: &mut TcpStream, reply: Reply) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {} X\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let names_length = reply
        .headers
        .iter()
        .any(|(name, _)| name == "content-length");
    if reply.has_length && !names_length {
        head.push_str(&format!(
            "content-length: {}\r\n",
            reply.body.len() * reply.times
        ));
    }
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(b"\r\n").await?;
    for _ in 0..reply.times {
        stream.write_all(&reply.body).await?;
    }
    stream.shutdown().await
}
