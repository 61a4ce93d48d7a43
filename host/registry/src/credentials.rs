//! The user's name and password for a registry, as docker keeps them.

use std::env;
use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;

use docker_credential::{CredentialRetrievalError, DockerCredential};

use crate::Error;

/// The source of the credentials for registries.
///
/// Docker keeps them in `config.json`: encoded in `auths`, or with the programs that `credHelpers`
/// and `credsStore` name.
/// A registry without an entry is used anonymously.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Credentials {
    /// Docker's own folder: that in `DOCKER_CONFIG`, or `.docker` in the user's home.
    #[default]
    Docker,
    /// Another folder with docker's `config.json`.
    DockerFolder(PathBuf),
    /// None: every registry is used anonymously.
    Anonymous,
}

/// A user's login.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Login {
    Password {
        user: String,
        password: String,
    },
    /// A token that a registry's token server changes for another.
    Identity(String),
}

/// Never shows a secret.
impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Login")
    }
}

impl Credentials {
    /// Finds the login for the registry `host`. Reads files and runs programs.
    pub(crate) fn login(&self, host: &str) -> Result<Option<Login>, Error> {
        let failed = |problem: String| Error::Credentials {
            host: host.to_owned(),
            problem,
        };
        let Some(file) = self.file() else {
            return Ok(None);
        };
        let config = match fs::read(&file) {
            Ok(config) => config,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(format!("{}: {error}", file.display()))),
        };
        match docker_credential::get_credential_from_reader(config.as_slice(), key(host)) {
            Ok(DockerCredential::UsernamePassword(user, password)) => {
                Ok(Some(Login::Password { user, password }))
            }
            Ok(DockerCredential::IdentityToken(token)) => Ok(Some(Login::Identity(token))),
            Err(CredentialRetrievalError::NoCredentialConfigured) => Ok(None),
            Err(CredentialRetrievalError::HelperFailure { stdout, stderr, .. })
                if knows_no_login(&stdout) || knows_no_login(&stderr) =>
            {
                Ok(None)
            }
            // Docker's own programs write errors to their standard output, and never secrets.
            Err(CredentialRetrievalError::HelperFailure { helper, stdout, .. }) => {
                Err(failed(format!("{helper} failed: {}", first_line(&stdout))))
            }
            Err(CredentialRetrievalError::ConfigReadError) => {
                Err(failed(format!("{} is not docker's JSON", file.display())))
            }
            Err(error) => Err(failed(error.to_string())),
        }
    }

    fn file(&self) -> Option<PathBuf> {
        let folder = match self {
            Self::Docker => match env::var_os("DOCKER_CONFIG") {
                Some(folder) => folder.into(),
                None => env::home_dir()?.join(".docker"),
            },
            Self::DockerFolder(folder) => folder.clone(),
            Self::Anonymous => return None,
        };
        Some(folder.join("config.json"))
    }
}

/// What docker files the login of a registry under.
fn key(host: &str) -> &str {
    match host {
        "docker.io" | "index.docker.io" | "registry-1.docker.io" => "https://index.docker.io/v1/",
        _ => host,
    }
}

/// What docker's programs say if they have no login for a registry.
fn knows_no_login(output: &str) -> bool {
    output.contains("credentials not found")
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(config: &str, host: &str) -> Result<Option<Login>, String> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("config.json"), config).unwrap();
        let credentials = Credentials::DockerFolder(folder.path().to_owned());
        credentials.login(host).map_err(|error| error.to_string())
    }

    #[test]
    fn a_login_is_found_by_its_registry() {
        let ann = Login::Password {
            user: "ann".to_owned(),
            password: "secret".to_owned(),
        };
        // `ann:secret` in base64.
        let config =
            |key: &str| format!(r#"{{"auths":{{"{key}":{{"auth":"YW5uOnNlY3JldA=="}}}}}}"#);
        for (key, host) in [
            ("ghcr.io", "ghcr.io"),
            ("https://ghcr.io", "ghcr.io"),
            ("localhost:5000", "localhost:5000"),
            ("https://index.docker.io/v1/", "docker.io"),
        ] {
            assert_eq!(login(&config(key), host), Ok(Some(ann.clone())), "{key}");
            assert_eq!(login(&config(key), "example.com"), Ok(None));
        }
    }

    #[test]
    fn without_an_entry_there_is_no_login() {
        assert_eq!(login("{}", "ghcr.io"), Ok(None));
        assert_eq!(login(r#"{"auths":{"ghcr.io":{}}}"#, "ghcr.io"), Ok(None));
        let nowhere = Credentials::DockerFolder("/nonexistent".into());
        assert_eq!(nowhere.login("ghcr.io").unwrap(), None);
        assert_eq!(Credentials::Anonymous.login("ghcr.io").unwrap(), None);
    }

    #[test]
    fn an_identity_token_is_found() {
        let config = r#"{"auths":{"ghcr.io":{"identitytoken":"t"}}}"#;
        let token = Login::Identity("t".to_owned());
        assert_eq!(login(config, "ghcr.io"), Ok(Some(token)));
    }

    #[test]
    fn broken_configurations_are_errors_without_secrets() {
        let error = login("{", "ghcr.io").unwrap_err();
        assert!(
            error.starts_with("can't read the credentials for ghcr.io: "),
            "{error}"
        );
        assert!(
            error.ends_with("config.json is not docker's JSON"),
            "{error}"
        );
        let error = login(r#"{"auths":{"ghcr.io":{"auth":"!"}}}"#, "ghcr.io").unwrap_err();
        assert_eq!(
            error,
            "can't read the credentials for ghcr.io: Unable to decode credential"
        );
        let error = login(
            r#"{"credHelpers":{"ghcr.io":"missing-program"}}"#,
            "ghcr.io",
        );
        let error = error.unwrap_err();
        assert_eq!(
            error,
            "can't read the credentials for ghcr.io: Unable to communicate with credential helper"
        );
    }
}
