//! What functions of the system return to JavaScript, which throws the errors.

use std::io;

use rquickjs::{Ctx, IntoJs, Object, Result, TypedArray, Value};

use crate::errno;

/// A value, or an object with the `code`, `errno` and `text` of an error.
pub(crate) struct Outcome<T>(pub(crate) io::Result<T>);

impl<'js, T: IntoJs<'js>> IntoJs<'js> for Outcome<T> {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let error = match self.0 {
            Ok(value) => return value.into_js(ctx),
            Err(error) => errno::of(&error),
        };
        let object = Object::new(ctx.clone())?;
        object.set("code", error.code)?;
        object.set("errno", error.number)?;
        object.set("text", error.text)?;
        object.into_js(ctx)
    }
}

/// Bytes, as a `Uint8Array`.
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl<'js> IntoJs<'js> for Bytes {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        TypedArray::new(ctx.clone(), self.0)?.into_js(ctx)
    }
}
