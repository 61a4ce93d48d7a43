//! The metrics of a server, and who may read them.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::web::{ANN, Answer, BEN, Client, Web, head, read_answer};
use crate::airlock::{Store, folder, guest};
use crate::serving::client::{Calls, asks};

const PROMETHEUS: &str = "prometheus-0123456789abcdef0123456789abcdef";

/// A server with these lines of tokens.
fn start(store: &Store, folder: &std::path::Path, tokens: &str, args: &[&str]) -> Web {
    let file = store.path().with_file_name("tokens");
    fs::write(&file, tokens).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let all = [&["--token-file", file.to_str().unwrap()], args].concat();
    Web::start_as_told(store, folder, &all)
}

fn scrape(web: &Web, method: &str, token: &str) -> Answer {
    let head = head(method, token, 0, &[]).replace(" /mcp ", " /metrics ");
    let mut stream = web.connect();
    stream.write_all(head.as_bytes()).unwrap();
    read_answer(stream)
}

/// The numbers, by the samples as they are written.
#[track_caller]
fn numbers(web: &Web) -> BTreeMap<String, f64> {
    let answer = scrape(web, "GET", PROMETHEUS);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(
        answer.header("content-type").as_deref(),
        Some("text/plain; version=0.0.4; charset=utf-8")
    );
    parse(&answer.body)
}

/// Reads Prometheus's text format 0.0.4 by its grammar, and checks what `promtool check metrics`
/// does.
#[track_caller]
fn parse(text: &str) -> BTreeMap<String, f64> {
    assert!(text.ends_with('\n'), "the last line ends: {text}");
    let (mut samples, mut families) = (BTreeMap::new(), HashSet::new());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let (name, help) = line
            .strip_prefix("# HELP ")
            .unwrap()
            .split_once(' ')
            .unwrap();
        assert!(!help.is_empty() && is_name(name), "{line}");
        assert!(families.insert(name), "{name} is there twice");
        let kind = lines.next().unwrap().strip_prefix("# TYPE ").unwrap();
        let kind = kind.strip_prefix(name).unwrap().strip_prefix(' ').unwrap();
        let is_total = name.ends_with("_total");
        assert!(["counter", "gauge", "histogram"].contains(&kind), "{kind}");
        assert_eq!(is_total, kind == "counter", "{name}");
        let mut family = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with('#')) {
            let (sample, value) = line.rsplit_once(' ').unwrap();
            let value: f64 = value.parse().unwrap();
            assert!(kind == "gauge" || value >= 0.0, "{line}");
            let (own, labels) = parsed(sample);
            let suffix = own.strip_prefix(name).unwrap();
            match kind {
                "histogram" => assert!(["_bucket", "_sum", "_count"].contains(&suffix), "{line}"),
                _ => assert_eq!(suffix, "", "{line}"),
            }
            family.push((suffix.to_owned(), labels, value));
            let before = samples.insert(sample.to_owned(), value);
            assert_eq!(before, None, "{sample} is there twice");
        }
        assert!(!family.is_empty(), "{name} has no sample");
        if kind == "histogram" {
            check_histogram(&family);
        }
    }
    samples
}

type Sample = (String, Vec<(String, String)>, f64);

fn check_histogram(family: &[Sample]) {
    let of = |wanted: &'static str| family.iter().filter(move |it| it.0 == wanted);
    let buckets: Vec<(f64, f64)> = of("_bucket")
        .map(|(_, labels, value)| {
            let [(name, bound)] = labels.as_slice() else {
                panic!("{labels:?}");
            };
            assert_eq!(name, "le");
            let bound = bound.replace("+Inf", "inf");
            (bound.parse().unwrap(), *value)
        })
        .collect();
    assert!(
        buckets.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1),
        "{buckets:?}"
    );
    let last = buckets.last().unwrap();
    assert_eq!(last.0, f64::INFINITY);
    assert_eq!(of("_count").map(|it| it.2).collect::<Vec<_>>(), [last.1]);
    assert_eq!(of("_sum").count(), 1);
}

