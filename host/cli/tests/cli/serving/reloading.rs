//! SIGHUP: plugins and rules are read anew, and clients hear of it where the list of tools has
//! changed.

mod events;
mod grants;

use std::fs;
use std::process::Child;
use std::sync::mpsc::Receiver;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::{Calls, Server, asks, text, words};
use super::http::web::{ANN, BEN, DEADLINE, Web};
use crate::airlock::{Store, folder, guest, names, steps};
use crate::terminal::Terminal;
use events::Events;

const CHANGED: &str = "notifications/tools/list_changed";
const OF_PUPPET: [&str; 4] = ["puppet", "typed", "list_pending", "resolve"];
const OF_SDK_TOOLS: [&str; 5] = [
    "write_note",
    "count_down",
    "divide",
    "list_pending",
    "resolve",
];

/// A plugin's file, which becomes another's.
struct File(TempDir);

impl File {
    fn of(name: &str) -> Self {
        let file = Self(TempDir::new().unwrap());
        file.becomes(name);
        file
    }

    fn path(&self) -> String {
        let path = self.0.path().join("plugin.wasm");
        path.to_str().unwrap().to_owned()
    }

    fn becomes(&self, name: &str) {
        fs::copy(guest(name), self.path()).unwrap();
    }

    fn breaks(&self) {
        fs::write(self.path(), "no component any more").unwrap();
    }
}

#[test]
fn a_client_that_began_with_a_handshake_hears_of_other_tools_and_not_of_the_same() {
    let (store, folder, plugin) = (Store::new(), folder(&[]), File::of("puppet"));
    let (mut server, said) = Server::initialized(
        &store,
        folder.path(),
        &[&plugin.path()],
        "2025-11-25",
        json!({}),
    );
    assert_eq!(said["capabilities"]["tools"]["listChanged"], true, "{said}");
    assert_eq!(listed_at_once(&mut server), OF_PUPPET);
    hang_up(&server.child);
    told(
        &server.said,
        "reloaded: 1 plugin, and the rules; the list of tools is the same",
    );
    assert_eq!(listed_at_once(&mut server), OF_PUPPET);

    plugin.becomes("sdk_tools");
    hang_up(&server.child);
    assert_eq!(server.next()["method"], CHANGED);
    assert_eq!(listed_at_once(&mut server), OF_SDK_TOOLS);
    check_divides(&server.call("divide", division()));
    let gone = server.request("tools/call", json!({"name": "typed", "arguments": {}}));
    assert_eq!(gone["error"]["code"], -32602, "{gone}");

    plugin.breaks();
    hang_up(&server.child);
    let kept = told(&server.said, "not reloaded, and served as it was");
    assert!(kept.contains(&plugin.path()), "{kept}");
    told(&server.said, "the list of tools is the same");
    assert_eq!(listed_at_once(&mut server), OF_SDK_TOOLS);
    check_divides(&server.call("divide", division()));
    assert_eq!(server.end(), 0);
}

