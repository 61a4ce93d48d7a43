//! `airlock plugins`: the bundled ones.

use airlock_host::Digest;
use serde_json::json;

use crate::bundled;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::style::{BOLD, paint};

pub fn list(out: &mut Output) -> Result<Exit, Failure> {
    let width = bundled::ALL
        .iter()
        .map(|plugin| plugin.name.len())
        .max()
        .unwrap_or(0);
    for plugin in bundled::ALL {
        let name = paint(BOLD, format_args!("{:width$}", plugin.name));
        out.line(format_args!("{name}  {}", plugin.about));
    }
    let described = bundled::ALL.iter().map(|plugin| {
        json!({
            "name": plugin.name,
            "about": plugin.about,
            "size": plugin.component.len(),
            "digest": Digest::of(plugin.component).to_string(),
        })
    });
    out.json(&json!({ "plugins": described.collect::<Vec<_>>() }));
    Ok(Exit::Done)
}
