//! Actions to push, as the generator names them: a few values for each field, odd ones among them.

use airlock_model::actor::{Actor, DecidedBy, Evidence};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use airlock_model::digest::Digest;
use airlock_model::identity::WorkspaceIdentity;
use airlock_model::json::Json;
use airlock_model::pending::{ActionId, Decision, PendingAction, Resolution, SessionId};
use airlock_model::policy::{Policy, WorkspaceGrant};
use airlock_model::store::{NewAction, PendingStore, PluginBytes, Push};
use serde_json::{Map, Value, json};

/// In the order of their bytes, which is not that of a dictionary.
pub const SESSIONS: [&str; 3] = ["B-session", "a session", "ä/../session"];

pub const ACCOUNTS: [&str; 2] = ["/work/photos for Ana", ""];

pub const TEXTS: [&str; 5] = [
    "Rename: 2 files",
    "Prüfe „日本語“ 🦀",
    "it's a \"text\" with \\ %s $1 ? :name",
    " with\0zero and\ttab ",
    "",
];

/// The place of a value in one of the lists.
pub type Choice = usize;

/// What an action is pushed with.
#[derive(Debug, Clone)]
pub struct Spec {
    pub label: Choice,
    pub source_tool_name: Choice,
    pub details: Choice,
    pub has_reject: bool,
    pub guest_state: Option<Vec<u8>>,
    pub plugin: Choice,
    pub grants: Choice,
    pub workspace: Choice,
}

impl Spec {
    /// A durable action with nothing special about it.
    pub fn plain() -> Self {
        Self {
            label: 0,
            source_tool_name: 0,
            details: 0,
            has_reject: false,
            guest_state: Some(b"{}".to_vec()),
            plugin: 0,
            grants: 0,
            workspace: 0,
        }
    }

    /// The action that is pushed as the `number`th.
    pub fn action(&self, number: usize) -> PendingAction {
        let mut action = PendingAction::new(
            id(number),
            TEXTS[self.label],
            plugin(self.plugin).digest,
            plugin(self.plugin).name.clone(),
            grants(self.grants),
            SystemTime::UNIX_EPOCH + Duration::from_millis(1_760_000_000_123 + number as u64),
        );
        action.source_tool_name = TEXTS[self.source_tool_name].to_owned();
        action.source_is_own_tool = self.has_reject;
        action.details = details(self.details);
        action.has_reject = self.has_reject;
        action.durable = self.guest_state.is_some();
        action.workspace = workspace(self.workspace);
        action.workspace_identity = identity(self.workspace);
        let day = Duration::from_secs(24 * 3600);
        action.expires_at = self.has_reject.then(|| action.pushed_at + day);
        action
    }

    /// The same, as it is pushed.
    pub fn new_action(&self, number: usize) -> NewAction {
        NewAction {
            action: Arc::new(self.action(number)),
            guest_state: self.guest_state.clone(),
        }
    }

    /// Pushes it as the `number`th.
    pub async fn push(
        &self,
        store: &PendingStore,
        session: &SessionId,
        number: usize,
        capacity: usize,
    ) -> Result<(), airlock_model::store::StoreError> {
        let push = Push::new(session, Arc::new(self.action(number)), plugin(self.plugin))
            .with_guest_state(self.guest_state.clone())
            .with_capacity(capacity);
        store.stacks.push(push).await
    }
}

/// Of the `number`th action.
pub fn id(number: usize) -> ActionId {
    format!("0198c5f0-0000-7000-8000-{number:012}").into()
}

pub fn session(index: Choice) -> SessionId {
    SESSIONS[index].into()
}

pub const DETAILS: usize = 4;

fn details(choice: Choice) -> Option<Json> {
    let details = [
        None,
        Some(Value::Null),
        Some(
            json!({"files": ["a", "ü\u{0}"], "size": u64::MAX, "negative": -1, "share": 0.1, "deep": {"z": 1, "a": [null, {}]}}),
        ),
        Some(json!("a text")),
    ];
    details[choice]
        .as_ref()
        .map(|details| Json::of(details).unwrap())
}

pub const PLUGINS: usize = 2;

pub fn plugin(choice: Choice) -> &'static PluginBytes {
    static PLUGINS: LazyLock<[PluginBytes; 2]> = LazyLock::new(|| {
        [("one", vec![0; 100]), ("zwölf", (0..=255).collect())].map(
            |(name, bytes): (_, Vec<u8>)| PluginBytes {
                digest: Digest::of(&bytes),
                name: name.into(),
                bytes: bytes.into(),
            },
        )
    });
    &PLUGINS[choice]
}

pub const GRANTS: usize = 3;

fn grants(choice: Choice) -> Policy {
    [
        Policy::default(),
        Policy::read_only(),
        Policy::default().with_workspace(WorkspaceGrant::None),
    ][choice]
        .clone()
}

pub const WORKSPACES: usize = 4;

pub fn workspace(choice: Choice) -> Option<Arc<Path>> {
    let path: &[u8] = match choice {
        0 => return None,
        1 => b"/work/photos",
        2 => "/work/größe/写真 1".as_bytes(),
        // Any bytes but zero make a path.
        _ => b"/work/\xff\xfe\n",
    };
    Some(Path::new(OsStr::from_bytes(path)).into())
}

/// Of a workspace that was pushed by this version; one of an older version has none.
fn identity(workspace: Choice) -> Option<Arc<WorkspaceIdentity>> {
    let machine = json!({"id": "0123456789abcdef0123456789abcdef", "name": "büro-1"});
    let identity = match workspace {
        0 | 1 => return None,
        2 => json!({"machine": machine, "inode": u64::MAX, "born": -1}),
        _ => json!({"machine": machine, "file_system": u64::MAX, "inode": 2, "born": i64::MAX}),
    };
    Some(Arc::new(serde_json::from_value(identity).unwrap()))
}

/// The kind of an actor, a name, the evidence.
pub type Decider = (Choice, Choice, Choice);

pub const ACTORS: usize = 5;

/// What a decision comes with.
#[derive(Debug, Clone, Default)]
pub struct Reasons {
    pub reason: Choice,
    pub decided_by: Decider,
    pub extra: Choice,
}

pub const EXTRAS: usize = 3;

pub fn extra(choice: Choice) -> Option<Map<String, Value>> {
    let extra = match choice {
        0 => return None,
        1 => json!({}),
        _ => json!({"title": "Plan „A“\u{0}", "steps": [1, 2.5, null]}),
    };
    extra.as_object().cloned()
}

impl Reasons {
    pub fn resolution(&self, decision: Decision, id: Option<ActionId>) -> Resolution {
        let reason = TEXTS[self.reason];
        let mut resolution = Resolution::new(decision, reason);
        resolution.id = id;
        resolution.extra = extra(self.extra);
        resolution
    }

    pub fn decided_by(&self) -> DecidedBy {
        let (kind, name, evidence) = self.decided_by;
        let name = TEXTS[name];
        let actor = match kind {
            0 => Actor::Model,
            1 => Actor::person(name),
            2 => Actor::program(name),
            3 => Actor::Unknown {
                name: Some(name.into()),
            },
            _ => Actor::Unknown { name: None },
        };
        actor.with_evidence(Evidence::ALL[evidence])
    }
}
