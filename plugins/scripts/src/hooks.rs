//! The functions of `js/boot.js` that the engine calls.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::function::IntoArgs;
use rquickjs::{Ctx, Error, FromJs, Function, Object, Persistent, Result};

/// They are kept outside of the engine, and have to be [forgotten](Self::forget) before it goes.
#[derive(Clone, Default)]
pub(crate) struct Hooks(Rc<RefCell<Option<Persistent<Object<'static>>>>>);

impl Hooks {
    pub(crate) fn keep<'js>(&self, ctx: &Ctx<'js>, functions: Object<'js>) {
        *self.0.borrow_mut() = Some(Persistent::save(ctx, functions));
    }

    pub(crate) fn forget(&self) {
        *self.0.borrow_mut() = None;
    }

    /// Calls one of them.
    ///
    /// # Errors
    /// If it throws, or returns something else.
    pub(crate) fn call<'js, R: FromJs<'js>>(
        &self,
        ctx: &Ctx<'js>,
        name: &str,
        args: impl IntoArgs<'js>,
    ) -> Result<R> {
        let kept = self.0.borrow().clone();
        let functions = kept.ok_or(Error::Unknown)?.restore(ctx)?;
        functions.get::<_, Function<'js>>(name)?.call(args)
    }
}
