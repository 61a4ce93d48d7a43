//! The functions that the part in JavaScript gets from here.

use std::env;
use std::rc::Rc;

use rquickjs::prelude::Func;
use rquickjs::promise::PromiseState;
use rquickjs::{Array, Ctx, IntoJs, Object, Promise, Result, Value};

use crate::hex::from_hex;
use crate::outcome::Bytes;
use crate::world::{MAIN, World};
use crate::{builtins, files};

/// Makes the object `native`.
pub(crate) fn object<'js>(
    ctx: &Ctx<'js>,
    world: &Rc<World>,
    args: Vec<String>,
    modules: String,
) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    native.set("main", MAIN)?;
    native.set("args", args)?;
    native.set("modules", modules)?;
    native.set("env", environment(ctx)?)?;
    native.set("files", files::object(ctx, world)?)?;
    native.set(
        "encode",
        Func::from(|text: String| Bytes(text.into_bytes())),
    )?;
    native.set("decode", Func::from(decode))?;
    native.set("compile", Func::from(compile))?;
    native.set("promiseState", Func::from(promise_state))?;

    let here = Rc::clone(world);
    native.set("cwd", Func::from(move || here.current_dir()))?;
    let here = Rc::clone(world);
    native.set("exit", Func::from(move |code: i32| here.set_exit(code)))?;
    let here = Rc::clone(world);
    let write = move |is_error: bool, text: String| here.write(is_error, &text);
    native.set("write", Func::from(write))?;
    Ok(native)
}

fn environment<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let variables = Object::new(ctx.clone())?;
    for (name, value) in env::vars_os() {
        variables.set(
            name.to_string_lossy().as_ref(),
            value.to_string_lossy().as_ref(),
        )?;
    }
    Ok(variables)
}

fn compile<'js>(ctx: Ctx<'js>, name: String, source: String) -> Result<Value<'js>> {
    builtins::evaluate(&ctx, &name, source)
}

/// Nothing, if the bytes are not UTF-8 and have to be.
fn decode(digits: String, is_strict: bool) -> Option<String> {
    match String::from_utf8(from_hex(&digits)) {
        Ok(text) => Some(text),
        Err(_) if is_strict => None,
        Err(error) => Some(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

/// Returns the state of a promise, and its value or reason.
fn promise_state<'js>(ctx: Ctx<'js>, promise: Promise<'js>) -> Result<Array<'js>> {
    let settled = || match promise.result::<Value<'js>>() {
        Some(Ok(value)) => value,
        Some(Err(_)) => ctx.catch(),
        None => Value::new_undefined(ctx.clone()),
    };
    let (state, value) = match promise.state() {
        PromiseState::Pending => ("pending", Value::new_undefined(ctx.clone())),
        PromiseState::Resolved => ("resolved", settled()),
        PromiseState::Rejected => ("rejected", settled()),
    };
    let pair = Array::new(ctx.clone())?;
    pair.set(0, state.into_js(&ctx)?)?;
    pair.set(1, value)?;
    Ok(pair)
}