/// A sample's name and labels.
fn parsed(sample: &str) -> (&str, Vec<(String, String)>) {
    let Some((name, labels)) = sample.split_once('{') else {
        assert!(is_name(sample), "{sample}");
        return (sample, Vec::new());
    };
    assert!(is_name(name), "{sample}");
    let labels = labels.strip_suffix('}').unwrap();
    let labels = labels.split(',').map(|label| {
        let (label, value) = label.split_once('=').unwrap();
        assert!(is_name(label) && !label.contains(':'), "{sample}");
        let value = value.strip_prefix('"').unwrap().strip_suffix('"').unwrap();
        assert!(!value.contains(['"', '\\', '\n', ',']), "{sample}");
        (label.to_owned(), value.to_owned())
    });
    let labels: Vec<_> = labels.collect();
    let names: HashSet<_> = labels.iter().map(|(label, _)| label).collect();
    assert_eq!(names.len(), labels.len(), "{sample}");
    (name, labels)
}

fn is_name(text: &str) -> bool {
    let of_names = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | ':');
    !text.is_empty()
        && text.chars().all(of_names)
        && !text.starts_with(|it: char| it.is_ascii_digit())
}

#[test]
fn metrics_need_a_token_for_them_that_opens_nothing_else() {
    let (store, folder) = (Store::new(), folder(&[]));
    let tokens = format!("ann:{ANN}\nben:{BEN}:read-only\nprometheus:{PROMETHEUS}:metrics\n");
    let web = start(&store, folder.path(), &tokens, &[]);
    for (method, token, status) in [
        ("GET", "", 401),
        ("GET", "wrong", 401),
        ("POST", "", 405),
        ("GET", ANN, 403),
        ("GET", BEN, 403),
        ("POST", PROMETHEUS, 405),
        ("GET", PROMETHEUS, 200),
    ] {
        let answer = scrape(&web, method, token);
        assert_eq!(answer.status, status, "{method} {token}");
        assert_eq!(answer.body.contains("airlock_"), status == 200);
    }
    for method in ["POST", "GET", "DELETE"] {
        let mut stream = web.connect();
        let head = head(method, PROMETHEUS, 0, &[]);
        stream.write_all(head.as_bytes()).unwrap();
        let answer = read_answer(stream);
        assert_eq!(answer.status, 403, "{method}: {answer:?}");
    }
    drop(web);
    // The only principal may read them.
    let web = start(&store, folder.path(), &format!("ann:{ANN}\n"), &[]);
    assert_eq!(scrape(&web, "GET", ANN).status, 200);
    assert_eq!(scrape(&web, "GET", "").status, 401);
}

fn writes(name: &str) -> Value {
    json!([{"do": "fs", "op": "write", "path": name, "text": "x"}])
}

/// The puppet pushes an action that applies so.
#[track_caller]
fn pushed(ann: &mut Client, apply: Value) -> String {
    let steps = json!([{"do": "push", "label": "It", "apply": apply}]);
    let said = ann.call("puppet", json!({"steps": steps}));
    let id = &said["_meta"]["airlock/pending"][0]["id"];
    id.as_str().expect("something is pending").to_owned()
}

/// The model asks for an apply, and the person gives this answer in the client.
#[track_caller]
fn answers(ann: &mut Client, id: &str, answer: Value, meanwhile: impl FnOnce()) -> Value {
    let arguments = json!({"action": "apply", "reason": "the model's", "id": id});
    let call = json!({"name": "resolve", "arguments": arguments});
    let stream = BufReader::new(ann.begin("tools/call", call));
    let mut messages = stream.lines().filter_map(|line| {
        let line = line.unwrap();
        serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok()
    });
    let asked = messages.next().unwrap();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    meanwhile();
    let said = json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer});
    assert_eq!(ann.post(&[], &said).status, 202);
    messages.next().unwrap()["result"].clone()
}

