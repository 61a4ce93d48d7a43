//! Logs in to registries: as they ask for it, with a password or with a token of a token server.

mod challenge;

use std::collections::HashMap;
use std::sync::Mutex;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{RequestBuilder, Response, StatusCode};
use serde::Deserialize;
use url::Url;

use self::challenge::Challenge;
use crate::credentials::{Credentials, Login};
use crate::http::{Http, Subject, bounded_body, host, refused, unreachable};
use crate::local::{is_local, is_safe};
use crate::{Error, OciReference};

/// The most bytes of a token server's answer.
const MAX_TOKEN_BYTES: usize = 1 << 20;

/// The permission that a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Access {
    Pull,
    Push,
}

impl Access {
    fn actions(self) -> &'static str {
        match self {
            Self::Pull => "pull",
            Self::Push => "pull,push",
        }
    }
}

/// The registry, the repository and the access.
type Key = (String, String, Access);

/// A header that a registry has asked for.
#[derive(Clone)]
struct Authorization {
    header: HeaderValue,
    had_credentials: bool,
}

/// Sends requests to registries, and logs in if they ask for it.
pub(crate) struct Auth {
    credentials: Credentials,
    granted: Mutex<HashMap<Key, Authorization>>,
}

/// A response, and whether credentials were sent for it.
pub(crate) struct Answer {
    pub(crate) response: Response,
    pub(crate) had_credentials: bool,
}

impl Auth {
    pub(crate) fn new(credentials: Credentials) -> Self {
        Self {
            credentials,
            granted: Mutex::default(),
        }
    }

    /// Sends the request that `request` makes, a second time if the registry asks for a login.
    ///
    /// `url` is where it goes; the login is only sent to the registry of `reference` itself.
    pub(crate) async fn send(
        &self,
        http: &Http,
        reference: &OciReference,
        access: Access,
        url: &Url,
        request: impl Fn(&reqwest::Client) -> RequestBuilder,
    ) -> Result<Answer, Error> {
        let client = http.client(url)?;
        let key = (
            reference.host().to_owned(),
            reference.repository().to_owned(),
            access,
        );
        let registry = host(&reference.base_url()?);
        let is_own = host(url) == registry;
        let send = async |authorization: Option<&Authorization>| {
            let mut request = request(client);
            if let Some(authorization) = authorization {
                request = request.header(AUTHORIZATION, authorization.header.clone());
            }
            request
                .send()
                .await
                .map_err(|error| unreachable(url, error))
        };
        let granted = self.granted(&key).filter(|_| is_own);
        let response = send(granted.as_ref()).await?;
        // A server that the registry redirects to must not choose where the password is sent.
        let is_asked = is_own && host(response.url()) == registry;
        if response.status() != StatusCode::UNAUTHORIZED || !is_asked {
            let had_credentials = granted.is_some_and(|it| it.had_credentials);
            return Ok(Answer {
                response,
                had_credentials,
            });
        }
        let Some(authorization) = self.log_in(http, reference, access, &response).await? else {
            return Ok(Answer {
                response,
                had_credentials: false,
            });
        };
        let response = send(Some(&authorization)).await?;
        let had_credentials = authorization.had_credentials;
        if response.status() != StatusCode::UNAUTHORIZED {
            self.keep(key, authorization);
        }
        Ok(Answer {
            response,
            had_credentials,
        })
    }

    fn granted(&self, key: &Key) -> Option<Authorization> {
        let granted = self.granted.lock().unwrap_or_else(|it| it.into_inner());
        granted.get(key).cloned()
    }

    fn keep(&self, key: Key, authorization: Authorization) {
        let mut granted = self.granted.lock().unwrap_or_else(|it| it.into_inner());
        granted.insert(key, authorization);
    }

    /// Answers the challenge of a response with the status 401. Without credentials, a server that
    /// wants a password gets no answer.
    async fn log_in(
        &self,
        http: &Http,
        reference: &OciReference,
        access: Access,
        response: &Response,
    ) -> Result<Option<Authorization>, Error> {
        let login = self.login(reference.host()).await?;
        let had_credentials = login.is_some();
        let challenges = response.headers().get_all(WWW_AUTHENTICATE);
        let challenges = challenges.iter().filter_map(|it| it.to_str().ok());
        let challenges: Vec<Challenge> = challenges.filter_map(Challenge::parse).collect();
        let header = if let Some(realm) = challenges.iter().find_map(Challenge::bearer) {
            let token = token(http, reference, access, realm, login).await?;
            format!("Bearer {token}")
        } else if challenges.iter().any(Challenge::is_basic) {
            let Some(Login::Password { user, password }) = login else {
                return Ok(None);
            };
            format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
        } else {
            return Ok(None);
        };
        let mut header = HeaderValue::try_from(header).map_err(|_| {
            reference.server_error("its token has characters that no header may have")
        })?;
        header.set_sensitive(true);
        Ok(Some(Authorization {
            header,
            had_credentials,
        }))
    }

