//! The checks of each request before its body is read.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use airlock_host::cancel::CancellationToken;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ALLOW, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, RETRY_AFTER,
    WWW_AUTHENTICATE,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::bodies::{self, Answer, Bodies, not_a_message, not_read, text};
use super::conversations::Conversations;
use super::tokens::{Access, Principal, Tokens};
use super::visit::Visit;
use super::visitors::Visitor;
use super::{HEALTH, HttpSettings, IDLE, METRICS, PATH, accept, batch, resuming};
use crate::handler::{Handler, Transport};
use crate::metrics::{self, Metrics};

/// The time that a principal with too many connections is asked to wait.
const RETRY: Duration = Duration::from_secs(1);

pub(super) const SESSION: &str = "mcp-session-id";

/// The gate for requests: checks their token, rate and origin.
pub struct Gate {
    tokens: Tokens,
    clock: DefaultClock,
    of_principals: HashMap<String, OfPrincipal>,
    max_conversations: usize,
    conversations: Arc<Conversations>,
    metrics: Metrics,
}

/// The limits and sessions of one principal. Sessions of the transport belong to one principal:
/// they are unknown to others.
struct OfPrincipal {
    rate: DefaultDirectRateLimiter,
    bodies: Bodies,
    sessions: Arc<LocalSessionManager>,
    service: StreamableHttpService<Handler, LocalSessionManager>,
}

impl Gate {
    pub fn new(
        tokens: Tokens,
        settings: &HttpSettings,
        listens_on: SocketAddr,
        conversations: &Arc<Conversations>,
        metrics: Metrics,
        stop: &CancellationToken,
    ) -> Self {
        let transport = transport(settings, listens_on, stop);
        let of_principals = tokens.principals().map(|principal| {
            let one = OfPrincipal::new(principal, settings, &transport, conversations);
            (principal.name.clone(), one)
        });
        Self {
            of_principals: of_principals.collect(),
            tokens,
            clock: DefaultClock::default(),
            max_conversations: settings.max_conversations,
            conversations: Arc::clone(conversations),
            metrics,
        }
    }

    /// Returns the number of principals.
    pub fn principals(&self) -> usize {
        self.of_principals.len()
    }

    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Answers a request. If a check of its headers fails, its body is never read.
    pub async fn handle(&self, request: Request<Incoming>, visitor: &Visitor) -> Answer {
        if request.uri().path() == HEALTH && request.method() == Method::GET {
            return text(StatusCode::OK, "ok");
        }
        if request.uri().path() == METRICS {
            let (Ok(answer) | Err(answer)) = self.numbers(&request);
            // Successful scrapes arrive every few seconds and are not worth logging.
            if !answer.status().is_success() {
                let status = answer.status().as_u16();
                tracing::info!(status, "{} {METRICS}", request.method());
            }
            return answer;
        }
        let (began, method) = (Instant::now(), request.method().clone());
        let mut principal = None;
        let (Ok(answer) | Err(answer)) = self.admit(request, &mut principal, visitor).await;
        self.metrics.answered(&method, answer.status());
        tracing::info!(
            principal = principal.as_deref(),
            status = answer.status().as_u16(),
            milliseconds = began.elapsed().as_millis() as u64,
            "{method} {PATH}"
        );
        answer
    }