#[test]
fn what_happens_is_counted_by_how_it_ended() {
    let (store, folder) = (Store::new(), folder(&[]));
    let tokens = format!("ann:{ANN}\nprometheus:{PROMETHEUS}:metrics\n");
    let config = store.path().with_file_name("config.toml");
    let rules = "
        # What the host has not seen is asked about, and not refused by the next rule.
        [[rule]]\nname = 'unseen'\npaths = ['unseen']\nunverified = true\nthen = 'ask'
        [[rule]]\nname = 'no pictures'\npaths = ['*.jpg']\nthen = 'refuse'
        [[rule]]\nname = 'notes'\npaths = ['*.txt']\nthen = 'allow'";
    fs::write(&config, rules).unwrap();
    let (config, puppet) = (config.to_str().unwrap(), guest("puppet"));
    let args = ["--config", config, "--timeout", "3", &puppet];
    let web = start(&store, folder.path(), &tokens, &args);
    let before = numbers(&web);
    let is_zero = |(name, value): (&String, &f64)| {
        let is_told = ["airlock_build_info", "airlock_connections_open"];
        *value == 0.0 || is_told.iter().any(|it| name.starts_with(it))
    };
    assert!(before.iter().all(is_zero), "{before:?}");
    let version = format!(
        "airlock_build_info{{version=\"{}\"}}",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(before[&version], 1.0);

    let mut ann = web.session(ANN, asks());
    let id = pushed(&mut ann, writes("a.txt"));
    assert_eq!(ann.resolve("apply", Some(&id))["isError"], false);
    let id = pushed(&mut ann, writes("a.jpg"));
    assert_eq!(ann.resolve("apply", Some(&id))["isError"], true);
    assert_eq!(ann.resolve("apply", Some(&id))["isError"], true);
    let open = "airlock_questions_open";
    let id = pushed(&mut ann, writes("a.md"));
    let is_asked = || assert_eq!(numbers(&web)[open], 1.0);
    let declined = answers(&mut ann, &id, json!({"action": "decline"}), is_asked);
    assert_eq!(declined["isError"], true, "{declined}");
    assert_eq!(ann.resolve("discard", Some(&id))["isError"], false);
    let id = pushed(&mut ann, json!([{"do": "failed", "message": "no way"}]));
    let accept = json!({"action": "accept", "content": {"decision": "apply"}});
    let failed = answers(&mut ann, &id, accept, || {});
    assert_eq!(failed["isError"], true, "{failed}");
    let fails = json!([{"do": "failed", "message": "no"}]);
    assert_eq!(ann.call("puppet", json!({"steps": fails}))["isError"], true);
    let spins = json!([{"do": "spin"}]);
    assert_eq!(ann.call("puppet", json!({"steps": spins}))["isError"], true);
    // Without a token.
    assert_eq!(web.client("wrong").post(&[], &json!({})).status, 401);

    let after = numbers(&web);
    for (name, expected) in [
        ("airlock_tool_calls_total{outcome=\"ok\"}", 4.0),
        ("airlock_tool_calls_total{outcome=\"error\"}", 1.0),
        ("airlock_tool_calls_total{outcome=\"timed_out\"}", 1.0),
        ("airlock_tool_calls_total{outcome=\"cancelled\"}", 0.0),
        ("airlock_tool_call_duration_seconds_count", 6.0),
        (
            "airlock_tool_call_duration_seconds_bucket{le=\"+Inf\"}",
            6.0,
        ),
        ("airlock_actions_pushed_total", 4.0),
        (
            "airlock_decisions_total{operation=\"apply\",outcome=\"applied\"}",
            1.0,
        ),
        (
            "airlock_decisions_total{operation=\"apply\",outcome=\"failed\"}",
            1.0,
        ),
        (
            "airlock_decisions_total{operation=\"apply\",outcome=\"refused\"}",
            2.0,
        ),
        (
            "airlock_decisions_total{operation=\"apply\",outcome=\"declined\"}",
            1.0,
        ),
        (
            "airlock_decisions_total{operation=\"discard\",outcome=\"discarded\"}",
            1.0,
        ),
        (
            "airlock_http_requests_total{method=\"POST\",status=\"4xx\"}",
            1.0,
        ),
        (open, 0.0),
        ("airlock_conversations_open", 1.0),
    ] {
        assert_eq!(after.get(name), Some(&expected), "{name}: {after:#?}");
    }
    assert!(after["airlock_tool_call_duration_seconds_sum"] >= 3.0);
    assert!(after["airlock_http_requests_total{method=\"POST\",status=\"2xx\"}"] >= 14.0);
    // The one that scrapes.
    assert!(after["airlock_connections_open"] >= 1.0);
    assert!(after.contains_key("airlock_plugin_instances_live"));
    // Whatever a client calls itself or its tools, the series are the same.
    let none = ann.request("tools/call", json!({"name": "\"}\n1", "arguments": {}}));
    assert_eq!(none["error"]["code"], -32602, "{none}");
    let names = |numbers: &BTreeMap<String, f64>| numbers.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&numbers(&web)), names(&before));
}
