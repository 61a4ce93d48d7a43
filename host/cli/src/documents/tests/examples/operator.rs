//! Examples of the documents about plugins, rules, the configuration and the store.

use std::path::Path;

use airlock_desk::configuration::{Problem, Role};
use airlock_host::Policy;
use airlock_host::json::Json;
use airlock_host::tool::{RejectedTool, ToolDefinition, ToolTraits};
use airlock_host::wants::{About, Wants};
use airlock_rules::Verdict;
use airlock_signature::Signer;
use serde_json::json;

use super::super::Examples;
use super::digest;
use crate::documents::audit::*;
use crate::documents::config::*;
use crate::documents::doctor::*;
use crate::documents::error::ErrorDocument;
use crate::documents::installed::*;
use crate::documents::plugins::*;
use crate::documents::policy::*;
use crate::documents::store::*;
use crate::failure::{Exit, Failure};

pub fn add_plugins(examples: &mut Examples) {
    let plugin = |native, size| NamedPlugin {
        about: "Renames files",
        digest: digest().to_string(),
        name: "renamer",
        native,
        reference: None,
        signers: None,
        size,
    };
    let installed = NamedPlugin {
        reference: Some("ghcr.io/ann/renamer:1".to_owned()),
        signers: Some(&[]),
        ..plugin(None, None)
    };
    let plugins = vec![plugin(None, Some(1)), plugin(Some(true), None), installed];
    examples.add("plugins", &NamedPlugins { plugins });

    let fit = |differences| Fit {
        built_for: Some("0.1.0"),
        differences,
        world: "airlock:tool/custom-tool@0.1.0".to_owned(),
    };
    let mut about = About::default();
    about.set("version", b"1.2.0");
    let wants = Wants::from_json(r#"{"read":["**"],"change":["*.md"],"secrets":["TOKEN"]}"#);
    let wants = wants.expect("they can be wanted");
    let policy = Policy::default().limited_to(&wants);
    let facts = |native: bool| PluginFacts {
        digest: digest().to_string(),
        fit: (!native).then(|| fit(Vec::new())),
        grants: Grants {
            denied: policy.denied.clone(),
            description: policy.to_string(),
            workspace: policy.workspace,
        },
        imports: (!native).then_some(&[]),
        metadata: (!native).then_some(&about),
        native: native.then_some(true),
        size: (!native).then_some(1),
        state_version: native.then_some(3),
        wants: (!native).then_some(&wants),
        world_version: (!native).then_some("0.1.0"),
    };
    let tool = ToolDefinition {
        name: "rename".to_owned(),
        label: "Rename".to_owned(),
        description: "Renames files".to_owned(),
        parameters: Json::of_own(&json!({"type": "object"})),
        output: Some(Json::of_own(&json!(true))),
        traits: ToolTraits::default(),
    };
    let rejected = [RejectedTool::reserved("resolve")];
    for native in [false, true] {
        let inspection = Inspection {
            about: facts(native),
            name: "renamer",
            tools: vec![&tool],
            rejected: &rejected,
            signers: (!native).then_some(&[]),
        };
        examples.add("inspect", &inspection);
    }
    let failure = Failure::new(Exit::NotLoaded, "world-mismatch", "it doesn't fit");
    let difference = WorldDifference {
        component: None,
        item: "export",
        world: Some("func()"),
    };
    let misfit = ErrorDocument {
        error: failure.object(),
        fit: Some(fit(vec![difference])),
    };
    examples.add("inspect", &misfit);
}

pub fn add_installed(examples: &mut Examples) {
    let mut about = About::default();
    about.set("version", b"1.2.0");
    let wants = Wants::from_json(r#"{"read":["**"],"change":["*.md"]}"#);
    let wants = wants.expect("they can be wanted");
    let policy = Policy::default().limited_to(&wants);
    let signers = [
        Signer::Identity {
            identity: "ann@example.com".to_owned(),
            issuer: "https://accounts.example.com".to_owned(),
        },
        Signer::Key { key: digest() },
        Signer::Minisign {
            minisign: "RWQ".to_owned(),
        },
    ];
    let plugin = || InstalledPlugin {
        digest: digest().to_string(),
        grants: Grants {
            denied: policy.denied.clone(),
            description: policy.to_string(),
            workspace: policy.workspace,
        },
        manifest: Some(digest().to_string()),
        metadata: &about,
        name: "renamer",
        reference: "ghcr.io/ann/renamer:1".to_owned(),
        signers: &signers,
        tools: vec!["rename"],
        wants: Some(&wants),
    };
    let failure = Failure::host("the other one is gone");
    let report = |state, differences| Installs {
        errors: vec![failure.object()],
        plugins: vec![InstallReport {
            plugin: plugin(),
            differences,
            state,
        }],
    };
    examples.add("install", &report(InstallState::Installed, Vec::new()));
    let difference = "the tool \"rename\" is new".to_owned();
    examples.add("update", &report(InstallState::Updated, vec![difference]));
    let plugins = vec![plugin()];
    examples.add("list", &InstalledPlugins { plugins });
    let uninstalled = vec!["renamer"];
    examples.add("uninstall", &Uninstalled { uninstalled });
    let pushed = Pushed {
        digest: digest().to_string(),
        manifest: digest().to_string(),
        pinned: "ghcr.io/ann/renamer:1@sha256:0".to_owned(),
        reference: "ghcr.io/ann/renamer:1".to_owned(),
        signatures: vec!["renamer.wasm.minisig".to_owned()],
    };
    examples.add("push", &pushed);
    let checks = vec![
        Check::well("store", "it can be opened"),
        Check::note("cache", "there is none", "name one"),
        Check::wrong("workspace", &Failure::host("it is gone")),
    ];
    let version = "airlock 0.1.0".to_owned();
    let doctor = Doctor {
        checks,
        version,
        wasmtime: "48.0.0",
    };
    examples.add("doctor", &doctor);
}

pub fn add_audit(examples: &mut Examples) {
    let decisions = |count| Decisions {
        by: [("model", count - 1), ("rule", 1)].into(),
        count,
    };
    let activity = |interrupted| Activity {
        actions: 7,
        applied: decisions(3),
        denied: 1,
        discarded: decisions(2),
        files: ChangedFiles {
            count: 200_000,
            latest: vec![ChangedFile {
                at: Some("2026-11-30T17:00:00.000Z".to_owned()),
                path: "a.md".to_owned(),
                workspace: Some("/photos".to_owned()),
            }],
            more: true,
            unknown: 1,
        },
        first: Some("2026-11-29T17:00:00.000Z".to_owned()),
        interrupted,
        last: Some("2026-11-30T17:00:00.000Z".to_owned()),
        pending: 2,
    };
    let about = About::default();
    let policy = Policy::default();
    let plugin = InstalledPlugin {
        digest: digest().to_string(),
        grants: Grants {
            denied: Vec::new(),
            description: policy.to_string(),
            workspace: policy.workspace,
        },
        manifest: None,
        metadata: &about,
        name: "renamer",
        reference: "ghcr.io/ann/renamer:1".to_owned(),
        signers: &[],
        tools: vec!["rename"],
        wants: None,
    };
    let other = |kind| OtherPlugin {
        activity: Activity::default(),
        digest: digest().to_string(),
        kind,
        name: "other",
    };
    let kinds = [
        OtherKind::Bundled,
        OtherKind::NamedAsBundled,
        OtherKind::NamedDifferently,
        OtherKind::NotInstalled,
    ];
    let audit = Audit {
        findings: &[Check::note("plugin", "it is unused", "remove it")],
        others: kinds.map(other).into(),
        plugins: vec![AuditedPlugin {
            plugin,
            activity: activity(1),
            other_versions: Some(activity(0)),
            unused: false,
            unused_changes: vec!["docs/".to_owned()],
        }],
        runtime: &Runtime {
            advisories: vec![AdvisoryReport {
                package: "wasmtime".to_owned(),
                date: "2026-01-01".to_owned(),
                id: "RUSTSEC-2026-0000".to_owned(),
                patched: vec![">=48.0.1".to_owned()],
                title: "It crashes".to_owned(),
            }],
            cranelift: "0.135.0".to_owned(),
            known: 46,
            snapshot: "2026-08-21".to_owned(),
            wasmtime: "48.0.0".to_owned(),
        },
        store: "/pending.db",
    };
    examples.add("audit", &audit);
}

pub fn add_policy(examples: &mut Examples) {
    let totals = || TotalsReport {
        bytes: 1,
        deletions: 2,
        files: 3,
    };
    let paths = ["a".to_owned()];
    let judgement = |changes| JudgementReport {
        because: vec![ReasonReport {
            by: ReasonKind::WorkspaceRule,
            count: 1,
            name: Some("keep"),
            paths: &paths,
            text: "the rule `keep`".to_owned(),
            verdict: Verdict::AskAtTerminal,
        }],
        changes,
        verdict: Verdict::AskAtTerminal,
    };
    let of_action = PolicyExplanation::Action(ActionVerdicts {
        action: "id",
        budget: Some(BudgetReport {
            bytes: None,
            deletions: Some(1),
            files: None,
            spent: totals(),
        }),
        command_line: judgement(None),
        label: "Rename",
        model: judgement(Some(totals())),
    });
    examples.add("policy-explain", &of_action);
    let of_path = PolicyExplanation::Path(PathVerdicts {
        builds: true,
        command_line: judgement(None),
        control_files: vec![ControlFileReport {
            does: "can run commands on a commit",
            name: "git-hooks",
            reviewed: "2026-11-28",
            source: "https://git-scm.com",
        }],
        model: judgement(None),
        path: "a",
        workspace: Path::new("/photos"),
    });
    examples.add("policy-explain", &of_path);
}

pub fn add_config(examples: &mut Examples) {
    let path = Path::new("/a.toml");
    let problems = [Problem::at(path, "a = 1", Some(0..1), "unknown")];
    let notes = [Problem::of_file(path, "perhaps")];
    let setting = Setting::new("the default", 60.0);
    let check = ConfigCheck {
        files: vec![ConfigFile {
            found: true,
            notes: &notes,
            path,
            problems: &problems,
            whose: Role::User,
        }],
        settings: Some([("limits.timeout", &setting)].into()),
    };
    examples.add("config-check", &check);
}

pub fn add_store(examples: &mut Examples) {
    let stats = StoreStats {
        applied: 1,
        bytes: 2,
        discarded: 3,
        interrupted: 4,
        limit: None,
        originals: Some(OriginalsStats {
            applies: 2,
            bytes: 3,
            limit: 4,
            retention: "7d".to_owned(),
        }),
        lost: 5,
        pending: 6,
        pending_bytes: 7,
        plugin_bytes: 8,
        plugins: 9,
        resolving: 10,
        retention: "forever".to_owned(),
        schema: 11,
        sessions: 12,
        store: "/pending.db".to_owned(),
        unreadable: None,
    };
    examples.add("store-stats", &stats);
    let check = StoreCheck {
        problems: &["damaged".to_owned()],
        store: "/pending.db",
    };
    examples.add("store-check", &check);
    let (backup, bytes) = ("/copy.db", 1);
    examples.add("store-backup", &StoreBackup { backup, bytes });
    let (from, restored) = ("/copy.db", "/pending.db");
    examples.add("store-restore", &StoreRestore { from, restored });
    let retention = StoreRetention {
        retention: "1d".to_owned(),
        seconds: Some(86400),
    };
    examples.add("store-retention", &retention);
    examples.add("store-limit", &StoreLimit { limit: Some(1) });
    let prune = StorePrune {
        actions: 1,
        older_than: "1d".to_owned(),
        plugins: 2,
    };
    examples.add("store-prune", &prune);
    examples.add("store-forget", &StoreForget { forgotten: "id" });
}
