//! Resuming a stream that was cut off.

use hyper::header::{HeaderMap, HeaderValue};

const LAST_EVENT: &str = "last-event-id";

/// Asks the transport for the events after the last one that the client has. The transport would
/// start with the named event itself, and a person would be asked the same question again.
pub fn begin_after_last(headers: &mut HeaderMap) {
    let Some(next) = headers.get(LAST_EVENT).and_then(next) else {
        return;
    };
    headers.insert(LAST_EVENT, next);
}

/// Returns the id of the next event. The transport's ids are a number and, if the stream belongs to
/// a request, that request's number.
fn next(last: &HeaderValue) -> Option<HeaderValue> {
    let last = last.to_str().ok()?;
    let (number, request) = match last.split_once('/') {
        Some((number, request)) => (number, format!("/{request}")),
        None => (last, String::new()),
    };
    let next = number.parse::<usize>().ok()?.checked_add(1)?;
    HeaderValue::from_str(&format!("{next}{request}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_goes_on_after_the_last_event_that_its_client_has() {
        for (last, expected) in [
            ("0", "1"),
            ("9/4", "10/4"),
            // Other ids are left to the transport.
            ("", ""),
            ("x/4", "x/4"),
            ("-1", "-1"),
            ("18446744073709551615/4", "18446744073709551615/4"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(LAST_EVENT, HeaderValue::from_static(last));
            begin_after_last(&mut headers);
            assert_eq!(headers[LAST_EVENT], expected);
        }
        let mut none = HeaderMap::new();
        begin_after_last(&mut none);
        assert!(none.is_empty());
    }
}
