//! Which files are searched, and that none is outside of the workspace.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::tree::Tree;

fn params(paths: Value) -> Value {
    json!({"ops": [{"pat": "old($A)", "out": "new($A)"}], "paths": paths})
}

/// Which of the files are changed where these paths are named.
async fn changed(tree: &Tree, paths: Value) -> Vec<String> {
    let call = match &paths {
        Value::Null => tree.edit("old($A)", "new($A)").await,
        paths => tree.call(params(paths.clone())).await,
    };
    let details = call
        .unwrap_or_else(|error| panic!("{paths}: {error}"))
        .details
        .unwrap()
        .value();
    if tree.pending().await > 0 {
        tree.discard().await;
    }
    let files = details["files"].as_array().unwrap().iter();
    files
        .map(|file| file["path"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn paths_are_files_folders_and_globs() {
    let tree = Tree::with(&[
        ("a.js", "old(1)"),
        ("src/b.js", "old(1)"),
        ("src/b.ts", "old(1)"),
        ("src/deep/c.js", "old(1)"),
        ("lib/[d].js", "old(1)"),
    ]);
    let check = async |paths: Value, expected: &[&str]| {
        assert_eq!(changed(&tree, paths.clone()).await, expected, "{paths}");
    };
    let all = [
        "a.js",
        "lib/[d].js",
        "src/b.js",
        "src/b.ts",
        "src/deep/c.js",
    ];
    check(Value::Null, &all).await;
    check(json!(["."]), &all).await;
    check(json!(["a.js"]), &["a.js"]).await;
    check(json!(["./src"]), &["src/b.js", "src/b.ts", "src/deep/c.js"]).await;
    check(
        json!(["src/deep", "src", "src/b.js"]),
        &["src/b.js", "src/b.ts", "src/deep/c.js"],
    )
    .await;
    check(json!(["*.js"]), &["a.js"]).await;
    check(json!(["src/*.js"]), &["src/b.js"]).await;
    check(json!(["src/**/*.js"]), &["src/b.js", "src/deep/c.js"]).await;
    check(json!(["**/*.{ts,js}"]), &all).await;
    check(json!(["src/?.ts", "a.js"]), &["a.js", "src/b.ts"]).await;
    // What is there by its name is no glob.
    check(json!(["lib/[d].js"]), &["lib/[d].js"]).await;
    let absolute = tree.path("src/deep").canonicalize().unwrap();
    check(json!([absolute]), &["src/deep/c.js"]).await;
}

#[tokio::test]
async fn ignored_and_hidden_files_are_left_out_unless_they_are_named() {
    let tree = Tree::with(&[
        (".gitignore", "/generated\n*.min.js\n"),
        ("a.js", "old(1)"),
        ("a.min.js", "old(1)"),
        ("generated/gen/b.js", "old(1)"),
        (".config/c.js", "old(1)"),
        ("sub/.gitignore", "d.js\n"),
        ("sub/d.js", "old(1)"),
        ("sub/e.js", "old(1)"),
        ("sub/f.min.js", "old(1)"),
    ]);
    let check = async |paths: Value, expected: &[&str]| {
        assert_eq!(changed(&tree, paths.clone()).await, expected, "{paths}");
    };
    check(Value::Null, &["a.js", "sub/e.js"]).await;
    check(json!(["**/*.js"]), &["a.js", "sub/e.js"]).await;
    // What the folders above say still counts.
    check(json!(["sub"]), &["sub/e.js"]).await;
    check(json!(["generated"]), &["generated/gen/b.js"]).await;
    check(
        json!(["generated/gen", "."]),
        &["a.js", "generated/gen/b.js", "sub/e.js"],
    )
    .await;
    check(json!([".config"]), &[".config/c.js"]).await;
    check(json!([".config/*.js"]), &[".config/c.js"]).await;
    check(json!(["**/.config/*.js"]), &[".config/c.js"]).await;
    check(json!(["**/.*/*.js", "a.js"]), &[".config/c.js", "a.js"]).await;
    check(json!(["a.min.js", "sub/d.js"]), &["a.min.js", "sub/d.js"]).await;
}

#[tokio::test]
async fn what_leads_out_of_the_workspace_is_refused_or_not_entered() {
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("x.js"), "old(1)").unwrap();
    let tree = Tree::with(&[("a.js", "old(1)"), ("src/b.js", "old(1)")]);
    symlink(outside.path(), tree.path("out")).unwrap();
    symlink(outside.path().join("x.js"), tree.path("x.js")).unwrap();
    symlink(tree.path("src"), tree.path("inner")).unwrap();
    symlink(tree.path("nowhere"), tree.path("broken.js")).unwrap();
    assert_eq!(changed(&tree, Value::Null).await, ["a.js", "src/b.js"]);
    assert_eq!(
        changed(&tree, json!(["**/*.js"])).await,
        ["a.js", "src/b.js"]
    );

    let check = async |path: &str, why: &str| {
        let error = tree.refused(params(json!(["a.js", path]))).await;
        assert!(error.contains("/paths/1: "), "{error}");
        assert!(error.contains(why), "{path}: {error}");
    };
    let leads_out = "is outside the workspace";
    check("..", leads_out).await;
    check("src/../../x.js", leads_out).await;
    check("src/../a.js", leads_out).await;
    check("../*.js", leads_out).await;
    check("/etc/passwd", leads_out).await;
    check(outside.path().to_str().unwrap(), leads_out).await;
    check("out", "goes through the symbolic link \"out\"").await;
    check("out/x.js", "goes through the symbolic link \"out\"").await;
    check("x.js", "goes through the symbolic link \"x.js\"").await;
    check("broken.js", "goes through the symbolic link \"broken.js\"").await;
    check("inner/b.js", "goes through the symbolic link \"inner\"").await;
    check("out/*.js", "goes through the symbolic link \"out\"").await;
    assert_eq!(
        fs::read_to_string(outside.path().join("x.js")).unwrap(),
        "old(1)"
    );
}

#[tokio::test]
async fn a_folder_that_became_a_link_after_the_preview_is_not_followed() {
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("b.js"), "old(1)").unwrap();
    let tree = Tree::with(&[("src/b.js", "old(1)")]);
    tree.edit("old($A)", "new($A)").await.unwrap();
    fs::rename(tree.path("src"), tree.path("was")).unwrap();
    symlink(outside.path(), tree.path("src")).unwrap();
    let error = tree.apply().await.unwrap_err().to_string();
    assert!(error.contains("src/b.js is gone"), "{error}");
    assert_eq!(
        fs::read_to_string(outside.path().join("b.js")).unwrap(),
        "old(1)"
    );
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn paths_that_name_nothing_or_no_code_are_refused() {
    let tree = Tree::with(&[
        ("a.js", "old(1)"),
        ("notes.txt", "old(1)"),
        ("Makefile", ""),
    ]);
    let pipe = tree.path("pipe.js");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    // A walk comes by, and isn't held up.
    assert_eq!(changed(&tree, Value::Null).await, ["a.js"]);
    let check = async |path: &str, why: &str| {
        let error = tree.refused(params(json!([path]))).await;
        assert!(error.contains(why), "{path}: {error}");
    };
    check("nothing.js", "there is no \"nothing.js\" in the workspace").await;
    check("a.js/b.js", "there is no \"a.js/b.js\" in the workspace").await;
    check(
        "notes.txt",
        "can't tell the language of \"notes.txt\" from its name",
    )
    .await;
    check("Makefile", "give it with `lang`").await;
    check("pipe.js", "\"pipe.js\" is neither a file nor a folder").await;
    check("[.js", "is not a glob").await;
    check("a\0b", "NUL character").await;
}

#[tokio::test]
async fn a_glob_that_is_none_is_refused() {
    let tree = Tree::with(&[]);
    let error = tree.refused(params(json!(["src/{a,b.js"]))).await;
    assert!(error.contains("is not a glob"), "{error}");
}

#[tokio::test]
async fn folders_of_dependencies_and_builds_are_left_out_and_told_unless_they_are_named() {
    let tree = Tree::with(&[
        ("a.js", "old(1)"),
        ("node_modules/x/b.js", "old(1)"),
        ("node_modules/x/node_modules/y/b.js", "old(1)"),
        ("build/b.js", "old(1)"),
        ("vendor/b.js", "old(1)"),
        ("app/package.json", "{}"),
        ("app/dist/b.js", "old(1)"),
        ("app/src/build/c.js", "old(1)"),
        ("app/src/node_modules/b.js", "old(1)"),
    ]);
    let check = async |paths: Value, expected: &[&str]| {
        assert_eq!(changed(&tree, paths.clone()).await, expected, "{paths}");
    };
    // What is called like a build, and stands in the midst of a project's own code, is that.
    check(Value::Null, &["a.js", "app/src/build/c.js"]).await;
    check(json!(["**/*.js"]), &["a.js", "app/src/build/c.js"]).await;
    check(json!(["app"]), &["app/src/build/c.js"]).await;
    check(json!(["build"]), &["build/b.js"]).await;
    check(
        json!(["vendor/*.js", "app/dist"]),
        &["app/dist/b.js", "vendor/b.js"],
    )
    .await;
    check(
        json!(["node_modules"]),
        &["node_modules/x/b.js", "node_modules/x/node_modules/y/b.js"],
    )
    .await;
    check(
        json!([".", "build"]),
        &["a.js", "app/src/build/c.js", "build/b.js"],
    )
    .await;
    check(
        json!(["app/src/node_modules/b.js"]),
        &["app/src/node_modules/b.js"],
    )
    .await;
    let previewed = tree.edit("old($A)", "new($A)").await.unwrap();
    let told = "Left out, as folders of dependencies or builds: app/dist, app/src/node_modules, build, node_modules, vendor;";
    assert!(previewed.text().contains(told), "{}", previewed.text());
}

#[tokio::test]
async fn a_search_of_no_file_is_refused_with_the_reason() {
    let check = async |files: &[(&str, &str)], params: Value, reason: &str| {
        let tree = Tree::with(files);
        let mut all = json!({"ops": [{"pat": "old($A)", "out": "new($A)"}]});
        all.as_object_mut()
            .unwrap()
            .extend(params.as_object().unwrap().clone());
        let error = tree.refused(all).await;
        assert!(error.contains(reason), "{error}");
    };
    let js: &[(&str, &str)] = &[("src/a.js", "old(1)"), ("src/deep/b.js", "old(1)")];
    check(
        &[],
        json!({}),
        "no file was searched: the workspace has none",
    )
    .await;
    check(
        js,
        json!({"lang": "rust"}),
        "/lang: no file was searched: by their names none is rust, for example \"src/",
    )
    .await;
    check(
        js,
        json!({"paths": ["*"]}),
        "/paths/0: no file was searched: only folders fit, such as \"src\"",
    )
    .await;
    check(
        js,
        json!({"paths": ["none/*.js"]}),
        "no file was searched: nothing matches",
    )
    .await;
    check(
        js,
        json!({"paths": ["src/*.py"]}),
        "no file was searched: nothing matches",
    )
    .await;
    check(
        &[("notes.txt", "old(1)")],
        json!({}),
        "by their names none is in a known language, for example \"notes.txt\"",
    )
    .await;
    let left_out = "all that `paths` selects is left out, being ignored, hidden, or in a folder of dependencies or builds, such as ";
    check(&[("node_modules/a.js", "old(1)")], json!({}), left_out).await;
    check(&[(".a.js", "old(1)")], json!({"paths": ["*.js"]}), left_out).await;
    check(
        &[(".gitignore", "*.js"), ("a.js", "old(1)")],
        json!({}),
        left_out,
    )
    .await;
}