#[test]
fn a_subscription_tells_of_other_tools_and_ends_with_an_answer_when_the_server_does() {
    for by_signal in [false, true] {
        let (store, folder, plugin) = (Store::new(), folder(&[]), File::of("puppet"));
        let mut server = Server::stateless(&store, folder.path(), &[&plugin.path()], json!({}));
        assert_eq!(listed_at_once(&mut server), OF_PUPPET);
        let id = server.begin("subscriptions/listen", everything());
        check_acknowledged(&server.next(), id);
        // Whoever subscribes to nothing that there is hears of nothing.
        let other = json!({"notifications": {"promptsListChanged": true}});
        let deaf = server.begin("subscriptions/listen", other);
        let accepted = server.next();
        assert_eq!(accepted["params"]["notifications"], json!({}), "{accepted}");

        plugin.becomes("sdk_tools");
        hang_up(&server.child);
        check_changed(&server.next(), id);
        assert_eq!(listed_at_once(&mut server), OF_SDK_TOOLS);
        check_divides(&server.call("divide", division()));
        plugin.breaks();
        hang_up(&server.child);
        told(&server.said, "not reloaded, and served as it was");
        told(&server.said, "the list of tools is the same");
        assert_eq!(listed_at_once(&mut server), OF_SDK_TOOLS);

        if by_signal {
            kill_process(Pid::from_child(&server.child), Signal::TERM).unwrap()
        } else {
            server.close()
        }
        let mut ended = [server.next(), server.next()].map(|it| it["id"].as_u64().unwrap());
        ended.sort();
        assert_eq!(ended, [id, deaf]);
        assert_eq!(server.child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn who_subscribes_late_hears_of_what_changed_since_they_listed_the_tools() {
    let (store, folder, plugin) = (Store::new(), folder(&[]), File::of("puppet"));
    let mut server = Server::stateless(&store, folder.path(), &[&plugin.path()], json!({}));
    assert_eq!(listed_at_once(&mut server), OF_PUPPET);
    plugin.becomes("sdk_tools");
    hang_up(&server.child);
    told(&server.said, "the list of tools has changed");
    let id = server.begin("subscriptions/listen", everything());
    check_acknowledged(&server.next(), id);
    check_changed(&server.next(), id);
    assert_eq!(listed_at_once(&mut server), OF_SDK_TOOLS);
    let again = server.begin("subscriptions/listen", everything());
    check_acknowledged(&server.next(), again);
    assert_eq!(listed_at_once(&mut server), OF_SDK_TOOLS);
}

#[test]
fn what_is_pending_is_applied_by_the_bytes_that_pushed_it_also_while_somebody_is_asked() {
    let (store, folder, plugin) = (Store::new(), folder(&[]), File::of("puppet"));
    let args = [&*plugin.path()];
    let (mut server, _) = Server::initialized(&store, folder.path(), &args, "2025-11-25", asks());
    let by_old = json!([{"do": "text", "text": "by the old bytes"}]);
    let push = |label: &str| json!({"do": "push", "label": label, "apply": by_old, "quiet": true});
    server.call("puppet", script(json!([push("First"), push("Second")])));

    let resolve = json!({"name": "resolve", "arguments": {"action": "apply", "reason": "so"}});
    let id = server.begin("tools/call", resolve.clone());
    let asked = server.next();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    plugin.becomes("sdk_tools");
    hang_up(&server.child);
    assert_eq!(server.next()["method"], CHANGED);
    let open = store.json(folder.path(), &["pending", "--all"]);
    let top = open["pending"][0]["id"].clone();
    let yes = json!({"action": "accept", "content": {"decision": "apply", "action": top}});
    let answer = |asked: &Value| json!({"jsonrpc": "2.0", "id": asked["id"], "result": yes});
    server.send(&answer(&asked));
    let applied = server.answer(id);
    assert!(
        text(&applied["result"]).contains("by the old bytes"),
        "{applied}"
    );

    assert_eq!(listed_at_once(&mut server), OF_SDK_TOOLS);
    let id = server.begin("tools/call", resolve);
    let asked = server.next();
    server.send(&answer(&asked));
    let applied = server.answer(id);
    assert!(
        text(&applied["result"]).contains("by the old bytes"),
        "{applied}"
    );
}

#[test]
fn the_operators_file_says_anew_what_is_served_and_by_which_rules_and_a_bad_one_says_nothing() {
    let (store, folder, plugin) = (Store::new(), folder(&["a.jpeg"]), File::of("sdk_tools"));
    let file = store.path().with_file_name("airlock-host.toml");
    let config = file.to_str().unwrap();
    let write = |text: &str| fs::write(&file, text).unwrap();
    write("plugins = ['batch-rename']\ndecide = 'model'");
    let (mut server, _) = Server::initialized(
        &store,
        folder.path(),
        &["--config", config],
        "2025-11-25",
        json!({}),
    );
    assert_eq!(
        listed_at_once(&mut server),
        ["batch_rename_preview", "list_pending", "resolve"]
    );
    server.preview();

    write("plugins = [");
    hang_up(&server.child);
    let problem = told(&server.said, config);
    assert!(problem.contains("airlock-host.toml:1"), "{problem}");
    told(
        &server.said,
        "nothing was reloaded: everything stays as it was",
    );
    assert_eq!(
        listed_at_once(&mut server),
        ["batch_rename_preview", "list_pending", "resolve"]
    );

    let missing = File::of("files");
    fs::remove_file(missing.path()).unwrap();
    let refusing = "[[rule]]\nname = 'no jpg'\npaths = ['*.jpg']\nthen = 'refuse'";
    write(&format!(
        "plugins = ['{}', 'batch-rename', '{}']\n{refusing}",
        plugin.path(),
        missing.path()
    ));
    hang_up(&server.child);
    let left_out = told(&server.said, "not loaded, and not served");
    assert!(left_out.contains(&missing.path()), "{left_out}");
    assert_eq!(server.next()["method"], CHANGED);
    let all = [
        "write_note",
        "count_down",
        "divide",
        "batch_rename_preview",
        "list_pending",
        "resolve",
    ];
    assert_eq!(listed_at_once(&mut server), all);
    // What was pushed before falls under them too.
    let refused = server.resolve("apply");
    assert!(text(&refused).contains("rule `no jpg`"), "{refused}");
    assert_eq!(names(&folder), ["a.jpeg"]);
}

#[test]
fn over_http_each_conversation_has_the_new_tools_and_both_eras_hear_of_it() {
    let (store, folder, plugin) = (Store::new(), folder(&[]), File::of("puppet"));
    let args = [&*plugin.path(), "--decide", "model"];
    let mut web = Web::start(&store, folder.path(), &args);
    let mut session = web.session(ANN, json!({}));
    let mut stateless = web.client(BEN);
    let push = json!({"do": "push", "label": "Old", "quiet": true,
        "apply": [{"do": "text", "text": "by the old bytes"}]});
    let mut ids = Vec::new();
    for client in [&mut session, &mut stateless] {
        assert_eq!(client.tools(), OF_PUPPET);
        let previewed = client.call("puppet", script(json!([push])));
        let id = &previewed["_meta"]["airlock/pending"][0]["id"];
        ids.push(id.as_str().unwrap().to_owned());
    }
    let mut standalone = Events::standalone(&web, &session);
    let mut subscribed = Events::of(stateless.begin("subscriptions/listen", everything()));
    let acknowledged = subscribed.next().unwrap();
    let id = acknowledged["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].clone();
    check_acknowledged(&acknowledged, id.as_u64().unwrap());

    plugin.becomes("sdk_tools");
    hang_up(&web.child);
    assert_eq!(standalone.next().unwrap()["method"], CHANGED);
    check_changed(&subscribed.next().unwrap(), id.as_u64().unwrap());
    // One that begins now too.
    let mut new = web.session(ANN, json!({}));
    for client in [&mut session, &mut stateless, &mut new] {
        assert_eq!(client.tools(), OF_SDK_TOOLS);
        check_divides(&client.call("divide", division()));
    }
    for client in [&mut session, &mut stateless] {
        let applied = client.resolve("apply", Some(&ids.remove(0)));
        assert!(text(&applied).contains("by the old bytes"), "{applied}");
    }

    plugin.breaks();
    hang_up(&web.child);
    let kept = told(&web.said, "not reloaded, and served as it was");
    assert!(kept.contains(&plugin.path()), "{kept}");
    told(&web.said, "the list of tools is the same");
    for client in [&mut session, &mut stateless, &mut new] {
        assert_eq!(client.tools(), OF_SDK_TOOLS);
        check_divides(&client.call("divide", division()));
    }

    kill_process(Pid::from_child(&web.child), Signal::TERM).unwrap();
    let ended = subscribed.next().expect("an answer at the end");
    assert_eq!(
        (&ended["id"], &ended["result"]["resultType"]),
        (&id, &json!("complete"))
    );
    assert_eq!((subscribed.next(), standalone.next()), (None, None));
    assert_eq!(web.child.wait().unwrap().code(), Some(0));
}

#[test]
fn on_a_terminal_that_is_still_there_it_goes_on() {
    let (folder, plugin) = (folder(&[]), File::of("puppet"));
    let args = ["serve", "--http", "127.0.0.1:0", &plugin.path()];
    let mut terminal = Terminal::run(folder.path(), &args);
    terminal.sees("token: ");
    let pid = Pid::from_raw(terminal.0.get_process().pid().as_raw()).unwrap();
    plugin.becomes("sdk_tools");
    kill_process(pid, Signal::HUP).unwrap();
    terminal.sees("the list of tools has changed");
    terminal.is_killed();
}

fn hang_up(server: &Child) {
    kill_process(Pid::from_child(server), Signal::HUP).unwrap();
}

/// The next line of standard error that has this.
#[track_caller]
fn told(said: &Receiver<String>, part: &str) -> String {
    loop {
        let line = said.recv_timeout(DEADLINE);
        let line = line.unwrap_or_else(|error| panic!("{part:?} was not said: {error}"));
        if line.contains(part) {
            return line;
        }
    }
}

/// The names of the tools, where nothing is said before them.
#[track_caller]
fn listed_at_once(server: &mut Server) -> Vec<String> {
    let id = server.begin("tools/list", json!({}));
    let listed = server.next();
    assert_eq!(listed["id"], id, "{listed}");
    let tools = listed["result"]["tools"].as_array().unwrap().iter();
    let names = tools.map(|it| it["name"].as_str().unwrap().to_owned());
    names.collect()
}

/// The params of a subscription to all that there may be.
fn everything() -> Value {
    json!({"notifications": {
        "toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["file:///a"],
    }})
}

#[track_caller]
fn check_acknowledged(message: &Value, id: u64) {
    assert_eq!(
        message["method"], "notifications/subscriptions/acknowledged",
        "{message}"
    );
    let accepted = &message["params"]["notifications"];
    assert_eq!(*accepted, json!({"toolsListChanged": true}), "{message}");
    check_of(message, id);
}

#[track_caller]
fn check_changed(message: &Value, id: u64) {
    assert_eq!(message["method"], CHANGED, "{message}");
    check_of(message, id);
}

#[track_caller]
fn check_of(message: &Value, id: u64) {
    let said = &message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert_eq!(*said, id, "{message}");
}

fn division() -> Value {
    json!({"dividend": 42, "divisor": 6})
}

#[track_caller]
fn check_divides(result: &Value) {
    assert_eq!(words(result), "7", "{result}");
}

fn script(script: Value) -> Value {
    serde_json::from_str(&steps(script)).unwrap()
}
