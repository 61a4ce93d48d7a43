//! Params are checked against the tool's schema before the guest is called.

use airlock_host::Error;
use airlock_host::tool::Params;
use airlock_tests::{Puppet, push};
use serde_json::{Value, json};

#[tokio::test]
async fn each_violation_is_listed_with_its_path() {
    let puppet = Puppet::new().await;
    let check = async |params: Value, expected: &[(&str, &str)]| {
        let error = puppet.session.call("typed", &params).await.unwrap_err();
        let Error::InvalidParams { tool, violations } = &error else {
            panic!("{error}");
        };
        assert_eq!(tool, "typed");
        let found: Vec<&str> = violations.iter().map(|it| it.path.as_str()).collect();
        let paths: Vec<&str> = expected.iter().map(|(path, _)| *path).collect();
        assert_eq!(found, paths, "{error}");
        for (path, part) in expected {
            let violation = violations.iter().find(|it| it.path == *path).unwrap();
            assert!(violation.message.contains(part), "{violation}");
            assert!(
                error.to_string().contains(&violation.to_string()),
                "{error}"
            );
        }
    };
    check(
        json!({"count": 1}),
        &[("", "\"name\" is a required property")],
    )
    .await;
    check(
        json!({"name": "", "count": 1}),
        &[("/name", "shorter than 1 character")],
    )
    .await;
    check(
        json!({"name": "a", "count": 11, "tags": ["x", 2], "where": {"path": "UP"}}),
        &[
            ("/count", "maximum of 10"),
            ("/tags/1", "\"string\""),
            ("/where/path", "^[a-z/]+$"),
        ],
    )
    .await;
    check(
        json!({"name": "a", "count": 1, "more": 0}),
        &[("", "'more' was unexpected")],
    )
    .await;
    check(json!([]), &[("", "\"object\"")]).await;
    check(json!(null), &[("", "\"object\"")]).await;
}

#[tokio::test]
async fn params_that_fit_reach_the_guest_as_they_are() {
    let puppet = Puppet::new().await;
    let params = json!({"name": "ä\u{0}\"", "count": 10, "tags": [], "where": {"path": "a/b"}});
    let outcome = puppet.session.call("typed", &params).await.unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&outcome.text()).unwrap(),
        params
    );
}

#[tokio::test]
async fn params_that_are_a_text_reach_the_guest_and_the_record_as_they_were_written() {
    let puppet = Puppet::new().await;
    let text = r#"{ "name" : "\u00e4 \/", "tags": [ ], "count": 1.0e1 }"#;
    let as_written = r#"{"name":"\u00e4 \/","tags":[],"count":1.0e1}"#;
    let params = Params::from_text(text).unwrap();
    let outcome = puppet.session.call("typed", params).await.unwrap();
    assert_eq!(outcome.text(), as_written);

    let steps = json!({"steps": [push("Label", json!({}))]}).to_string();
    let steps = steps.replace("Label", r"\u004cabel");
    let params = Params::from_text(&steps.replace(':', " : ")).unwrap();
    let outcome = puppet.session.call("puppet", params).await.unwrap();
    let action = &outcome.pushed[0];
    assert_eq!(action.label, "Label");
    let call = puppet.session.call_record(&action.id).await.unwrap();
    assert_eq!(call.unwrap().params.as_str(), steps);
}

#[tokio::test]
async fn params_that_are_a_text_are_checked_as_a_value_is() {
    let puppet = Puppet::new().await;
    let params = Params::from_text(r#"{"name": "a", "count": 11}"#).unwrap();
    let error = puppet.session.call("typed", params).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        puppet
            .session
            .call("typed", &json!({"name": "a", "count": 11}))
            .await
            .unwrap_err()
            .to_string()
    );
    let check = |text: &str, part: &str| {
        let refused = Params::from_text(text).unwrap_err().to_string();
        assert!(refused.contains(part), "{text}: {refused}");
    };
    let twice = "\"count\" appears twice";
    check(r#"{"name": "a", "count": 1, "count": 11}"#, twice);
    check(r#"{"name": "a", "count": 1e400}"#, "number out of range");
    check(r#"{"name": "a", "count": 1"#, "EOF");
}

#[tokio::test]
async fn an_unknown_tool_is_named_beside_the_known_ones() {
    let puppet = Puppet::new().await;
    let error = puppet.session.call("pupet", &json!({})).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no tool `pupet` here; there are: puppet, typed"
    );
}
