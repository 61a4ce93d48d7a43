//! `airlock plugins`: lists the plugins that have a name: bundled and installed ones.

use airlock_desk::configuration::OperatorFiles;
use airlock_desk::lock::Installed;
use airlock_desk::plugin::{Bundled, BundledKind};
use airlock_render::{Block, Line, Role};

use crate::bundled::CATALOG;
use crate::commands::installed;
use crate::documents::plugins::{NamedPlugin, NamedPlugins};
use crate::failure::{Exit, Failure};
use crate::terminal::output::Output;

pub fn list(files: &OperatorFiles, out: &mut Output) -> Result<Exit, Failure> {
    let installed = installed::all(files)?;
    let bundled = CATALOG.all().iter().map(of_bundled);
    let plugins: Vec<_> = bundled.chain(installed.iter().map(of_installed)).collect();
    let width = plugins.iter().map(|it| it.name.len()).max().unwrap_or(0);
    for plugin in &plugins {
        let name = format!("{:width$}", plugin.name);
        let line = Line::new().with_role(Role::Title, name).with("  ");
        let line = match plugin.signers {
            // Its publisher wrote it.
            Some([]) => line
                .with("(unsigned) ")
                .with_quoted(Role::Plain, plugin.about),
            Some(_) => line.with_quoted(Role::Plain, plugin.about),
            None => line.with(plugin.about),
        };
        out.show(&Block::from(line.hanging(width + 2)));
    }
    out.json(&NamedPlugins { plugins });
    Ok(Exit::Done)
}

fn of_bundled(plugin: &Bundled) -> NamedPlugin<'_> {
    let (native, size) = match plugin.kind {
        BundledKind::Component { bytes, .. } => (None, Some(bytes.len())),
        BundledKind::Native(_) => (Some(true), None),
    };
    NamedPlugin {
        about: plugin.about,
        digest: plugin.kind.digest().to_string(),
        name: plugin.name,
        native,
        reference: None,
        signers: None,
        size,
    }
}

fn of_installed(plugin: &Installed) -> NamedPlugin<'_> {
    let entry = &plugin.entry;
    let label = entry.facts.tools.first().map(|tool| &*tool.label);
    NamedPlugin {
        about: (entry.facts.about.description.as_deref())
            .or(label)
            .unwrap_or_default(),
        digest: entry.digest.to_string(),
        name: entry.name.as_str(),
        native: None,
        reference: Some(entry.reference.to_string()),
        signers: Some(&entry.signed_by),
        size: None,
    }
}
