//! Registries that want a login.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use airlock_registry::{Annotations, Client, Credentials, Error, Options};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tempfile::TempDir;
use tokio::process::Command;

use crate::support::registry::Registry;
use crate::support::server::{Reply, Request, Server};
use crate::support::{cache, client, client_with, component, manifest, publish, reference};

/// A client with docker's configuration in a folder.
fn client_of(config: &str) -> (Client, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("config.json"), config).unwrap();
    let path = folder.path().to_owned();
    let client = client_with(|options| options.credentials = Credentials::DockerFolder(path));
    (client, folder)
}

fn config(host: &str, password: &str) -> String {
    let auth = STANDARD.encode(format!("ann:{password}"));
    format!(r#"{{"auths":{{"{host}":{{"auth":"{auth}"}}}}}}"#)
}

#[tokio::test]
async fn a_private_registry_wants_the_password() {
    let registry = Registry::start_private().await;
    let name = reference(&registry.host, "x:1");
    let (ann, _folder) = client_of(&config(&registry.host, "secret"));
    publish(&ann, &name, component(1)).await;
    let artifact = ann.resolve(&name).await.unwrap();
    let (cache, _cache) = cache();
    ann.fetch(&artifact, &cache, &mut |_, _| {}).await.unwrap();

    let (wrong, _folder) = client_of(&config(&registry.host, "wrong"));
    let (other, _folder) = client_of(&config("example.com", "secret"));
    for (client, problem) in [
        (client(), "there are no saved credentials"),
        (other, "there are no saved credentials"),
        (wrong, "it refused the saved credentials"),
    ] {
        for error in [
            client.resolve(&name).await.map(drop),
            client
                .publish(&name, component(1), &Annotations::new())
                .await
                .map(drop),
        ] {
            let error = error.unwrap_err();
            assert!(matches!(error, Error::Unauthorized { .. }), "{error:?}");
            assert_eq!(
                error.to_string(),
                format!("{} requires a login: {problem}", registry.host)
            );
            assert_eq!(
                error.hint().unwrap(),
                format!("log in: docker login {}", registry.host)
            );
        }
    }
}

/// Runs itself again, with an environment in which docker's folder and a helper are found.
#[tokio::test]
async fn dockers_folder_and_a_credential_helper_are_found_by_the_environment() {
    if let Ok(host) = env::var("AIRLOCK_TEST_REGISTRY") {
        let client = Client::new(Options::default()).unwrap();
        publish(&client, &reference(&host, "x:1"), component(1)).await;
        return;
    }
    let registry = Registry::start_private().await;
    let folder = tempfile::tempdir().unwrap();
    let helper = folder.path().join("docker-credential-test");
    let script = format!(
        "#!/bin/sh\n\
         read -r host\n\
         [ \"$1 $host\" = 'get {}' ] || exit 1\n\
         echo '{{\"Username\":\"ann\",\"Secret\":\"secret\"}}'\n",
        registry.host
    );
    fs::write(&helper, script).unwrap();
    fs::set_permissions(&helper, fs::Permissions::from_mode(0o755)).unwrap();
    let config = format!(r#"{{"credHelpers":{{"{}":"test"}}}}"#, registry.host);
    fs::write(folder.path().join("config.json"), config).unwrap();
    let mut path = folder.path().as_os_str().to_owned();
    path.push(":/usr/bin:/bin");
    let output = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "login::dockers_folder_and_a_credential_helper_are_found_by_the_environment",
        ])
        .env("AIRLOCK_TEST_REGISTRY", &registry.host)
        .env("DOCKER_CONFIG", folder.path())
        .env("PATH", path)
        .output()
        .await
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && printed.contains("1 passed"),
        "{printed}"
    );
}

