//! Which hosts are this machine, so that plain HTTP is allowed.
//!
//! The names are `localhost`, `127.0.0.1` and `[::1]`, as they are written: no name is looked up,
//! so that an answer of a name server can't switch encryption off.

use url::Url;

/// Whether `host`, with or without a port, is this machine.
pub(crate) fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    matches!(name, "127.0.0.1" | "[::1]") || name.eq_ignore_ascii_case("localhost")
}

/// Whether the host of `url` is this machine.
pub(crate) fn is_local_url(url: &Url) -> bool {
    url.host_str().is_some_and(is_local)
}

/// Whether a request may go to `url`: it is encrypted, or it stays on this machine.
pub(crate) fn is_safe(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_local_url(url))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_local() {
        for host in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1",
            "127.0.0.1:5000",
            "[::1]",
            "[::1]:80",
        ] {
            assert!(is_local(host), "{host}");
        }
        for host in [
            "127.0.0.2",
            "localhost.example.com",
            "x.localhost",
            "[::2]",
            "::1",
            "0.0.0.0",
            "",
            ":80",
        ] {
            assert!(!is_local(host), "{host}");
        }
    }
}
