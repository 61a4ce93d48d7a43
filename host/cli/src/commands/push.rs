//! `airlock push`: publishes a component in a registry.

use std::path::PathBuf;

use airlock_desk::fetching::{bytes_of, file_at, signatures_of};
use airlock_desk::signing::is_about_another;
use airlock_host::{Limits, Plugin};
use airlock_registry::{Annotations, Client, OciReference, Options, annotation};
use airlock_render::{Block, Line, Role};

use crate::documents::installed::Pushed;
use crate::failure::{Exit, Failure};
use crate::load;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::Output;
use crate::terminal::progress::Progress;

/// The length of the longest fact's name.
const NAMES: usize = 9;

/// The arguments of the command.
pub struct Request {
    pub reference: OciReference,
    /// A file or folder.
    pub component: PathBuf,
}

pub async fn push(request: &Request, verbose: u8, out: &mut Output) -> Result<Exit, Failure> {
    let (interrupt, progress) = (Interrupt::watch(), Progress::new(verbose));
    let pushing = publish(request, &progress, out);
    let pushed = interrupt.token().run_until_cancelled(pushing).await;
    pushed.unwrap_or_else(|| Err(Failure::interrupted()))
}

async fn publish(
    request: &Request,
    progress: &Progress,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let file = file_at(&request.component)?;
    let signatures = signatures_of(&file)?;
    let bytes = bytes_of(&file)?;
    if let Some(stale) = signatures.iter().find(|it| is_about_another(it, &bytes)) {
        let message = format!(
            "{} is about other contents than {}",
            stale.place,
            file.display()
        );
        return Err(
            Failure::usage(message).with_hint("sign the component again, or remove that file")
        );
    }
    let engine = load::engine(Limits::default())?;
    let name = request.reference.repository().rsplit('/').next();
    let name = name.unwrap_or_default().to_owned();
    // A component that can't be loaded would be of no use.
    let loading = Plugin::from_bytes(&engine, name, bytes);
    let plugin = progress.during("Compiling…".to_owned(), loading).await?;
    let client = Client::new(Options::default()).map_err(airlock_desk::Error::from)?;
    let (component, annotations) = (plugin.source().bytes.clone(), annotations(&plugin));
    let publishing = client.publish(&request.reference, component, &annotations);
    let what = format!("Pushing to {}…", request.reference.host());
    let published = progress.during(what, publishing).await;
    let published = published.map_err(airlock_desk::Error::from)?;
    for signature in &signatures {
        let attaching = client.attach(
            &published.reference,
            signature.format,
            signature.bytes.clone(),
        );
        let what = format!("Attaching {}…", signature.place);
        let attached = progress.during(what, attaching).await;
        attached.map_err(airlock_desk::Error::from)?;
    }
    let line = Line::from("Pushed ").with_role(Role::Title, request.reference.to_string());
    let block = Block::from(line)
        .own_fact(NAMES, "manifest", &published.digest.to_string())
        .own_fact(NAMES, "component", &published.component.to_string())
        .own_fact(NAMES, "pinned", &published.reference.to_string());
    let block = signatures.iter().fold(block, |block, it| {
        block.own_fact(NAMES, "signature", &it.place)
    });
    out.show(&block);
    out.json(&Pushed {
        reference: request.reference.to_string(),
        pinned: published.reference.to_string(),
        manifest: published.digest.to_string(),
        digest: published.component.to_string(),
        signatures: signatures.into_iter().map(|it| it.place).collect(),
    });
    Ok(Exit::Done)
}

/// Returns the component's own metadata, under OCI's names.
fn annotations(plugin: &Plugin) -> Annotations {
    let facts = plugin.about().facts();
    let named = facts.filter_map(|(name, text)| {
        let key = match name {
            "name" => annotation::TITLE,
            "version" => annotation::VERSION,
            "description" => annotation::DESCRIPTION,
            "authors" => annotation::AUTHORS,
            "licenses" => annotation::LICENSES,
            "homepage" => annotation::HOMEPAGE,
            _ => return None,
        };
        Some((key.to_owned(), text.to_owned()))
    });
    named.collect()
}
