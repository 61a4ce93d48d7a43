//! `airlock plugins`: lists the bundled plugins.

use airlock_desk::plugin::BundledKind;
use airlock_render::{Line, Role};
use serde_json::json;

use crate::bundled::CATALOG;
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
    let described = CATALOG.all().iter().map(|plugin| {
        let mut described = json!({
            "name": plugin.name,
            "about": plugin.about,
            "digest": plugin.kind.digest().to_string(),
        });
        match plugin.kind {
            BundledKind::Component { bytes, .. } => described["size"] = bytes.len().into(),
            BundledKind::Native(_) => described["native"] = true.into(),
        }
        described
    });
    out.json(&json!({ "plugins": described.collect::<Vec<_>>() }));
    Ok(Exit::Done)
}
