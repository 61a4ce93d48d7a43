//! `airlock plugins`: the bundled ones.

use serde_json::json;

use crate::bundled::{self, Form};
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
        let mut described = json!({
            "name": plugin.name,
            "about": plugin.about,
            "digest": plugin.form.digest().to_string(),
        });
        match plugin.form {
            Form::Component(bytes) => described["size"] = bytes.len().into(),
            #[cfg(feature = "ast-edit")]
            Form::Native(_) => described["native"] = true.into(),
        }
        described
    });
    out.json(&json!({ "plugins": described.collect::<Vec<_>>() }));
    Ok(Exit::Done)
}
