//! `airlock plugins`: lists the bundled plugins.

use airlock_desk::plugin::BundledKind;
use airlock_render::{Line, Role};

use crate::bundled::CATALOG;
use crate::documents::plugins::{BundledPlugin, BundledPlugins};
use crate::failure::{Exit, Failure};
use crate::terminal::output::Output;

pub fn list(out: &mut Output) -> Result<Exit, Failure> {
    let width = CATALOG
        .all()
        .iter()
        .map(|plugin| plugin.name.len())
        .max()
        .unwrap_or(0);
    for plugin in CATALOG.all() {
        let name = format!("{:width$}", plugin.name);
        let line = Line::new().with_role(Role::Title, name).with("  ");
        out.line(line.with(plugin.about).hanging(width + 2));
    }
    let plugins = CATALOG.all().iter().map(|plugin| {
        let (native, size) = match plugin.kind {
            BundledKind::Component { bytes, .. } => (None, Some(bytes.len())),
            BundledKind::Native(_) => (Some(true), None),
        };
        BundledPlugin {
            about: plugin.about,
            digest: plugin.kind.digest().to_string(),
            name: plugin.name,
            native,
            size,
        }
    });
    out.json(&BundledPlugins {
        plugins: plugins.collect(),
    });
    Ok(Exit::Done)
}
