//! What calls and texts look like.

use expect_test::expect;

use super::*;
use crate::{Line, Role};

#[test]
fn a_call_with_what_it_made_pending() {
    let image = Content::Image {
        data: vec![1, 2, 3],
        mime_type: "image/png".to_owned(),
    };
    let link = |mime_type: Option<&str>| Content::ResourceLink {
        uri: "file:///a".to_owned(),
        name: "a".to_owned(),
        mime_type: mime_type.map(str::to_owned),
    };
    let content = vec![
        Content::text("Two lines\r\nof text\n\n"),
        image,
        link(None),
        link(Some("text/plain")),
    ];
    let mut volatile = action("Tidy up", "custom_tool");
    volatile.durable = false;
    let pushed = [action(LABEL, "ast_edit"), volatile];
    check(
        Block::call(&call(content, &pushed)),
        expect![[r#"
            │ Two lines
            │ of text
            │ [image: image/png, 3 bytes]
            │ [link: a, file:///a]
            │ [link: a, file:///a, text/plain]

            Pending; nothing has changed yet:
              │ AST Edit: 2 replacements in 1 file
              from ast_edit of plugin (sha256:5e689e2b0167), durable, id 5755e711
                The tool's own word, not verified by the host
              │ Tidy up
              from custom_tool of plugin (sha256:5e689e2b0167), volatile, id 5755e711
                The tool's own word, not verified by the host"#]],
    );
    check(
        Block::call(&call(Vec::new(), &pushed[..1])),
        expect![[r#"
            Pending; nothing has changed yet:
              │ AST Edit: 2 replacements in 1 file
              from ast_edit of plugin (sha256:5e689e2b0167), durable, id 5755e711
                The tool's own word, not verified by the host"#]],
    );
    check(
        Block::call(&call(vec![Content::text("All is well.")], &[])),
        expect!["│ All is well."],
    );
    check(Block::call(&call(Vec::new(), &[])), expect![[r#""#]]);
}

#[test]
fn a_diff_among_other_text() {
    check_at(
        Renderer::ansi(),
        Block::new().text(DIFF),
        expect![[r#"
            ␛[2m│␛[0m 1 replacement in src/main.rs:
            ␛[2m│␛[0m ␛[1m--- a/src/main.rs␛[0m
            ␛[2m│␛[0m ␛[1m+++ b/src/main.rs␛[0m
            ␛[2m│␛[0m ␛[36m@@ -1,3 +1,3 @@ fn main()␛[0m
            ␛[2m│␛[0m  fn main() {
            ␛[2m│␛[0m ␛[31m-       println!("a greeting that is long enough to be broken");␛[0m
            ␛[2m│␛[0m ␛[32m+       log::info!("日本語");␛[0m
            ␛[2m│␛[0m  }
            ␛[2m│␛[0m - a list, and no diff"#]],
    );
    check_at(
        Renderer::plain().width(36),
        Block::new().text(DIFF),
        expect![[r#"
            │ 1 replacement in src/main.rs:
            │ --- a/src/main.rs
            │ +++ b/src/main.rs
            │ @@ -1,3 +1,3 @@ fn main()
            │  fn main() {
            │ -       println!("a greeting that
            │ ↪ is long enough to be broken");
            │ +       log::info!("日本語");
            │  }
            │ - a list, and no diff"#]],
    );
}

#[test]
fn a_changed_line_end_is_seen() {
    let diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-one\r\n+one\n two\r";
    check(
        Block::new().text(diff),
        expect![[r#"
            │ --- a/x
            │ +++ b/x
            │ @@ -1,2 +1,2 @@
            │ -one\r
            │ +one
            │  two\r"#]],
    );
    let all = "--- a/x\r\n+++ b/x\r\n@@ -1,2 +1,2 @@\r\n-one\r\n+1\r\n two\r\nprose\r";
    check(
        Block::new().text(all),
        expect![[r#"
            │ --- a/x
            │ +++ b/x
            │ @@ -1,2 +1,2 @@
            │ -one
            │ +1
            │  two
            │ prose"#]],
    );
}

#[test]
fn one_byte_is_no_bytes() {
    let check = |bytes, expected: &str| {
        let image = Content::Image {
            data: vec![0; bytes],
            mime_type: "a/b".to_owned(),
        };
        assert_eq!(Block::content(&[image]).to_string(), expected);
    };
    check(0, "│ [image: a/b, 0 bytes]");
    check(1, "│ [image: a/b, 1 byte]");
    check(2, "│ [image: a/b, 2 bytes]");
}

#[test]
fn a_long_text_is_cut_where_that_is_wanted() {
    let text = "one\ntwo\nthree and four\nfive";
    let block = || {
        let call = call(vec![Content::text(text)], &[action(LABEL, "ast_edit")]);
        Block::call(&call)
    };
    check_at(
        Renderer::plain().max_rows(3),
        block(),
        expect![[r#"
            │ one
            │ two
            │ three and four
            … 1 more line

            Pending; nothing has changed yet:
              │ AST Edit: 2 replacements in 1 file
              from ast_edit of plugin (sha256:5e689e2b0167), durable, id 5755e711
                The tool's own word, not verified by the host"#]],
    );
    check_at(
        Renderer::plain().max_rows(4),
        block(),
        expect![[r#"
            │ one
            │ two
            │ three and four
            │ five

            Pending; nothing has changed yet:
              │ AST Edit: 2 replacements in 1 file
              from ast_edit of plugin (sha256:5e689e2b0167), durable, id 5755e711
                The tool's own word, not verified by the host"#]],
    );
    let narrow = Renderer::plain().width(8);
    check_at(
        narrow.max_rows(3),
        Block::new().text(text),
        expect![[r#"
            │ one
            │ two
            │ three
            … 2
            more
            lines"#]],
    );
    check_at(
        narrow.max_rows(0),
        Block::from(Line::from("text:")).block(Block::new().text(text).indented(2)),
        expect![[r#"
            text:
              … 4
              more
              lines"#]],
    );
}

#[test]
fn what_would_drive_a_terminal_is_marked() {
    let evil = "a\u{1b}]0;t\u{7}\rb\tc\u{202e}";
    let block = Block::new().line(Line::from(evil)).text(evil).named(
        Role::Error,
        "error:",
        &format!("{evil}\nhint: do it"),
        2,
    );
    check_at(
        Renderer::ansi(),
        block,
        expect![[r#"
            a␛[7m\u{1b}␛[0m]0;t␛[7m\u{7}\r␛[0mb␛[7m\t␛[0mc␛[7m\u{202e}␛[0m
            ␛[2m│␛[0m a␛[7m\u{1b}␛[0m]0;t␛[7m\u{7}\r␛[0mb     c␛[7m\u{202e}␛[0m
            ␛[1m␛[31merror:␛[0m a␛[7m\u{1b}␛[0m]0;t␛[7m\u{7}\r␛[0mb      c␛[7m\u{202e}␛[0m
              ␛[2m│␛[0m hint: do it"#]],
    );
}
