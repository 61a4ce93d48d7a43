use proptest::prelude::*;

use super::*;

/// The reference that a text is read as, in one line.
fn read(text: &str) -> String {
    match text.parse::<Reference>() {
        Ok(Reference::Oci(oci)) => format!("oci {oci}"),
        Ok(Reference::Web(web)) => format!("web {web}"),
        Ok(Reference::Path(path)) => format!("path {}", path.display()),
        Err(error) => format!("error {error}"),
    }
}

const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[test]
fn oci_references_are_told_from_paths() {
    let pinned = format!("ghcr.io/ann/dedupe@{DIGEST}");
    let both = format!("ghcr.io/ann/dedupe:1@{DIGEST}");
    let same = [
        "ghcr.io/ann/dedupe:1",
        "ghcr.io/ann/dedupe",
        "ghcr.io/a/b/c/d:v1.0-rc.1_x",
        "127.0.0.1:5999/x",
        "localhost/x",
        "localhost:5000/ann/dedupe:1",
        "[::1]/x",
        "[::1]:5000/x:1",
        "host:1/x",
        "x.y/plugin.wasm",
        "docker.io/ann/dedupe",
        "ghcr.io/a__b/c-d.e--f:1",
        "xn--bcher-kva.example/x",
        &pinned,
        &both,
    ];
    for text in same {
        assert_eq!(read(text), format!("oci {text}"));
        assert_eq!(read(&format!("oci://{text}")), format!("oci {text}"));
        assert_eq!(read(&format!("OCI://{text}")), format!("oci {text}"));
    }
    assert_eq!(read("GHCR.IO/ann/x:V1"), "oci ghcr.io/ann/x:V1");
    assert_eq!(read("LocalHost/x"), "oci localhost/x");
    assert_eq!(read("oci://registry/x"), "oci oci://registry/x");
}

#[test]
fn paths_are_told_from_oci_references() {
    let paths = [
        "/",
        "/x",
        "./x",
        "../x",
        ".",
        "..",
        "./ghcr.io/x",
        "../ghcr.io/ann/dedupe:1",
        "/ghcr.io/x:1",
        "./127.0.0.1:5999/x",
        "./~/x",
        "./http://x",
        r"C:\tools\x.wasm",
        "c:/tools/x.wasm",
        r".\x",
        r"\\server\share\x.wasm",
        r"ghcr.io\x",
        "x.wasm",
        "X.WASM",
        "tools.toml",
        "dedupe-1.2.wasm",
        "a:b.wasm",
        "plugins/x.wasm",
        "plugins/a:b.wasm",
        "examples/c/counter",
        "plugins/",
        "ann/dedupe",
        "ordner/größe.wasm",
        "größe.wasm",
        "a b.wasm",
    ];
    for text in paths {
        assert_eq!(read(text), format!("path {text}"));
    }
}

#[test]
fn urls_are_encrypted_or_local() {
    let urls = [
        "https://example.com/x.wasm",
        "https://example.com:8443/x.wasm?version=1",
        "https://[2001:db8::1]/x",
        "http://localhost/x",
        "http://127.0.0.1:8000/x",
        "http://[::1]:8000/x",
    ];
    for text in urls {
        assert_eq!(read(text), format!("web {text}"));
    }
    assert_eq!(read("HTTPS://Example.COM/X"), "web https://example.com/X");
    assert_eq!(read("https://example.com"), "web https://example.com/");
}

