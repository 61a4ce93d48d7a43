//! A proxy that cuts connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Passes connections on to a server, and cuts each after a number of bytes of its answers.
pub struct Cutting {
    pub host: String,
    cuts: Arc<AtomicUsize>,
}

impl Cutting {
    pub async fn start(server: &str, bytes: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let cuts = Arc::new(AtomicUsize::new(0));
        let counted = cuts.clone();
        let server = server.to_owned();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&server).await.unwrap();
                let cuts = counted.clone();
                tokio::spawn(async move {
                    if pass(client, server, bytes).await {
                        cuts.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        Self { host, cuts }
    }

    /// How many connections were cut.
    pub fn cuts(&self) -> usize {
        self.cuts.load(Ordering::SeqCst)
    }
}

/// Whether the connection was cut.
async fn pass(client: TcpStream, server: TcpStream, mut bytes: usize) -> bool {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let requests = tokio::spawn(async move {
        let _ = tokio::io::copy(&mut from_client, &mut to_server).await;
    });
    let mut buffer = vec![0; 16 << 10];
    loop {
        let most = buffer.len().min(bytes);
        let Ok(read @ 1..) = from_server.read(&mut buffer[..most]).await else {
            return false;
        };
        if to_client.write_all(&buffer[..read]).await.is_err() {
            return false;
        }
        bytes -= read;
        if bytes == 0 {
            // Ends the connection for both.
            requests.abort();
            return true;
        }
    }
}