    async fn admit(
        &self,
        mut request: Request<Incoming>,
        named: &mut Option<String>,
        visitor: &Visitor,
    ) -> Result<Answer, Answer> {
        if request.uri().path() != PATH {
            return Err(text(
                StatusCode::NOT_FOUND,
                format!("nothing is here: MCP is spoken at {PATH}"),
            ));
        }
        let methods = [Method::POST, Method::GET, Method::DELETE];
        if !methods.contains(request.method()) {
            return Err(not_allowed("POST, GET or DELETE", "POST, GET, DELETE"));
        }
        let (principal, one) = self.principal(request.headers())?;
        *named = Some(principal.name.clone());
        visitor.know(&principal.name).map_err(|most| {
            let notice =
                format!("you have {most} connections, the most that one principal may have");
            closing(later(notice, RETRY))
        })?;
        self.check_rate(&one.rate)?;
        if principal.access == Access::Metrics {
            let notice = format!("this token reads {METRICS}, and nothing else");
            return Err(text(StatusCode::FORBIDDEN, notice));
        }
        accept::name_wildcards(request.headers_mut());
        let session = one.check_session(request.headers()).await;
        if request.method() == Method::DELETE {
            session?;
            return Ok(ended(one.service.handle(request).await));
        }
        if request.method() == Method::GET {
            session?;
            resuming::begin_after_last(request.headers_mut());
            return Ok(one.service.handle(request).await);
        }
        let (mut head, body) = request.into_parts();
        let read = one.bodies.read(body).await?;
        let begins = read.method.as_deref() == Some("initialize");
        if !begins {
            session?;
        }
        if read.is_batch {
            return self.answer_batch(one, &head, &read.bytes).await;
        }
        if begins {
            // Clients that reconnect send their previous id.
            head.headers.remove(SESSION);
            let open = one.sessions.sessions.read().await.len();
            if open >= self.max_conversations {
                let notice = format!("there are {open} sessions, which is the limit");
                return Err(later(notice, Duration::from_secs(60)));
            }
        }
        let is_json = head.headers.get(CONTENT_TYPE).is_some_and(|it| {
            let it = it.as_bytes().split(|byte| *byte == b';').next();
            it.is_some_and(|it| it.trim_ascii().eq_ignore_ascii_case(b"application/json"))
        });
        let request = Request::from_parts(head, Full::new(read.bytes.clone()));
        let answer = one.service.handle(request).await;
        // The transport also answers this to messages that it can't read.
        if answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json {
            Err(not_read(&read.bytes))
        } else {
            Ok(answer)
        }
    }

    /// Returns the principal of a request, by its headers.
    #[expect(clippy::result_large_err, reason = "it is sent at once")]
    fn principal(&self, headers: &HeaderMap) -> Result<(&Principal, &OfPrincipal), Answer> {
        // With duplicates, a proxy and this server could each pick a different one.
        for once in [HOST, AUTHORIZATION] {
            if headers.get_all(&once).iter().count() > 1 {
                let notice = format!("the header `{once}` is there more than once");
                return Err(text(StatusCode::BAD_REQUEST, notice));
            }
        }
        let token = bearer(headers).ok_or_else(unauthorized)?;
        let principal = self.tokens.find(token).ok_or_else(unauthorized)?;
        let one = self.of_principals.get(&principal.name);
        Ok((principal, one.ok_or_else(unauthorized)?))
    }

    /// Returns the metrics, if the principal may read them.
    #[expect(clippy::result_large_err, reason = "it is sent at once")]
    fn numbers(&self, request: &Request<Incoming>) -> Result<Answer, Answer> {
        if request.method() != Method::GET {
            return Err(not_allowed("GET", "GET"));
        }
        let (principal, one) = self.principal(request.headers())?;
        self.check_rate(&one.rate)?;
        if !self.tokens.may_read_metrics(principal) {
            let notice = "metrics are of all principals: they need a token for them, which is a line `NAME:TOKEN:metrics`";
            return Err(text(StatusCode::FORBIDDEN, notice));
        }
        let numbers = self.metrics.text(self.conversations.now());
        Ok(bodies::answer(
            StatusCode::OK,
            metrics::CONTENT_TYPE,
            numbers,
        ))
    }

    async fn answer_batch(
        &self,
        one: &OfPrincipal,
        head: &Parts,
        bytes: &Bytes,
    ) -> Result<Answer, Answer> {
        let messages = batch::messages(bytes, &head.headers)?;
        // The request that carried the batch was already counted.
        for _ in 1..messages.len() {
            self.check_rate(&one.rate)?;
        }
        let mut answers = Vec::with_capacity(messages.len());
        for message in messages {
            let request = Request::from_parts(head.clone(), Full::new(message.clone()));
            let answer = one.service.handle(request).await;
            if answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
                return Err(not_read(&message));
            }
            if !answer.status().is_success() {
                return Err(answer);
            }
            answers.push(answer);
        }
        batch::joined(answers).ok_or_else(not_a_message)
    }

    #[expect(clippy::result_large_err, reason = "it is sent at once")]
    fn check_rate(&self, rate: &DefaultDirectRateLimiter) -> Result<(), Answer> {
        rate.check().map_err(|until| {
            let wait = until.wait_time_from(self.clock.now());
            later("too many requests".to_owned(), wait)
        })
    }
}

