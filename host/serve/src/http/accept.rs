//! The media types that a client accepts.

use hyper::header::{ACCEPT, HeaderMap, HeaderValue};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Replaces wildcards in `Accept`, such as `*/*`, with both media types of the transport, which
/// looks for their exact names.
pub fn name_wildcards(headers: &mut HeaderMap) {
    let said: Vec<&str> = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|it| it.to_str().ok())
        .collect();
    let said = said.join(",");
    if !said.contains('*') {
        return;
    }
    let ranges: Vec<Range<'_>> = said.split(',').map(Range::of).collect();
    let named = [JSON, EVENTS]
        .into_iter()
        .filter(|it| is_accepted(it, &ranges));
    let named = named.collect::<Vec<_>>().join(", ");
    if let Ok(named) = HeaderValue::from_str(&named) {
        headers.insert(ACCEPT, named);
    }
}

struct Range<'a> {
    kind: &'a str,
    is_refused: bool,
}

impl<'a> Range<'a> {
    fn of(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default();
        let quality = parts.find_map(|it| {
            let (name, value) = it.split_once('=')?;
            let is_quality = name.trim().eq_ignore_ascii_case("q");
            is_quality.then_some(value.trim())
        });
        let is_refused = quality.is_some_and(|it| it.parse::<f32>() == Ok(0.0));
        Self { kind, is_refused }
    }

    fn is(&self, kind: &str) -> bool {
        self.kind.eq_ignore_ascii_case(kind)
    }
}

/// Returns whether the most specific matching range accepts this type, as HTTP specifies.
fn is_accepted(kind: &str, ranges: &[Range<'_>]) -> bool {
    let main = kind.split('/').next().unwrap_or_default();
    let family = format!("{main}/*");
    let found = [kind, &family, "*/*"].into_iter().find_map(|name| {
        let mut named = ranges.iter().filter(|it| it.is(name)).peekable();
        named.peek()?;
        Some(named.any(|it| !it.is_refused))
    });
    found.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_stand_for_the_types_of_the_transport() {
        let both = "application/json, text/event-stream";
        for (said, expected) in [
            (&["*/*"][..], both),
            (&["text/html, */*;q=0.8"], both),
            (&["application/json", "text/*"], both),
            (&["application/*, text/*"], both),
            (&["application/*"], "application/json"),
            (&["*/*, text/event-stream;q=0"], "application/json"),
            (&["*/*;q=0"], ""),
            (&["text/html"], "text/html"),
            (&[both], both),
        ] {
            let mut headers = HeaderMap::new();
            for it in said {
                headers.append(ACCEPT, HeaderValue::from_static(it));
            }
            name_wildcards(&mut headers);
            assert_eq!(headers[ACCEPT], expected, "{said:?}");
        }
    }
}
