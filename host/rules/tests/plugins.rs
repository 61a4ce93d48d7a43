//! Which plugin a rule is about.

use airlock_model::digest::Digest;
use airlock_model::effects::{Change, ChangeKind, Effects};
use airlock_rules::{Empty, PluginName, Rule, RuleSet, Rules, Subject, Verdict, resolve_plugins};
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    rule: Vec<Rule>,
}

fn rules(text: &str) -> Rules {
    let mut rules = toml::from_str::<File>(text).unwrap().rule;
    let problems = resolve_plugins(&mut rules, |plugin| match plugin {
        PluginName::Digest(digest) => Ok(*digest),
        PluginName::Bundled(name) if name == "batch-rename" => Ok(Digest::of(b"its bytes")),
        PluginName::File(path) if path == "plugins/mine.wasm" => Ok(Digest::of(b"my bytes")),
        PluginName::Bundled(name) | PluginName::File(name) => Err(format!("no {name}")),
    });
    assert_eq!(problems, [""; 0]);
    let operator = RuleSet {
        rules,
        ..RuleSet::default()
    };
    Rules::new(operator, RuleSet::default(), [])
}

#[test]
fn a_rule_about_a_plugin_is_about_its_bytes_however_they_are_named() {
    let check = |plugin: &str, bytes: &[u8], expected: Verdict| {
        let text = format!("[[rule]]\nname = 'no'\nplugins = ['{plugin}']\nthen = 'refuse'");
        let effects = Effects::verified(vec![Change::new(ChangeKind::Modified, "a")]);
        let subject = Subject {
            tool: "rename",
            plugin: Digest::of(bytes),
            workspace: None,
            effects: Some(&effects),
        };
        let judgement = rules(&text).judge(&subject, Verdict::Ask, &Empty);
        assert_eq!(judgement.verdict, expected, "{plugin}");
    };
    use Verdict::{Ask, Refuse};
    let digest = Digest::of(b"its bytes").to_string();
    let capitals = digest.to_uppercase().replace("SHA", "sha");
    check(&digest, b"its bytes", Refuse);
    check(&capitals, b"its bytes", Refuse);
    check(&digest, b"my bytes", Ask);
    check("batch-rename", b"its bytes", Refuse);
    check("batch-rename", b"another file of that name", Ask);
    check("plugins/mine.wasm", b"my bytes", Refuse);
    check("plugins/mine.wasm", b"its bytes", Ask);
}

#[test]
fn what_no_plugin_can_be_is_told() {
    for name in ["''", "'sha256:12'", "'sha256:sha256:00'"] {
        let text = format!("rule = [{{name = 'a', then = 'ask', plugins = [{name}]}}]");
        assert!(toml::from_str::<File>(&text).is_err(), "{name}");
    }
}
