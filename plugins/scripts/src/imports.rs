//! How the engine finds and compiles the modules that scripts import. `js/modules.js` decides it.

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Array, Ctx, Module, Object, Result, Value};

use crate::hooks::Hooks;

pub(crate) struct Imports(pub(crate) Hooks);

impl Resolver for Imports {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        self.0.call(ctx, "resolve", (base, name))
    }
}

impl Loader for Imports {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        let described: Array<'js> = self.0.call(ctx, "describe", (name,))?;
        let source: String = described.get(0)?;
        declare(ctx, name, source, &described.get(1)?)
    }
}

/// Compiles a module, and gives it what its `import.meta` has.
pub(crate) fn declare<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    source: String,
    meta: &Object<'js>,
) -> Result<Module<'js, Declared>> {
    let module = Module::declare(ctx.clone(), name, source)?;
    let target = module.meta()?;
    for property in meta.props::<String, Value<'js>>() {
        let (key, value) = property?;
        target.set(key, value)?;
    }
    Ok(module)
}