#[test]
fn errors_say_what_to_write() {
    let not_a_tag = "a tag has at most 128 letters, digits, dots, dashes and underscores, and begins with a letter, a digit or an underscore";
    let parts = "its parts have letters and digits, with single dots, one or two underscores, or dashes between them";
    let labels = "a host name has labels of letters, digits and dashes, with dots between them";
    let cases = [
        ("", "the reference is empty: write HOST/REPOSITORY:TAG, a URL or a path".to_owned()),
        (" x.wasm", r#"" x.wasm" has spaces around it: leave them out"#.to_owned()),
        ("x\u{7}.wasm", "the reference has the control character U+0007: leave it out, or rename the file".to_owned()),
        ("./x\u{9b}1m", "the reference has the control character U+009B: leave it out, or rename the file".to_owned()),
        ("docker://ghcr.io/x", "docker:// is not supported: write oci://, https:// or a path".to_owned()),
        ("file:///x.wasm", "file:///x.wasm is a file URL: write the path itself, such as /home/ann/dedupe.wasm".to_owned()),
        ("file:x.wasm", "file:x.wasm is a file URL: write the path itself, such as /home/ann/dedupe.wasm".to_owned()),
        ("https:example.com/x", "the slashes after https: are missing: write https://".to_owned()),
        ("oci:ghcr.io/x", "the slashes after oci: are missing: write oci://".to_owned()),
        ("~/x.wasm", r#""~/x.wasm" begins with ~, which only a shell replaces: write the full path, or ./~/x.wasm"#.to_owned()),
        ("dedupe", r#""dedupe" names no registry: write HOST/dedupe for a registry, or ./dedupe for a file"#.to_owned()),
        ("dedupe:1", r#""dedupe:1" names no registry: write HOST/dedupe:1 for a registry, or ./dedupe:1 for a file"#.to_owned()),
        ("ann/dedupe:1", r#""ann/dedupe:1" names no registry: write HOST/ann/dedupe:1 for a registry, or ./ann/dedupe:1 for a file"#.to_owned()),
        ("ghcr.io", r#""ghcr.io" names no registry: write HOST/ghcr.io for a registry, or ./ghcr.io for a file"#.to_owned()),
        ("ghcr.io/", r#""" is not a repository's name: it is empty"#.to_owned()),
        ("ghcr.io/:1", r#""" is not a repository's name: it is empty"#.to_owned()),
        ("ghcr.io//x", r#""/x" is not a repository's name: a part between two slashes is empty"#.to_owned()),
        ("ghcr.io/x/", r#""x/" is not a repository's name: a part between two slashes is empty"#.to_owned()),
        ("ghcr.io/Ann/Dedupe", r#""Ann/Dedupe" is not a repository's name: it has capitals; write "ann/dedupe""#.to_owned()),
        ("ghcr.io/ännchen", format!(r#""ännchen" is not a repository's name: {parts}"#)),
        ("ghcr.io/a..b", format!(r#""a..b" is not a repository's name: {parts}"#)),
        ("ghcr.io/../x", format!(r#""../x" is not a repository's name: {parts}"#)),
        ("ghcr.io/-x", format!(r#""-x" is not a repository's name: {parts}"#)),
        ("ghcr.io/a b", format!(r#""a b" is not a repository's name: {parts}"#)),
        ("ghcr.io/x?y=1", format!(r#""x?y=1" is not a repository's name: {parts}"#)),
        ("ghcr.io/x:", format!(r#""" is not a tag: {not_a_tag}"#)),
        ("ghcr.io/x:-1", format!(r#""-1" is not a tag: {not_a_tag}"#)),
        ("ghcr.io/x:1:2", format!(r#""1:2" is not a tag: {not_a_tag}"#)),
        ("ghcr.io/x:1/y", format!(r#""1/y" is not a tag: {not_a_tag}"#)),
        ("ghcr.io/x@", r#""" is not a digest: write @sha256: and 64 hexadecimal digits"#.to_owned()),
        ("ghcr.io/x@sha256:0", r#""sha256:0" is not a digest: write @sha256: and 64 hexadecimal digits"#.to_owned()),
        (".hidden/x.wasm", format!(r#"".hidden" is not a registry's host: {labels}; for a file, write ./.hidden/x.wasm"#)),
        ("a..b/x", format!(r#""a..b" is not a registry's host: {labels}; for a file, write ./a..b/x"#)),
        ("a_b.c/x", format!(r#""a_b.c" is not a registry's host: {labels}; for a file, write ./a_b.c/x"#)),
        ("ann@ghcr.io/x", format!(r#""ann@ghcr.io" is not a registry's host: {labels}; for a file, write ./ann@ghcr.io/x"#)),
        ("bücher.example/x", r#""bücher.example" is not a registry's host: it has characters outside of ASCII; write its xn-- form; for a file, write ./bücher.example/x"#.to_owned()),
        ("127.1:5000/x", r#""127.1:5000" is not a registry's host: an IPv4 address has four numbers from 0 to 255; for a file, write ./127.1:5000/x"#.to_owned()),
        ("::1/x", r#""::1" is not a registry's host: an IPv6 address is written in brackets; for a file, write ./::1/x"#.to_owned()),
        ("[::1/x", r#""[::1" is not a registry's host: the closing bracket is missing; for a file, write ./[::1/x"#.to_owned()),
        ("[::x]/x", r#""[::x]" is not a registry's host: there is no IPv6 address in the brackets; for a file, write ./[::x]/x"#.to_owned()),
        ("[::1]x/x", r#""[::1]x" is not a registry's host: a port is a number from 1 to 65535; for a file, write ./[::1]x/x"#.to_owned()),
        ("host:/x", r#""host:" is not a registry's host: a port is a number from 1 to 65535; for a file, write ./host:/x"#.to_owned()),
        ("host:0/x", r#""host:0" is not a registry's host: a port is a number from 1 to 65535; for a file, write ./host:0/x"#.to_owned()),
        ("host:65536/x", r#""host:65536" is not a registry's host: a port is a number from 1 to 65535; for a file, write ./host:65536/x"#.to_owned()),
        ("oci:///x", r#""" is not a registry's host: it is empty; for a file, write .//x"#.to_owned()),
        ("http://example.com/x", "http://example.com/x is not encrypted: write https://; http:// is for localhost alone".to_owned()),
        ("http://localhost.example.com/x", "http://localhost.example.com/x is not encrypted: write https://; http:// is for localhost alone".to_owned()),
        ("https://ann:secret@example.com/x", r#""https://ann:secret@example.com/x" is not a URL: it has a name or a password before the host; leave them out"#.to_owned()),
        ("https://example.com/x#y", r#""https://example.com/x#y" is not a URL: it has a # and a fragment; leave them out"#.to_owned()),
        ("https://", r#""https://" is not a URL: empty host"#.to_owned()),
        ("https://bücher.example/x", r#""https://bücher.example/x" is not a URL: it has characters outside of ASCII; write a host in its xn-- form, and escape other parts with %"#.to_owned()),
        (r"https://a\b", r#""https://a\\b" is not a URL: it has a space, a control character or a backslash"#.to_owned()),
    ];
    for (text, error) in cases {
        let read = read(text);
        assert!(
            read.starts_with(&format!("error {error}")),
            "{text}: {read}"
        );
    }
}

#[test]
fn a_path_that_looks_like_a_registry_is_printed_as_a_path() {
    let path = Reference::Path("ghcr.io/x".into());
    assert_eq!(path.to_string(), "./ghcr.io/x");
}

#[test]
fn parts_of_an_oci_reference_are_found() {
    let text = format!("localhost:5000/ann/dedupe:1@{DIGEST}");
    let reference: OciReference = text.parse().unwrap();
    assert_eq!(reference.host(), "localhost:5000");
    assert_eq!(reference.repository(), "ann/dedupe");
    assert_eq!(reference.tag(), Some("1"));
    assert_eq!(reference.digest(), Some(DIGEST.parse().unwrap()));
    assert!(reference.is_local());
    assert_eq!(
        reference.clone().unpinned().to_string(),
        "localhost:5000/ann/dedupe:1"
    );
    assert_eq!(
        reference.clone().unpinned().pinned(DIGEST.parse().unwrap()),
        reference
    );
}

proptest! {
    #[test]
    fn no_text_panics_and_what_is_read_is_printed_so(text in "(oci://|https?://|\\./|[a-zA-Z.]{0,3})?[a-zA-Z0-9.:/@_\\[\\]\\\\ ~é-]{0,24}") {
        if let Ok(reference) = text.parse::<Reference>() {
            let printed = reference.to_string();
            prop_assert_eq!(printed.parse::<Reference>(), Ok(reference), "{}", printed);
        }
    }
}
