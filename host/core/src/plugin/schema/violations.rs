//! Describes why a value doesn't match a schema.

use airlock_model::error::Violation;
use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;

use super::cut;

pub(super) fn violations(errors: &[ValidationError<'_>]) -> Vec<Violation> {
    let told = errors.iter().map(|error| Violation {
        path: cut(error.instance_path()),
        message: match mistaken_name(error, errors) {
            Some((name, missing)) => cut(&format_args!(
                "`{name}` is unknown; `{missing}` is missing, and may be meant"
            )),
            None => cut(error),
        },
    });
    told.collect()
}

/// Returns an unknown property and the only required one that is missing: models often use another
/// tool's name for it.
fn mistaken_name<'e>(
    error: &'e ValidationError<'_>,
    errors: &'e [ValidationError<'_>],
) -> Option<(&'e str, &'e str)> {
    let ValidationErrorKind::AdditionalProperties { unexpected } = error.kind() else {
        return None;
    };
    let [name] = unexpected.as_slice() else {
        return None;
    };
    let here = errors
        .iter()
        .filter(|other| other.instance_path() == error.instance_path());
    let mut missing = here.filter_map(|other| match other.kind() {
        ValidationErrorKind::Required { property } => property.as_str(),
        _ => None,
    });
    match (missing.next(), missing.next()) {
        (Some(only), None) => Some((name, only)),
        _ => None,
    }
}
