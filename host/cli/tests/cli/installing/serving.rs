//! Installed plugins in a server.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{Place, SAY};
use crate::airlock::Store;
use crate::serving::client::{Calls, Server};

#[test]
fn a_server_has_a_plugin_by_its_name_and_takes_its_update_on_a_hangup() {
    let place = Place::new();
    let file = place.tools("search", SAY);
    place.done(&["install", &file, "--yes"]);
    fs::write(place.config(), "plugins = ['search']\n").unwrap();
    let (store, config) = (Store::new(), place.config());
    let args = ["--config", config.to_str().unwrap()];
    let version = "2025-11-25";
    let (mut server, _) =
        Server::initialized(&store, &place.workspace(), &args, version, json!({}));
    let described = |server: &mut Server| {
        let listed = server.request("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        let said = tools.iter().find(|it| it["name"] == "say").unwrap();
        said["description"].as_str().unwrap().to_owned()
    };
    assert!(described(&mut server).contains("Says something."));

    // Without an update, another component at the reference changes nothing.
    place.tools("search", &SAY.replace("Says something.", "Says anything."));
    let hang_up = |server: &Server| {
        kill_process(Pid::from_child(&server.child), Signal::HUP).unwrap();
    };
    let heard = |server: &Server, part: &str| {
        let mut lines = server.said.iter();
        assert!(lines.any(|it| it.contains(part)), "{part}");
    };
    hang_up(&server);
    heard(&server, "the list of tools is the same");
    assert!(described(&mut server).contains("Says something."));

    place.done(&["update", "--yes"]);
    hang_up(&server);
    heard(&server, "the list of tools has changed");
    assert_eq!(server.next()["method"], "notifications/tools/list_changed");
    assert!(described(&mut server).contains("Says anything."));
    assert_eq!(server.end(), 0);
}

#[test]
fn a_server_that_lost_a_plugin_reloads_nothing() {
    let place = Place::new();
    let file = place.tools("search", SAY);
    place.done(&["install", &file, "--grant", "read=docs/"]);
    let (store, config) = (Store::new(), place.config());
    let args = ["search", "--config", config.to_str().unwrap()];
    let version = "2025-11-25";
    let (mut server, _) =
        Server::initialized(&store, &place.workspace(), &args, version, json!({}));
    place.done(&["uninstall", "search"]);
    kill_process(Pid::from_child(&server.child), Signal::HUP).unwrap();
    let mut lines = server.said.iter();
    assert!(lines.any(|it| it.contains("nothing was reloaded")));
    // Its grant counts as before: it may not change this.
    let kept = server.call("keep", json!({"file": "docs/a", "text": "x"}));
    assert!(kept.to_string().contains("error"), "{kept:#}");
    let pending = server.call("list_pending", json!({}));
    assert!(!pending.to_string().contains("docs/a"), "{pending:#}");
    assert_eq!(server.end(), 0);
}

#[test]
fn a_server_reports_a_plugin_that_lacks_a_signature_by_now_and_serves_no_update_of_it() {
    let place = Place::new();
    let file = place.tools("search", SAY);
    place.done(&["install", &file, "--yes"]);
    let (store, config) = (Store::new(), place.config());
    let args = ["search", "--config", config.to_str().unwrap()];
    let version = "2025-11-25";
    let (mut server, _) =
        Server::initialized(&store, &place.workspace(), &args, version, json!({}));
    let key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
    let required = format!("[[require]]\nsigned-by = [{{ minisign = '{key}' }}]\n");
    fs::write(place.config(), required).unwrap();
    kill_process(Pid::from_child(&server.child), Signal::HUP).unwrap();
    let mut lines = server.said.iter();
    assert!(lines.any(|it| it.contains("search is unsigned, and must be signed by")));
    let said = server.call("say", json!({"text": "hello"}));
    assert!(said.to_string().contains("hello"), "{said:#}");
    assert_eq!(server.end(), 0);
    // It doesn't start again.
    let ran = place.airlock(&["serve", "search"]).run();
    assert_eq!(ran.code, 3, "{ran:#?}");
}
