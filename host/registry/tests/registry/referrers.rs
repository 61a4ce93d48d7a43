//! Lists of referrers: in pages, and with lies.

use airlock_registry::{Artifact, Digest, Error};
use serde_json::json;

use crate::support::client;
use crate::support::listing::{BUNDLE, INDEX, Listing, index, signature_of};
use crate::support::server::{Reply, Request};

/// The bytes of the signatures that are found, sorted.
async fn found(artifact: &Artifact) -> Vec<String> {
    let signatures = client().signatures(artifact).await.unwrap();
    let texts = signatures.into_iter();
    let mut texts: Vec<_> = texts
        .map(|it| String::from_utf8(it.bytes.to_vec()).unwrap())
        .collect();
    texts.sort();
    texts
}

/// The problem for which a list is refused.
async fn refused(listing: &Listing) -> String {
    let artifact = listing.component().await;
    let error = client().signatures(&artifact).await.unwrap_err();
    let Error::Server { problem, .. } = error else {
        panic!("{error:?}");
    };
    problem
}

fn is_list(request: &Request) -> bool {
    request.path.contains("/referrers/")
}

#[tokio::test]
async fn all_pages_are_read() {
    let listing = Listing::start_with(2, |_| None).await;
    let artifact = listing.component().await;
    assert_eq!(found(&artifact).await, [""; 0]);
    for text in ["a", "b", "c", "d", "e"] {
        listing.bundle(&artifact, text);
    }
    assert_eq!(listing.count("/referrers/"), 1);
    assert_eq!(found(&artifact).await, ["a", "b", "c", "d", "e"]);
    assert_eq!(listing.count("/referrers/"), 4);
}

#[tokio::test]
async fn a_broken_signature_hides_no_good_one() {
    let large = "x".repeat(2 << 20);
    let listing = Listing::start_with(usize::MAX, |request| {
        let lie = Digest::of(b"swapped").to_string();
        request
            .path
            .ends_with(&lie)
            .then(|| Reply::new(200).body("lie"))
    });
    let listing = listing.await;
    let artifact = listing.component().await;
    let good = listing.blob("good");

    let mut other = signature_of(&artifact, good, 4);
    other["subject"]["digest"] = json!(Digest::of(b"another"));
    listing.list(&other, Some(BUNDLE));
    let mut none = signature_of(&artifact, good, 4);
    none.as_object_mut().unwrap().remove("subject");
    listing.list(&none, Some(BUNDLE));
    let mut layers = signature_of(&artifact, good, 4);
    layers["layers"] = json!([layers["layers"][0], layers["layers"][0]]);
    listing.list(&layers, Some(BUNDLE));
    // Another type than the list says.
    let mut other = signature_of(&artifact, good, 4);
    other["artifactType"] = json!("application/spdx+json");
    listing.list(&other, Some(BUNDLE));
    // The registry sends another layer, or more of it than the manifest says, or none.
    listing.list(
        &signature_of(&artifact, Digest::of(b"swapped"), 7),
        Some(BUNDLE),
    );
    listing.list(
        &signature_of(&artifact, listing.blob("longer"), 3),
        Some(BUNDLE),
    );
    listing.list(
        &signature_of(&artifact, Digest::of(b"gone"), 4),
        Some(BUNDLE),
    );
    let large_digest = listing.blob(&large);
    listing.list(
        &signature_of(&artifact, large_digest, large.len()),
        Some(BUNDLE),
    );
    listing.list(&signature_of(&artifact, large_digest, 1), Some(BUNDLE));
    listing.list(&json!({"no": "manifest"}), Some(BUNDLE));

    assert_eq!(found(&artifact).await, [""; 0]);
    let place = listing.bundle(&artifact, "good");
    assert_eq!(found(&artifact).await, ["good"]);
    let signatures = client().signatures(&artifact).await.unwrap();
    assert_eq!(signatures[0].place, place.to_string());
}

#[tokio::test]
async fn a_manifest_of_another_digest_is_left_out() {
    let digest = Digest::of(b"listed");
    let listing = Listing::start_with(usize::MAX, move |request| {
        let entry = json!({
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "digest": digest,
            "size": 6,
            "artifactType": BUNDLE,
        });
        is_list(request).then(|| Reply::new(200).body(index(&[entry]).to_string()))
    });
    let listing = listing.await;
    let artifact = listing.component().await;
    let good = listing.bundle(&artifact, "good");
    let manifest = listing.tagged(&good.to_string()).unwrap();
    listing.tag(&digest.to_string(), manifest);
    assert_eq!(found(&artifact).await, [""; 0]);
}