    /// Finds the login on a thread that may wait for a program.
    async fn login(&self, host: &str) -> Result<Option<Login>, Error> {
        let credentials = self.credentials.clone();
        let registry = host.to_owned();
        let login = tokio::task::spawn_blocking(move || credentials.login(&registry)).await;
        login.unwrap_or_else(|error| {
            Err(Error::Credentials {
                host: host.to_owned(),
                problem: error.to_string(),
            })
        })
    }
}

#[derive(Deserialize)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

/// Asks the token server that the registry names for a token.
async fn token(
    http: &Http,
    reference: &OciReference,
    access: Access,
    challenge: &Challenge,
    login: Option<Login>,
) -> Result<String, Error> {
    let wrong = |problem: &str| reference.server_error(problem);
    let mut url = token_server(reference, challenge)?;
    let repository = reference.api_repository();
    let scope = format!("repository:{repository}:{}", access.actions());
    let had_credentials = login.is_some();
    let service = challenge.service().unwrap_or_default();
    let request = match login {
        Some(Login::Identity(token)) => {
            let fields = [
                ("grant_type", "refresh_token"),
                ("service", service),
                ("client_id", "airlock"),
                ("scope", &scope),
                ("refresh_token", &token),
            ];
            let form = url::form_urlencoded::Serializer::new(String::new())
                .extend_pairs(fields)
                .finish();
            let request = http.client(&url)?.post(url.clone()).body(form);
            request.header("Content-Type", "application/x-www-form-urlencoded")
        }
        login => {
            let mut query = url.query_pairs_mut();
            if !service.is_empty() {
                query.append_pair("service", service);
            }
            query.append_pair("scope", &scope);
            drop(query);
            let request = http.client(&url)?.get(url.clone());
            match login {
                Some(Login::Password { user, password }) => {
                    request.basic_auth(user, Some(password))
                }
                _ => request,
            }
        }
    };
    let sent = request.send().await;
    let response = sent.map_err(|error| unreachable(&url, error))?;
    if !response.status().is_success() {
        let subject = Subject {
            host: reference.host(),
            name: reference.repository(),
            what: "repository or tag",
            had_credentials,
        };
        return Err(refused(subject, response).await);
    }
    let body = bounded_body(response, MAX_TOKEN_BYTES).await;
    let body = body.map_err(|error| unreachable(&url, error))?;
    let body = body.ok_or_else(|| wrong("its token is too large"))?;
    let token: Token =
        serde_json::from_slice(&body).map_err(|_| wrong("its token server sent no token"))?;
    let token = token.token.or(token.access_token);
    token.ok_or_else(|| wrong("its token server sent no token"))
}

/// The address of the token server.
///
/// A registry elsewhere must not make this machine's own servers answer, nor get passwords sent
/// without encryption.
fn token_server(reference: &OciReference, challenge: &Challenge) -> Result<Url, Error> {
    let url = challenge.realm().and_then(|realm| Url::parse(realm).ok());
    let url = url.ok_or_else(|| reference.server_error("it names no token server"))?;
    if url.scheme() == "https" || (is_local(reference.host()) && is_safe(&url)) {
        Ok(url)
    } else {
        Err(reference.server_error("its token server is not encrypted"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_server_is_encrypted_unless_it_and_the_registry_are_local() {
        for (registry, realm, is_allowed) in [
            ("ghcr.io", "https://ghcr.io/token", true),
            ("docker.io", "https://auth.docker.io/token", true),
            ("localhost:5000", "https://example.com/token", true),
            ("localhost:5000", "http://127.0.0.1:5001/token", true),
            ("localhost:5000", "http://example.com/token", false),
            ("ghcr.io", "http://ghcr.io/token", false),
            ("ghcr.io", "http://localhost/token", false),
            ("ghcr.io", "ftp://ghcr.io/token", false),
            ("ghcr.io", "token", false),
        ] {
            let reference = format!("{registry}/x").parse().unwrap();
            let challenge = Challenge::parse(&format!(r#"Bearer realm="{realm}""#)).unwrap();
            let url = token_server(&reference, &challenge);
            assert_eq!(url.is_ok(), is_allowed, "{registry} {realm}");
        }
    }
}
