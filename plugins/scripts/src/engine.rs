//! Runs a script in QuickJS, to its end: including the rest of its promises and
//! timers.

use std::rc::Rc;

use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, Error, Function, Object, Promise, Result, Runtime, Value};

use crate::hooks::Hooks;
use crate::imports::{self, Imports};
use crate::world::{MAIN, Output, Script, World};
use crate::{builtins, native};

/// What a script may have in memory, in bytes: less than the 256 MiB that Airlock gives a program,
/// so that there is an error that the script can catch.
const MEMORY: usize = 192 << 20;

/// What calls may take of the stack, in bytes, of the 1 MiB that a program for WASI has. Airlock's
/// engine has 2 MiB beside it, which then bear calls of all kinds. They only end before this limit
/// where JSON is nested about 10,000 deep, or the parentheses of a script about 1,000.
const STACK: usize = 512 << 10;

/// The exit code of a script that awaits what never comes. Node has the same.
const NEVER: i32 = 13;

/// Runs a script, and returns its exit code.
pub(crate) fn run(script: Script, output: Output) -> i32 {
    let world = Rc::new(World::new(script.root.clone(), output));
    let code = start(script, &world).unwrap_or_else(|error| {
        world.write(true, &format!("The engine can't start: {error}\n"));
        1
    });
    world.flush();
    code
}

fn start(script: Script, world: &Rc<World>) -> Result<i32> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(MEMORY);
    runtime.set_max_stack_size(STACK);
    let hooks = Hooks::default();
    let exit = Rc::clone(world);
    runtime.set_interrupt_handler(Some(Box::new(move || exit.exit().is_some())));
    runtime.set_loader(Imports(hooks.clone()), Imports(hooks.clone()));
    let rejected = hooks.clone();
    runtime.set_host_promise_rejection_tracker(Some(Box::new(
        move |ctx, promise, reason, is_handled| {
            // Without memory for this, there is an error about that too.
            let _ = rejected.call::<()>(&ctx, "rejected", (promise, reason, is_handled));
        },
    )));
    let context = Context::full(&runtime)?;
    let code = context.with(|ctx| {
        let run = Run {
            ctx,
            world,
            hooks: &hooks,
        };
        if let Err(error) = run.boot(script.args, script.modules) {
            world.write(
                true,
                &format!(
                    "The globals can't be made: {error}: {:?}\n",
                    run.ctx.catch()
                ),
            );
            return 1;
        }
        let ended = run.to_the_end(script.source);
        run.exit_code(ended)
    });
    hooks.forget();
    Ok(code)
}

/// A script that failed. Its error was written.
struct Failed;

struct Run<'js, 'a> {
    ctx: Ctx<'js>,
    world: &'a Rc<World>,
    hooks: &'a Hooks,
}

impl<'js> Run<'js, '_> {
    /// Makes the globals.
    fn boot(&self, args: Vec<String>, modules: String) -> Result<()> {
        let native = native::object(&self.ctx, self.world, args, modules)?;
        let compile = Function::new(self.ctx.clone(), |ctx: Ctx<'js>, name: String| {
            builtins::compile(&ctx, &name)
        })?;
        let start = builtins::evaluate(&self.ctx, "node:start", builtins::START.to_owned())?;
        let start: Function<'js> = start.get()?;
        let functions: Object<'js> = start.call((compile, native))?;
        self.hooks.keep(&self.ctx, functions);
        Ok(())
    }

    fn to_the_end(&self, source: String) -> std::result::Result<i32, Failed> {
        let ended = self.caught(self.begin(source))?;
        loop {
            while self.world.exit().is_none() && self.ctx.execute_pending_job() {}
            if self.world.exit().is_some() {
                return Ok(0);
            }
            let unhandled = self
                .hooks
                .call::<Option<String>>(&self.ctx, "firstUnhandled", ());
            if let Some(text) = self.caught(unhandled)? {
                self.world.write(true, &text);
                return Err(Failed);
            }
            if !self.caught(self.hooks.call::<bool>(&self.ctx, "runTimer", ()))? {
                break;
            }
        }
        if ended.state() == PromiseState::Pending {
            self.world.write(
                true,
                "Warning: the script awaits a promise that nothing settles\n",
            );
            return Ok(NEVER);
        }
        Ok(0)
    }

    /// Compiles the script, and runs it up to where it waits.
    fn begin(&self, source: String) -> Result<Promise<'js>> {
        let meta: Object<'js> = self.hooks.call(&self.ctx, "metaOf", (MAIN,))?;
        let (_, ended) = imports::declare(&self.ctx, MAIN, source, &meta)?.eval()?;
        Ok(ended)
    }

    /// Writes the error, if there is one.
    fn caught<T>(&self, result: Result<T>) -> std::result::Result<T, Failed> {
        let error = match result {
            Ok(value) => return Ok(value),
            // Not an error: this is how the engine was stopped.
            Err(_) if self.world.exit().is_some() => return Err(Failed),
            Err(error) => error,
        };
        let text = match error {
            Error::Exception => self.uncaught(self.ctx.catch()),
            other => format!("Uncaught {other}\n"),
        };
        self.world.write(true, &text);
        Err(Failed)
    }

    fn uncaught(&self, reason: Value<'js>) -> String {
        // What the engine throws when not even an error fits into memory.
        if reason.is_null() {
            return "Uncaught null: out of memory, if the script doesn't throw it\n".to_owned();
        }
        let text = self.hooks.call(&self.ctx, "uncaught", (reason,));
        text.unwrap_or_else(|_| "Uncaught InternalError: out of memory\n".to_owned())
    }

    /// Returns the code that the script asked for, or that of its end.
    fn exit_code(&self, ended: std::result::Result<i32, Failed>) -> i32 {
        if let Some(code) = self.world.exit() {
            return code;
        }
        let usual = match ended {
            Ok(0) => None,
            Ok(code) => Some(code),
            Err(Failed) => Some(1),
        };
        let wanted = self.caught(self.hooks.call::<i32>(&self.ctx, "finish", (usual,)));
        self.world.exit().unwrap_or(wanted.unwrap_or(1))
    }
}
