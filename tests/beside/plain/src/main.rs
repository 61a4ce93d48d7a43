//! The tool in a program that embeds wasmtime and nothing else: the very component that Airlock
//! runs, linked beforehand, in a fresh store and instance for each call, out of a pool.
//!
//! ```text
//! beside-plain once COMPONENT FOLDER COMPILED PARAMS     one call, whose answer it prints
//! beside-plain answer COMPONENT FOLDER COMPILED PARAMS   what the measuring program asks for
//! ```
//!
//! COMPILED is a file for the compiled code, which `answer` writes and `once` reads.

#[allow(
    unsafe_code,
    reason = "wasmtime has to trust a file with compiled code"
)]
mod precompiled;
mod world;

use std::path::PathBuf;

use anyhow::{Context, anyhow, bail};
use beside_contestant::{NOTHING, Took, answer};
use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use world::{CustomToolPre, Live, State};

/// Instances that are alive at one time, at most: more than are ever held here.
const INSTANCES: u32 = 512;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, component, folder, compiled, params] =
        arguments.try_into().ok().context("see the source")?;
    let engine = engine(mode == "answer").map_err(told)?;
    let plain = Embedding {
        linker: world::linker(&engine).map_err(told)?,
        engine,
        component: component.into(),
        folder: folder.into(),
        compiled: compiled.into(),
        params,
    };
    match mode.as_str() {
        "once" => {
            let linked = plain.cached().map_err(told)?;
            let (text, _) = plain.call(&linked, &plain.params).map_err(told)?;
            println!("{text}");
            Ok(())
        }
        "answer" => plain.answer(),
        _ => bail!("unknown: {mode}"),
    }
}

fn told(error: wasmtime::Error) -> anyhow::Error {
    anyhow!("{error:?}")
}

/// A pool costs address space before it saves anything: for one call there is none.
fn engine(is_pooled: bool) -> wasmtime::Result<Engine> {
    let mut pool = PoolingAllocationConfig::default();
    pool.total_component_instances(INSTANCES);
    pool.total_core_instances(4 * INSTANCES);
    pool.total_memories(INSTANCES);
    pool.total_tables(2 * INSTANCES);
    // As its documentation advises: what is reset in place need not be faulted in anew.
    pool.linear_memory_keep_resident(256 << 10);
    pool.table_keep_resident(64 << 10);
    pool.pagemap_scan(Enabled::Auto);
    let mut config = Config::new();
    if is_pooled {
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    }
    // Else a guest that doesn't end could not be stopped, which Extism and Airlock do as well.
    config.epoch_interruption(true);
    Engine::new(&config)
}

struct Embedding {
    engine: Engine,
    linker: Linker<State>,
    component: PathBuf,
    folder: PathBuf,
    compiled: PathBuf,
    params: String,
}

impl Embedding {
    fn cold(&self) -> wasmtime::Result<Component> {
        Component::from_file(&self.engine, &self.component)
    }

    fn linked(&self, component: &Component) -> wasmtime::Result<CustomToolPre<State>> {
        CustomToolPre::new(self.linker.instantiate_pre(component)?)
    }

    fn cached(&self) -> wasmtime::Result<CustomToolPre<State>> {
        self.linked(&precompiled::from_file(&self.engine, &self.compiled)?)
    }

    fn call(
        &self,
        linked: &CustomToolPre<State>,
        params: &str,
    ) -> wasmtime::Result<(String, Live)> {
        let mut live = Live::new(&self.engine, linked, &self.folder)?;
        Ok((live.execute(params)?, live))
    }

    fn answer(&self) -> anyhow::Result<()> {
        let code = self.cold().and_then(|it| it.serialize()).map_err(told)?;
        std::fs::write(&self.compiled, code)?;
        let linked = self.cached().map_err(told)?;
        let call = |params: &str| -> anyhow::Result<Live> {
            let (text, live) = self.call(&linked, params).map_err(told)?;
            std::hint::black_box(text);
            Ok(live)
        };
        let cold = || self.linked(&self.cold()?).map(drop);
        let mut held = Vec::new();
        answer(|what, count| match what {
            "call" => Took::of_all(count, || call(&self.params).map(drop)),
            "nothing" | "instance" => Took::of_all(count, || call(NOTHING).map(drop)),
            "hold" => Took::of_all(count, || {
                held.push(call(NOTHING)?);
                Ok(())
            }),
            "cold" => Took::of_all(count, || cold().map_err(told)),
            "cached" => Took::of_all(count, || self.cached().map(drop).map_err(told)),
            _ => bail!("unknown"),
        })
    }
}
