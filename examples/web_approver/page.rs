//! A page on this machine that shows what is pending, with the effects that the host saw, and takes
//! decisions about exactly that.

use std::fmt::Write;
use std::io;
use std::sync::Arc;

use airlock_host::pending::{Actor, Decision, Review};
use airlock_host::{Error, Session};
use airlock_render::escape_line;
use anyhow::{Context, bail};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderValue, ORIGIN,
    REFERRER_POLICY,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// A form of this page is smaller.
const MAX_FORM: usize = 4096;

/// No script, nothing from elsewhere, and no other page around it.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'";

/// The page of one session.
pub struct Page {
    session: Session,
    listener: TcpListener,
    /// The only name by which a browser may ask for it: a foreign name that leads here is refused.
    host: String,
    /// `/` and a random token, which only the person at this machine learns.
    path: String,
}

impl Page {
    pub async fn open(session: Session) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        Ok(Self {
            session,
            host: listener.local_addr()?.to_string(),
            listener,
            path: format!("/{:016x}{:016x}", getrandom::u64()?, getrandom::u64()?),
        })
    }

    pub fn url(&self) -> String {
        format!("http://{}{}", self.host, self.path)
    }

    /// Serves the page until the listener fails.
    pub async fn serve(self: Arc<Self>) -> io::Result<()> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            let page = Arc::clone(&self);
            // An apply goes on if the browser leaves meanwhile.
            let service = service_fn(move |request| tokio::spawn(page.clone().answer(request)));
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::spawn(connection);
        }
    }

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<String> {
        let (status, html) = match self.admit(&request) {
            Err((status, why)) => (status, paragraph(why)),
            Ok(()) => {
                let (status, note) = match *request.method() {
                    Method::POST => match self.decide(request).await {
                        Ok(done) => (StatusCode::OK, done),
                        Err(why) => (StatusCode::CONFLICT, why.to_string()),
                    },
                    _ => (StatusCode::OK, String::new()),
                };
                let pending = self.pending().await;
                let pending = pending.unwrap_or_else(|error| paragraph(&error.to_string()));
                (status, paragraph(&note) + &pending)
            }
        };
        let head = "<!doctype html><meta charset=\"utf-8\"><title>Pending</title><h1>Pending</h1>";
        let mut response = Response::new(format!("{head}{html}"));
        *response.status_mut() = status;
        for (name, value) in [
            (CONTENT_TYPE, "text/html; charset=utf-8"),
            (CONTENT_SECURITY_POLICY, POLICY),
            (CACHE_CONTROL, "no-store"),
            // With `no-referrer`, browsers would send no origin with a form either.
            (REFERRER_POLICY, "same-origin"),
        ] {
            let value = HeaderValue::from_static(value);
            response.headers_mut().insert(name, value);
        }
        response
    }

    /// Checks that the person sent the request, and not another page in the person's browser.
    fn admit(&self, request: &Request<Incoming>) -> Result<(), (StatusCode, &'static str)> {
        let header = |name| request.headers().get(name).map(|it| it.as_bytes());
        let origin = format!("http://{}", self.host);
        if header(HOST) != Some(self.host.as_bytes()) {
            Err((StatusCode::MISDIRECTED_REQUEST, "This is another host."))
        } else if request.uri().path() != self.path {
            let why = "Open the address that the program printed.";
            Err((StatusCode::FORBIDDEN, why))
        } else if *request.method() == Method::POST && header(ORIGIN) != Some(origin.as_bytes()) {
            Err((StatusCode::FORBIDDEN, "Another page sent this form."))
        } else {
            Ok(())
        }
    }

    /// Carries out a decision about exactly what the page showed, or gives the reason why not.
    async fn decide(&self, request: Request<Incoming>) -> anyhow::Result<String> {
        let body = Limited::new(request.into_body(), MAX_FORM).collect().await;
        let body = body.map_err(anyhow::Error::from_boxed)?.to_bytes();
        let form = std::str::from_utf8(&body)?;
        // Ids, digests and words need no decoding.
        let field = |name| {
            let mut fields = form.split('&').filter_map(|field| field.split_once('='));
            let found = fields.find_map(|(key, value)| (key == name).then_some(value));
            found.with_context(|| format!("the form has no field {name}"))
        };
        let decision = match field("decision")? {
            "apply" => Decision::Apply,
            "discard" => Decision::Discard,
            other => bail!("{other} is no decision"),
        };
        let review = self.session.review(&field("action")?.into()).await?;
        let review = review.context("It is not pending any more.")?;
        if version(&review) != field("version")? {
            bail!("It has changed since the page showed it. Nothing was done.");
        }
        let resolution = review.decided(decision, "decided on the page");
        let person = Actor::person("the person at the page");
        self.session.resolve(resolution, person).await?;
        let label = &review.action.action.label;
        Ok(format!("{}: {label}", decision.past()))
    }

    async fn pending(&self) -> Result<String, Error> {
        let mut html = String::new();
        for stacked in self.session.pending().await? {
            // Unless it was decided in the meantime.
            if let Some(review) = self.session.review(&stacked.action.id).await? {
                html.push_str(&section(&review));
            }
        }
        if html.is_empty() {
            html = paragraph("Nothing is pending.");
        }
        Ok(html)
    }
}

/// Names what a page shows of an action: its effects, and how often an apply was tried.
fn version(review: &Review) -> String {
    let effects = review.effects.as_ref();
    let digest = effects.map(|effects| effects.digest().to_string());
    format!("{}-{}", review.action.attempts, digest.unwrap_or_default())
}

fn section(review: &Review) -> String {
    let action = &review.action.action;
    let mut text = format!("{} wants this.\n", action.plugin_name);
    match &review.effects {
        Some(effects) => {
            let _ = writeln!(text, "{}", effects.summary());
            for change in &effects.changes {
                let _ = writeln!(text, "{change}");
                for sentence in change.side_effects.sentences() {
                    let _ = writeln!(text, "  {sentence}");
                }
            }
            text.push_str(&effects.unified_diff());
        }
        None => text.push_str("The host has not seen what it would do.\n"),
    }
    for file in &review.stale {
        let _ = writeln!(text, "{file} since the preview");
    }
    format!(
        "<h2>{}</h2><pre>{}</pre><form method=\"post\">\
         <input type=\"hidden\" name=\"action\" value=\"{}\">\
         <input type=\"hidden\" name=\"version\" value=\"{}\">\
         <button name=\"decision\" value=\"apply\">Apply</button> \
         <button name=\"decision\" value=\"discard\">Discard</button></form>",
        escape(&action.label),
        escape(&text),
        escape(action.id.as_str()),
        version(review),
    )
}

fn paragraph(text: &str) -> String {
    format!("<p>{}</p>", escape(text))
}

/// Escapes markup, and the characters that make a text look like another one.
fn escape(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(escape_line).collect();
    let text = lines.join("\n").replace('&', "&amp;");
    let text = text.replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}