impl OfPrincipal {
    fn new(
        principal: &Principal,
        settings: &HttpSettings,
        transport: &StreamableHttpServerConfig,
        conversations: &Arc<Conversations>,
    ) -> Self {
        let mut config = SessionConfig::default();
        config.keep_alive = Some(IDLE);
        let mut sessions = LocalSessionManager::default();
        sessions.session_config = config;
        let sessions = Arc::new(sessions);
        let principal = Arc::new(principal.clone());
        let conversations = Arc::clone(conversations);
        let visiting = move || {
            let visit = Visit::new(&principal, &conversations);
            Ok(Handler::new(Transport::Http(visit)))
        };
        Self {
            rate: RateLimiter::direct(Quota::per_second(settings.requests_per_second)),
            bodies: Bodies::new(settings.max_body),
            service: StreamableHttpService::new(visiting, Arc::clone(&sessions), transport.clone()),
            sessions,
        }
    }

    /// Checks that a session of the transport belongs to the principal. If not, every request to it
    /// gets "not found".
    async fn check_session(&self, headers: &HeaderMap) -> Result<(), Answer> {
        let Some(id) = headers.get(SESSION) else {
            return Ok(());
        };
        let id = id.to_str().unwrap_or_default();
        if self.sessions.sessions.read().await.contains_key(id) {
            Ok(())
        } else {
            Err(text(
                StatusCode::NOT_FOUND,
                "there is no such session, or not any more: begin with `initialize`",
            ))
        }
    }
}

/// Returns the transport's configuration, including its checks of `Host` and `Origin`, which keep
/// web pages away.
fn transport(
    settings: &HttpSettings,
    listens_on: SocketAddr,
    stop: &CancellationToken,
) -> StreamableHttpServerConfig {
    let mut hosts = vec![
        "localhost".to_owned(),
        "127.0.0.1".to_owned(),
        "::1".to_owned(),
    ];
    if !listens_on.ip().is_unspecified() {
        hosts.push(listens_on.ip().to_string());
    }
    hosts.extend(settings.hosts.iter().cloned());
    // Some clients send the server's own origin, where no one else can host a page.
    let mut origins = vec![format!("http://{listens_on}")];
    origins.extend(settings.origins.iter().cloned());
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(settings.max_body)
        .with_cancellation_token(stop.clone())
}

/// Returns the answer to a client that has ended its session. The transport answers "accepted",
/// which some clients take for a failure.
fn ended(mut answer: Answer) -> Answer {
    if answer.status() == StatusCode::ACCEPTED {
        *answer.status_mut() = StatusCode::NO_CONTENT;
    }
    answer
}

/// Returns the token of a request.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let said = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = said.split_once(' ')?;
    let token = token.trim();
    scheme.eq_ignore_ascii_case("bearer").then_some(token)
}

fn not_allowed(notice: &'static str, allowed: &'static str) -> Answer {
    let mut answer = text(StatusCode::METHOD_NOT_ALLOWED, notice);
    let allowed = HeaderValue::from_static(allowed);
    answer.headers_mut().insert(ALLOW, allowed);
    answer
}

fn unauthorized() -> Answer {
    let notice = "a token of this server is needed, as `Authorization: Bearer TOKEN`";
    let mut answer = text(StatusCode::UNAUTHORIZED, notice);
    let scheme = HeaderValue::from_static("Bearer");
    answer.headers_mut().insert(WWW_AUTHENTICATE, scheme);
    answer
}

fn closing(mut answer: Answer) -> Answer {
    let close = HeaderValue::from_static("close");
    answer.headers_mut().insert(CONNECTION, close);
    answer
}

fn later(notice: String, wait: Duration) -> Answer {
    let mut answer = text(StatusCode::TOO_MANY_REQUESTS, notice);
    let seconds = wait.as_secs() + 1;
    answer.headers_mut().insert(RETRY_AFTER, seconds.into());
    answer
}
