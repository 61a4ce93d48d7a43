//! The directories that a plugin's guests see.

use std::io;
use std::path::{Path, PathBuf};

use airlock_model::error::Error;

use crate::plugin::Plugin;
use crate::producer::ProducerContext;
use crate::workspace::{Roots, ScratchFolder, WorkspaceFolder};

/// Returns the host's directories for one plugin of a session.
pub(super) fn roots(plugin: &Plugin, context: &ProducerContext) -> Result<Roots, Error> {
    let ProducerContext {
        policy,
        workspace,
        session,
        ..
    } = context;
    let workspace = workspace.as_ref();
    let budget = plugin.engine().descriptors();
    let scratch_parent = match workspace {
        None => plugin.engine().scratch_parent().to_owned(),
        Some(workspace) => scratch_parent_outside(plugin, workspace)?,
    };
    Ok(Roots {
        workspace: workspace
            .filter(|_| policy.allows_workspace_read())
            .cloned(),
        spill: scratch_parent.clone(),
        scratch: ScratchFolder::inside(plugin.engine().scratch_roots(), scratch_parent),
        descriptors: session.tenant.descriptors(budget),
    })
}

/// Returns a parent directory outside the workspace. A scratch directory inside the workspace would
/// have two paths with different rules.
fn scratch_parent_outside(plugin: &Plugin, workspace: &WorkspaceFolder) -> Result<PathBuf, Error> {
    let parents = [
        plugin.engine().scratch_parent(),
        &std::env::temp_dir(),
        Path::new("/dev/shm"),
    ];
    workspace.outside(parents).ok_or_else(|| {
        let problem = "it contains the host's scratch directories; choose a directory further down";
        Error::workspace(workspace.path(), io::Error::other(problem))
    })
}
