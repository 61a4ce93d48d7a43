//! A workspace, and a session on it with `ast_edit`.

use airlock_tests::Tester;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::ast_edit;
use airlock_host::content::{CallOutcome, ResolutionOutcome};
use airlock_host::store::MemoryStore;
use airlock_host::{Error, Resolution, Session, SessionBuilder};
use serde_json::{Value, json};
use tempfile::TempDir;

pub struct Tree {
    pub session: Session,
    folder: TempDir,
}

impl Tree {
    /// With these files, each with what it holds.
    pub fn with(files: &[(&str, &str)]) -> Self {
        Self::open(files, |session| session)
    }

    /// With further settings of the session.
    pub fn open(
        files: &[(&str, &str)],
        settings: impl FnOnce(SessionBuilder) -> SessionBuilder,
    ) -> Self {
        let folder = TempDir::new().unwrap();
        let session = Session::builder()
            .model_decides()
            .workspace(folder.path())
            .bind(&ast_edit());
        let session = settings(session).open().unwrap();
        let tree = Self { session, folder };
        for (name, text) in files {
            tree.write(name, text);
        }
        tree
    }

    /// A second session on the same workspace and the same stack.
    pub fn again(&self, store: &Arc<MemoryStore>) -> Session {
        Session::builder()
            .model_decides()
            .id(self.session.id().clone())
            .workspace(self.folder.path())
            .store(store.clone())
            .bind(&ast_edit())
            .open()
            .unwrap()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// All files, hidden ones too, each with what it holds; not what commits keep.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        fn visit(folder: &Path, below: &str, found: &mut BTreeMap<String, Vec<u8>>) {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let name = format!("{below}{}", entry.file_name().display());
                let kind = entry.file_type().unwrap();
                if name == ".airlock" {
                    continue;
                }
                if kind.is_dir() {
                    visit(&entry.path(), &format!("{name}/"), found);
                } else if kind.is_file() {
                    found.insert(name, fs::read(entry.path()).unwrap());
                }
            }
        }
        let mut found = BTreeMap::new();
        visit(self.folder.path(), "", &mut found);
        found
    }

    pub async fn call(&self, params: Value) -> Result<CallOutcome, Error> {
        self.session.call("ast_edit", &params).await
    }

    /// One rewrite in the whole workspace.
    pub async fn edit(&self, pat: &str, out: &str) -> Result<CallOutcome, Error> {
        self.call(json!({"ops": [{"pat": pat, "out": out}]})).await
    }

    pub async fn apply(&self) -> Result<ResolutionOutcome, Error> {
        self.session
            .resolve(Resolution::apply("it is right"), Tester)
            .await
    }

    pub async fn discard(&self) {
        let discarded = self
            .session
            .resolve(Resolution::discard("no more"), Tester)
            .await;
        discarded.unwrap();
    }

    pub async fn pending(&self) -> usize {
        self.session.pending().await.unwrap().len()
    }

    /// The error of a call that has to fail, with nothing pushed and nothing written.
    #[track_caller]
    pub fn refused(&self, params: Value) -> impl Future<Output = String> {
        let before = self.files();
        async move {
            let error = self
                .call(params.clone())
                .await
                .expect_err(&params.to_string());
            assert_eq!(self.pending().await, 0, "{params}");
            assert_eq!(self.files(), before, "{params}");
            error.to_string()
        }
    }
}
