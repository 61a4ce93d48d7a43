//! The part of this program that is written in JavaScript.

use rquickjs::context::EvalOptions;
use rquickjs::{Ctx, Exception, Result, Value};

/// Loads the files below, which find each other by their names.
pub(crate) const START: &str = include_str!("js/start.js");

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("js/", $name, ".js")))),*]
    };
}

const FILES: &[(&str, &str)] = files![
    "assert",
    "boot",
    "buffer",
    "clone",
    "columns",
    "console",
    "deep_equal",
    "encoding",
    "entries",
    "failures",
    "format",
    "fs",
    "fs_async",
    "inspect",
    "modules",
    "os",
    "packages",
    "path",
    "pattern",
    "primitives",
    "process",
    "resolve",
    "shapes",
    "table",
    "timers",
    "url",
    "util",
];

/// Evaluates a script that is no module. Messages call it by `name`.
pub(crate) fn evaluate<'js>(ctx: &Ctx<'js>, name: &str, source: String) -> Result<Value<'js>> {
    let mut options = EvalOptions::default();
    options.global = true;
    options.strict = false;
    options.filename = Some(name.to_owned());
    ctx.eval_with_options(source, options)
}

/// Returns the function that one of the files is the body of.
///
/// # Errors
/// Throws if there is no such file.
pub(crate) fn compile<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Value<'js>> {
    let Some((_, source)) = FILES.iter().find(|(found, _)| *found == name) else {
        return Err(Exception::throw_reference(
            ctx,
            &format!("no part is called {name}"),
        ));
    };
    let wrapped = format!("(function (require, module, native) {{ 'use strict'; {source}\n}})");
    evaluate(ctx, &format!("node:{name}"), wrapped)
}
