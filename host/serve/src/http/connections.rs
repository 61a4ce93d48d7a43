//! Accepts a limited number of connections and closes idle ones. Clients without a token make room
//! for others.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use airlock_host::cancel::CancellationToken;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;

use super::gate::Gate;
use super::visitors::{Visitor, Visitors};

/// The time that a connection may take to send the headers of its next request, idle time included.
const HEADERS_WITHIN: Duration = Duration::from_secs(30);

/// The time that a client may stop reading before its connection is closed.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);

/// The most headers of a request, and the most bytes of all of them together.
const MAX_HEADERS: usize = 100;
const MAX_HEADER_BYTES: usize = 32 << 10;

/// The time to wait for connections at the end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// The pause after a failed accept, which mostly means that no file descriptors are left.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// Serves all connections until `stop` is cancelled.
pub async fn accept(listener: TcpListener, most: usize, gate: Arc<Gate>, stop: CancellationToken) {
    let room = Arc::new(Semaphore::new(most));
    let visitors = Arc::new(Visitors::new(most, gate.principals()));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                if room.available_permits() == 0 {
                    visitors.make_room();
                }
                let permit = tokio::select! {
                    () = stop.cancelled() => break,
                    permit = Arc::clone(&room).acquire_owned() => permit,
                };
                let visitor = visitors.enter();
                let visitors = Arc::clone(&visitors);
                let (gate, stop) = (Arc::clone(&gate), stop.clone());
                connections.spawn(async move {
                    serve(stream, peer, Arc::clone(&visitor), gate, stop).await;
                    visitors.remove(&visitor);
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!("no connection could be accepted: {error}");
                sleep(AFTER_FAILURE).await;
            }
        }
    }
    let ending = async { while connections.join_next().await.is_some() {} };
    let _ = timeout(CLOSE_TIMEOUT, ending).await;
}

async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    visitor: Arc<Visitor>,
    gate: Arc<Gate>,
    stop: CancellationToken,
) {
    // Messages are small, and the client waits for them.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(TAKEN_WITHIN));
    let _open = gate.metrics().connected();
    let known = Arc::clone(&visitor);
    let service = service_fn(move |request| {
        let (gate, visitor) = (Arc::clone(&gate), Arc::clone(&known));
        async move { Ok::<_, Infallible>(gate.handle(request, &visitor).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEADER_BYTES);
    let connection = http.serve_connection(TokioIo::new(Box::pin(stream)), service);
    let mut connection = std::pin::pin!(connection);
    let served = tokio::select! {
        served = connection.as_mut() => served,
        () = visitor.asked_to_leave() => {
            tracing::debug!(%peer, "a connection without a token made room for another");
            return;
        }
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(%peer, "a connection ended: {error}");
    }
}
