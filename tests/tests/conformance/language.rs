//! One language: where its component lies, and the plugin that it becomes.

use std::path::PathBuf;

use airlock_host::Plugin;
use airlock_tests::engine;
use tokio::sync::OnceCell;

pub struct Language {
    name: &'static str,
    plugin: OnceCell<Result<Plugin, String>>,
    upgraded: OnceCell<Result<Plugin, String>>,
}

impl Language {
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            plugin: OnceCell::new(),
            upgraded: OnceCell::new(),
        }
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn is_built(&self) -> bool {
        self.path().is_file()
    }

    /// The tool, loaded once for all cases.
    pub async fn plugin(&self) -> Result<Plugin, String> {
        let load = || async { self.load(&[]).await };
        self.plugin.get_or_init(load).await.clone()
    }

    /// The same tool under another digest.
    pub async fn upgraded(&self) -> Result<Plugin, String> {
        // A custom section named `v`.
        let load = || async { self.load(&[0, 2, 1, b'v']).await };
        self.upgraded.get_or_init(load).await.clone()
    }

    async fn load(&self, more: &[u8]) -> Result<Plugin, String> {
        let path = self.path();
        let mut bytes = std::fs::read(&path).map_err(|error| {
            let name = self.name;
            format!(
                "{}: {error}. Run tests/conformance/{name}/build",
                path.display()
            )
        })?;
        bytes.extend_from_slice(more);
        let plugin = Plugin::from_bytes(engine(), self.name, bytes)
            .await
            .map_err(|error| error.to_string())?;
        match plugin.rejected() {
            [] => Ok(plugin),
            rejected => Err(format!("tools were left out: {rejected:?}")),
        }
    }

    fn path(&self) -> PathBuf {
        airlock_tests::guests_folder()
            .join("conformance")
            .join(format!("{}.wasm", self.name))
    }
}
