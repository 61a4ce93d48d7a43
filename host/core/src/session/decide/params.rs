//! The params of the tool `resolve`.

use std::sync::LazyLock;

use airlock_model::error::{Error, Violation};
use airlock_model::json;
use airlock_model::limits::Limits;
use airlock_model::pending::{ActionId, Decision, Resolution};
use airlock_model::tool::resolve_tool;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::plugin::{Checks, ParamsSchema};
use crate::session::review::Reviewed;
use crate::workspace::check_selection;

/// The tool's name.
pub(in crate::session) const NAME: &str = "resolve";

/// Reads the tool's params.
pub(in crate::session) async fn parse(
    params: &Value,
    limits: &Limits,
    cancel: Option<&CancellationToken>,
) -> Result<Resolution, Error> {
    static SCHEMA: LazyLock<ParamsSchema> =
        LazyLock::new(|| ParamsSchema::new(resolve_tool().parameters, &Checks::new()));
    SCHEMA.check(NAME, params, limits, cancel).await?;
    let text = |key| params.get(key).and_then(Value::as_str);
    let reason = text("reason").unwrap_or_default();
    let mut resolution = match text("action") {
        Some("apply") => Resolution::apply(reason),
        _ => Resolution::discard(reason),
    };
    resolution.extra = params.get("extra").and_then(Value::as_object).cloned();
    resolution.id = text("id").map(ActionId::from);
    Ok(resolution)
}

/// Refuses a decision that is too long, or with extra data that is nested too deep for recursive
/// code.
pub(super) fn acceptable(resolution: Resolution, limits: &Limits) -> Result<Resolution, Error> {
    let resolution = with_flat_extra(resolution)?;
    check_reason(&resolution.reason, limits)?;
    let Some(extra) = &resolution.extra else {
        return Ok(resolution);
    };
    let bytes = serde_json::to_string(extra).map_or(0, |text| text.len());
    check_size("/extra", bytes, limits.details_bytes)?;
    Ok(resolution)
}

/// # Errors
/// [`Error::InvalidParams`] if the reason is longer than the limit.
pub(super) fn check_reason(reason: &str, limits: &Limits) -> Result<(), Error> {
    check_size("/reason", reason.len(), limits.reason_bytes)
}

/// Checks that the decision selects a part of this review that can be applied alone.
///
/// # Errors
/// [`Error::InvalidParams`].
pub(super) fn check_part(resolution: &Resolution, review: Option<&Reviewed>) -> Result<(), Error> {
    let selection = &resolution.selection;
    if selection.is_everything() || resolution.decision == Decision::Discard {
        return Ok(());
    }
    let effects = review.map(|review| &review.record.effects);
    let checked = match effects.filter(|effects| effects.verified) {
        _ if resolution.review.is_none() => Err("doesn't say which review it is about".to_owned()),
        None => Err("is about an action whose effects the host has not seen".to_owned()),
        Some(effects) => check_selection(selection, effects),
    };
    checked.map_err(|message| misfit("/selection", message))
}

fn check_size(path: &str, bytes: usize, limit: usize) -> Result<(), Error> {
    if bytes <= limit {
        Ok(())
    } else {
        Err(misfit(
            path,
            format!("is {bytes} bytes; the limit is {limit}"),
        ))
    }
}

fn with_flat_extra(mut resolution: Resolution) -> Result<Resolution, Error> {
    let Some(extra) = resolution.extra.take().map(Value::Object) else {
        return Ok(resolution);
    };
    let depth = json::check_depth(&extra);
    match (extra, depth) {
        (Value::Object(extra), Ok(())) => Ok(resolution.with_extra(extra)),
        (extra, depth) => {
            json::take_apart(extra);
            let message = depth.err().map(|it| it.to_string());
            Err(misfit("/extra", message.unwrap_or_default()))
        }
    }
}

fn misfit(path: &str, message: String) -> Error {
    Error::InvalidParams {
        tool: NAME.to_owned(),
        violations: vec![Violation {
            path: path.to_owned(),
            message,
        }],
    }
}