#[tokio::test]
async fn at_most_64_signatures_are_read() {
    let listing = Listing::start_with(100, |_| None).await;
    let artifact = listing.component().await;
    let mut digests = Vec::new();
    for number in 0..1000 {
        digests.push(listing.bundle(&artifact, &number.to_string()));
    }
    let before = listing.server.requests().len();
    let signatures = client().signatures(&artifact).await.unwrap();
    digests.sort();
    digests.truncate(64);
    let expected: Vec<_> = digests.iter().map(Digest::to_string).collect();
    let places: Vec<_> = signatures.into_iter().map(|it| it.place).collect();
    assert_eq!(places, expected);
    // The pages, and two requests for each.
    assert_eq!(listing.server.requests().len() - before, 10 + 2 * 64);
}

#[tokio::test]
async fn manifests_of_other_kinds_hide_no_signature() {
    let listing = Listing::start().await;
    let artifact = listing.component().await;
    for number in 0..300 {
        listing.list(&json!({"untyped": number}), None);
        let other = json!({"typed": number});
        listing.list(&other, Some("application/spdx+json"));
    }
    for text in ["a", "b", "c", "d", "e"] {
        listing.bundle(&artifact, text);
    }
    assert_eq!(found(&artifact).await, ["a", "b", "c", "d", "e"]);
}

#[tokio::test]
async fn too_many_broken_signatures_are_an_error() {
    let listing = Listing::start().await;
    let artifact = listing.component().await;
    for number in 0..65 {
        listing.list(&json!({"broken": number}), Some(BUNDLE));
    }
    let error = client().signatures(&artifact).await.unwrap_err();
    let name = &artifact.reference;
    assert_eq!(
        error.to_string(),
        format!("{name} has 65 signatures, and none of the first 64 can be read")
    );
}

#[tokio::test]
async fn a_registry_that_fails_has_not_no_signatures() {
    let fails = Digest::of(b"fails").to_string();
    let listing = Listing::start_with(usize::MAX, move |request| {
        request.path.ends_with(&fails).then(|| Reply::new(503))
    });
    let listing = listing.await;
    let artifact = listing.component().await;
    listing.bundle(&artifact, "fails");
    let error = client().signatures(&artifact).await.unwrap_err();
    assert!(matches!(error, Error::Server { .. }), "{error:?}");
    listing.bundle(&artifact, "good");
    assert_eq!(found(&artifact).await, ["good"]);
}

