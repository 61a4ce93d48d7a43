//! The tool in a program that embeds Extism, as its README says: compiled once, with wasmtime's
//! cache where that is asked for, and an instance that is kept from call to call.
//!
//! ```text
//! beside-extism once PLUGIN FOLDER CACHE PARAMS     one call, whose answer it prints
//! beside-extism answer PLUGIN FOLDER CACHE PARAMS   what the measuring program asks for
//! ```
//!
//! CACHE is the configuration of wasmtime's cache.

use std::path::PathBuf;

use anyhow::{Context, bail};
use beside_contestant::{NOTHING, TOOL, Took, answer};
use extism::{CompiledPlugin, Manifest, Plugin, PluginBuilder, Wasm};
use extism_wasmtime::{Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, plugin, folder, cache, params] =
        arguments.try_into().ok().context("see the source")?;
    let extism = Embedding {
        plugin: plugin.into(),
        folder,
        cache: cache.into(),
        params,
    };
    match mode.as_str() {
        "once" => {
            let mut plugin = Plugin::new_from_compiled(&extism.cached()?)?;
            println!("{}", plugin.call::<_, &str>(TOOL, &extism.params)?);
            Ok(())
        }
        "answer" => extism.answer(),
        _ => bail!("unknown: {mode}"),
    }
}

struct Embedding {
    plugin: PathBuf,
    folder: String,
    cache: PathBuf,
    params: String,
}

impl Embedding {
    /// It may read the folder, and nothing else.
    fn builder(&self) -> PluginBuilder<'static> {
        let manifest = Manifest::new([Wasm::file(&self.plugin)])
            .with_allowed_path(format!("ro:{}", self.folder), "/workspace");
        PluginBuilder::new(manifest).with_wasi(true)
    }

    fn cached(&self) -> anyhow::Result<CompiledPlugin> {
        self.builder().with_cache_config(&self.cache).compile()
    }

    /// The same on wasmtime's pool in place of fresh mappings, which its builder lets an embedder
    /// choose.
    fn pooled(&self) -> anyhow::Result<CompiledPlugin> {
        let mut pool = PoolingAllocationConfig::default();
        pool.linear_memory_keep_resident(256 << 10);
        pool.table_keep_resident(64 << 10);
        pool.pagemap_scan(Enabled::Auto);
        let mut config = Config::new();
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        let builder = self.builder().with_wasmtime_config(config);
        builder.with_cache_config(&self.cache).compile()
    }

    fn answer(&self) -> anyhow::Result<()> {
        let compiled = self.cached()?;
        let pooled = self.pooled()?;
        let mut plugin = Plugin::new_from_compiled(&compiled)?;
        let call = |plugin: &mut Plugin, params: &str| -> anyhow::Result<()> {
            let answer: &str = plugin.call(TOOL, params)?;
            std::hint::black_box(answer);
            Ok(())
        };
        let mut held = Vec::new();
        answer(|what, count| match what {
            "call" => Took::of_all(count, || call(&mut plugin, &self.params)),
            "nothing" => Took::of_all(count, || call(&mut plugin, NOTHING)),
            "instance" => Took::of_all(count, || {
                call(&mut Plugin::new_from_compiled(&compiled)?, NOTHING)
            }),
            "pooled" => Took::of_all(count, || {
                call(&mut Plugin::new_from_compiled(&pooled)?, NOTHING)
            }),
            "hold" => Took::of_all(count, || {
                let mut plugin = Plugin::new_from_compiled(&compiled)?;
                call(&mut plugin, NOTHING)?;
                held.push(plugin);
                Ok(())
            }),
            "cold" => Took::of_all(count, || {
                self.builder().with_cache_disabled().compile()?;
                Ok(())
            }),
            "cached" => Took::of_all(count, || self.cached().map(drop)),
            _ => bail!("unknown"),
        })
    }
}