/// A registry that wants a token of its token server.
async fn with_tokens() -> Server {
    Server::start(|request: &Request| {
        let host = request.header("host").unwrap().to_owned();
        let authorization = request.header("authorization");
        if request.path.starts_with("/token") {
            let ann = format!("Basic {}", STANDARD.encode("ann:secret"));
            let scope = "scope=repository%3Aann%2Fx%3Apull";
            let is_ann = authorization == Some(&ann) && request.path.ends_with(scope);
            let has_identity = request.method == "POST"
                && request.body.contains("refresh_token=identity")
                && request.body.contains("service=test")
                && request.body.contains(scope);
            return if is_ann || has_identity {
                Reply::new(200).body(r#"{"token":"granted"}"#)
            } else {
                Reply::new(401)
            };
        }
        match authorization {
            Some("Bearer granted") => Reply::new(200).body(manifest(b"x").to_string()),
            _ => Reply::new(401).header(
                "www-authenticate",
                format!(r#"Bearer realm="http://{host}/token",service="test",scope="x""#),
            ),
        }
    })
    .await
}

#[tokio::test]
async fn a_password_or_an_identity_is_changed_for_a_token() {
    let server = with_tokens().await;
    let name = reference(&server.host, "ann/x:1");
    let identity = format!(
        r#"{{"auths":{{"{}":{{"identitytoken":"identity"}}}}}}"#,
        server.host
    );
    for config in [config(&server.host, "secret"), identity] {
        let before = server.requests().len();
        let (client, _folder) = client_of(&config);
        client.resolve(&name).await.unwrap();
        // The token is kept.
        client.resolve(&name).await.unwrap();
        assert_eq!(server.requests().len() - before, 4);
    }
    let (wrong, _folder) = client_of(&config(&server.host, "wrong"));
    let error = wrong.resolve(&name).await.unwrap_err();
    assert!(
        matches!(
            error,
            Error::Unauthorized {
                had_credentials: true,
                ..
            }
        ),
        "{error:?}"
    );
    let error = client().resolve(&name).await.unwrap_err();
    assert!(
        matches!(
            error,
            Error::Unauthorized {
                had_credentials: false,
                ..
            }
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_token_server_without_encryption_gets_no_password() {
    let server = Server::start(|_| {
        let header = r#"Bearer realm="http://example.com/token",service="test""#;
        Reply::new(401).header("www-authenticate", header)
    });
    let server = server.await;
    let (client, _folder) = client_of(&config(&server.host, "secret"));
    let error = client
        .resolve(&reference(&server.host, "x:1"))
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("its token server is not encrypted"),
        "{error}"
    );
}

#[tokio::test]
async fn a_password_is_not_sent_to_where_a_registry_redirects() {
    let other = Server::start(|_| Reply::new(404)).await;
    let elsewhere = format!("http://{}/x", other.host);
    let server = Server::start(move |request| match request.header("authorization") {
        None => Reply::new(401).header("www-authenticate", "Basic realm=x"),
        Some(_) => Reply::new(307).header("location", elsewhere.clone()),
    });
    let server = server.await;
    let (client, _folder) = client_of(&config(&server.host, "secret"));
    client
        .resolve(&reference(&server.host, "x:1"))
        .await
        .unwrap_err();
    let requests = other.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].header("authorization"), None);
}

#[tokio::test]
async fn a_password_is_not_sent_where_another_server_than_the_registry_wants_it() {
    let thief = Server::start(|request| {
        let host = request.header("host").unwrap();
        let header = format!(r#"Bearer realm="http://{host}/token",service="test""#);
        Reply::new(401).header("www-authenticate", header)
    });
    let thief = thief.await;
    let elsewhere = format!("http://{}/x", thief.host);
    let server = Server::start(move |_| Reply::new(307).header("location", elsewhere.clone()));
    let server = server.await;
    let (client, _folder) = client_of(&config(&server.host, "secret"));
    let error = client
        .resolve(&reference(&server.host, "x:1"))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Unauthorized { .. }), "{error:?}");
    assert_eq!(thief.requests().len(), 1);
}