#[tokio::test]
async fn a_registry_that_sends_no_list_is_asked_for_the_tag() {
    for reply in [
        Reply::new(404),
        Reply::new(405),
        Reply::new(200).body("<html></html>"),
        Reply::new(200).body("{}"),
    ] {
        let listing = Listing::start_with(usize::MAX, move |request| {
            is_list(request).then(|| reply.clone())
        });
        let listing = listing.await;
        let artifact = listing.component().await;
        assert_eq!(found(&artifact).await, [""; 0]);
        let tag = format!("sha256-{}", artifact.digest.to_hex());
        let digest = listing.bundle(&artifact, "good");
        let entry = json!({
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "digest": digest,
            "size": 1,
        });
        listing.tag(&tag, index(&[entry]).to_string());
        assert_eq!(found(&artifact).await, ["good"]);
        listing.tag(&tag, "<html></html>".to_owned());
        let error = client().signatures(&artifact).await.unwrap_err();
        assert!(matches!(error, Error::Server { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn a_list_that_can_not_be_read_is_an_error() {
    let listing = Listing::start_with(usize::MAX, |request| {
        is_list(request).then(|| Reply::new(500))
    });
    assert_eq!(refused(&listing.await).await, "500 Internal Server Error");

    let listing = Listing::start_with(usize::MAX, |request| {
        is_list(request).then(|| Reply::new(403))
    });
    let listing = listing.await;
    let artifact = listing.component().await;
    let error = client().signatures(&artifact).await.unwrap_err();
    assert!(matches!(error, Error::Forbidden { .. }), "{error:?}");
}

#[tokio::test]
async fn a_list_that_is_too_large_is_refused() {
    const PROBLEM: &str = "its list of referrers is larger than 4194304 bytes";
    for has_length in [true, false] {
        let listing = Listing::start_with(usize::MAX, move |request| {
            let reply = Reply::new(200).body(vec![b' '; 1 << 20]).times(1 << 14);
            is_list(request).then(|| reply.with_length(has_length))
        });
        assert_eq!(refused(&listing.await).await, PROBLEM);
    }
    // All pages together.
    let listing = Listing::start_with(usize::MAX, |request| {
        let (path, page) = request.path.rsplit_once("?page=").unwrap_or_default();
        let page = page.parse().unwrap_or(0) + 1;
        let path = if path.is_empty() { &request.path } else { path };
        let mut page_index = index(&[]);
        page_index["annotations"] = json!({"x": "x".repeat(1 << 20)});
        let reply = Reply::new(200).body(page_index.to_string());
        let next = format!("<{path}?page={page}>; rel=next");
        is_list(request).then(|| reply.header("Link", next))
    });
    let listing = listing.await;
    assert_eq!(refused(&listing).await, PROBLEM);
    assert_eq!(listing.count("/referrers/"), 4);
    // The tag.
    let listing = Listing::start_with(usize::MAX, |request| {
        let reply = Reply::new(200).body(vec![b' '; 1 << 20]).times(5);
        let is_tag = request.path.contains("/manifests/sha256-");
        let no_list = is_list(request).then(|| Reply::new(404));
        no_list.or(is_tag.then_some(reply))
    });
    assert_eq!(refused(&listing.await).await, PROBLEM);
}

#[tokio::test]
async fn pages_that_lead_nowhere_are_refused() {
    const WRONG: &str = "the next page of its list of referrers has a wrong address";
    let links = [
        ("?", "its list of referrers has too many pages"),
        ("?other", "its list of referrers has too many pages"),
        ("http://127.0.0.1:1/v2/x/referrers/y", WRONG),
        ("https://example.com/v2/x/referrers/y", WRONG),
        ("http://[", WRONG),
    ];
    for (link, problem) in links {
        let listing = Listing::start_with(usize::MAX, move |request| {
            let reply = Reply::new(200).body(index(&[]).to_string());
            // Both pages name each other.
            let link = match link {
                "?" if request.path.ends_with("?a") => "?b",
                "?" => "?a",
                "?other" if request.path.ends_with("?other") => "?another",
                link => link,
            };
            is_list(request).then(|| reply.header("Link", format!("<{link}>; rel=\"next\"")))
        });
        assert_eq!(refused(&listing.await).await, problem, "{link}");
    }
    // A page that is its own next one.
    let listing = Listing::start_with(usize::MAX, |request| {
        let reply = Reply::new(200).body(index(&[]).to_string());
        let link = format!("<{}>; rel=\"next\"", request.path);
        is_list(request).then(|| reply.header("Link", link))
    });
    let listing = listing.await;
    assert_eq!(refused(&listing).await, WRONG);
    assert_eq!(listing.count("/referrers/"), 1);
    // A second page for people.
    let listing = Listing::start_with(usize::MAX, |request| {
        let reply = Reply::new(200).body(index(&[]).to_string());
        let page = if request.path.ends_with("?2") {
            Reply::new(200).body("<html></html>")
        } else {
            reply.header("Link", "<?2>; rel=\"next\"")
        };
        is_list(request).then_some(page)
    });
    let problem = "its list of referrers is no index";
    assert_eq!(refused(&listing.await).await, problem);
}

#[tokio::test]
async fn a_registry_may_want_a_token() {
    let listing = Listing::start_with(1, |request| {
        if request.path.starts_with("/token") {
            assert!(request.path.contains("scope=repository%3Ax%3Apull"));
            return Some(Reply::new(200).body(r#"{"token":"granted"}"#));
        }
        let host = request.header("host").unwrap();
        let challenge = format!(r#"Bearer realm="http://{host}/token",service="test""#);
        let is_granted = request.header("authorization") == Some("Bearer granted");
        (!is_granted).then(|| Reply::new(401).header("www-authenticate", challenge))
    });
    let listing = listing.await;
    let artifact = listing.component().await;
    listing.bundle(&artifact, "a");
    listing.bundle(&artifact, "b");
    assert_eq!(found(&artifact).await, ["a", "b"]);
    let requests = listing.server.requests();
    let list = requests.iter().find(|it| is_list(it)).unwrap();
    assert!(list.header("accept").unwrap().contains(INDEX));
}
