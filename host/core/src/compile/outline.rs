//! The outline of a component, read without compiling it: its imports, exports and complexity.
//!
//! Reading takes one pass over the bytes, without recursion, in time that depends only on their
//! number. It keeps only the names of the outermost imports and exports, and counts.

use wasmparser::{
    BinaryReaderError, ComponentExternalKind, ComponentType, ComponentTypeRef, Encoding,
    InstanceTypeDeclaration, Parser, Payload, TypeBounds, TypeRef,
};

use airlock_model::wants::About;

use super::{CompileLimits, Complexity, asynchronous, own_sections};

/// The outline of a component.
#[derive(Debug, Default)]
pub struct Outline {
    /// The imports, in the component's order.
    pub imports: Vec<Import>,
    /// The names of the exports, in the component's order.
    pub exports: Vec<String>,
    /// True if the component has async functions, streams or futures, which WASI 0.3 is built upon.
    pub is_async: bool,
    /// The section with a program's tools, if the component has one.
    pub command_tools: Option<String>,
    /// The section with the component's wants, if it has one.
    pub wants: Option<String>,
    pub about: About,
    pub complexity: Complexity,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Import {
    pub name: String,
    /// True if the import has functions or resources that a host must provide. An interface with
    /// only types needs no host.
    pub needs_host: bool,
}

/// The reason why there is no outline.
#[derive(Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// The bytes are not a component.
    Malformed(String),
    /// The component is too complex. The text names the amount and the limit that it exceeds.
    TooComplex(String),
}

impl From<BinaryReaderError> for Unreadable {
    fn from(error: BinaryReaderError) -> Self {
        // Same wording as wasmtime.
        Unreadable::Malformed(format!("failed to parse WebAssembly module: {error}"))
    }
}

/// Reads the outline of a component, and stops at the first number above its limit.
pub fn read(bytes: &[u8], limits: &CompileLimits) -> Result<Outline, Unreadable> {
    let mut reader = Reader {
        limits,
        outline: Outline::default(),
        inside: Vec::new(),
        types: Vec::new(),
        modules: 0,
    };
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload?;
        if let Payload::ModuleSection {
            unchecked_range: range,
            ..
        } = &payload
            && range.end > bytes.len()
        {
            // Same wording as wasmtime.
            return Err(Unreadable::Malformed(format!(
                "failed to parse WebAssembly module: wasm component contains an invalid module section: section range {}..{} is out of bounds (bound = {})",
                range.start,
                range.end,
                bytes.len()
            )));
        }
        reader.take(payload)?;
    }
    Ok(reader.outline)
}

struct Reader<'a> {
    limits: &'a CompileLimits,
    outline: Outline,
    /// The component or module that is being read, and its parents.
    inside: Vec<Inside>,
    /// The types of the outermost component. An element is true if the type is an instance that
    /// needs a host.
    types: Vec<bool>,
    /// Number of core modules so far.
    modules: u64,
}

/// A component or a core module.
struct Inside {
    encoding: Encoding,
    /// The core module's number in the component.
    module: u64,
    /// The index of the next function with a body.
    function: u64,
}

impl Reader<'_> {
    fn take(&mut self, payload: Payload<'_>) -> Result<(), Unreadable> {
        let limits = self.limits;
        let sum = &mut self.outline.complexity;
        match payload {
            Payload::Version { encoding, .. } => self.enter(encoding)?,
            Payload::End(_) => {
                self.inside.pop();
            }
            Payload::TypeSection(types) => {
                add(&mut sum.types, types.count(), "types", limits.types)?
            }
            Payload::CoreTypeSection(types) => {
                add(&mut sum.types, types.count(), "types", limits.types)?
            }
            Payload::ComponentTypeSection(types) => {
                add(&mut sum.types, types.count(), "types", limits.types)?;
                for component_type in types {
                    let component_type = component_type?;
                    self.outline.is_async |= asynchronous::has_type(&component_type);
                    if self.is_outermost() {
                        self.types.push(needs_host(&component_type));
                    }
                }
            }
            Payload::ImportSection(imports) => self.core_imports(imports)?,
            Payload::ComponentImportSection(imports) => {
                add(&mut sum.imports, imports.count(), "imports", limits.imports)?;
                if self.is_outermost() {
                    for import in imports {
                        let import = import?;
                        self.import(import.name.name, import.ty);
                    }
                }
            }
            Payload::ComponentAliasSection(aliases) => {
                add(
                    &mut sum.imports,
                    aliases.count(),
                    "imports and aliases",
                    limits.imports,
                )?;
                if self.is_outermost() {
                    for alias in aliases {
                        self.alias(&alias?);
                    }
                }
            }
            Payload::ComponentCanonicalSection(functions) => {
                add(
                    &mut sum.imports,
                    functions.count(),
                    "imports and aliases",
                    limits.imports,
                )?;
                for function in functions {
                    self.outline.is_async |= asynchronous::has_function(&function?);
                }
            }
            Payload::ExportSection(exports) => {
                add(&mut sum.exports, exports.count(), "exports", limits.exports)?
            }
            Payload::ComponentExportSection(exports) => {
                add(&mut sum.exports, exports.count(), "exports", limits.exports)?;
                if self.is_outermost() {
                    for export in exports {
                        let export = export?;
                        self.outline.exports.push(export.name.name.to_owned());
                        if export.kind == ComponentExternalKind::Type {
                            self.types.push(false);
                        }
                    }
                }
            }
            Payload::FunctionSection(functions) => add(
                &mut sum.functions,
                functions.count(),
                "functions",
                limits.functions,
            )?,
            Payload::CodeSectionStart { size, .. } => {
                sum.code_bytes += u64::from(size);
                let (bytes, limit) = (sum.code_bytes, limits.code_bytes);
                if bytes > limit {
                    return Err(too_complex(format!(
                        "its functions are {bytes} bytes; the limit is {limit}"
                    )));
                }
            }
            Payload::CodeSectionEntry(body) => self.function(&body)?,
            Payload::TableSection(tables) => add(
                &mut sum.tables,
                tables.count(),
                "tables and memories",
                limits.tables,
            )?,
            Payload::MemorySection(memories) => add(
                &mut sum.tables,
                memories.count(),
                "tables and memories",
                limits.tables,
            )?,
            Payload::GlobalSection(globals) => {
                add(&mut sum.globals, globals.count(), "globals", limits.globals)?
            }
            Payload::TagSection(tags) => add(
                &mut sum.globals,
                tags.count(),
                "globals and tags",
                limits.globals,
            )?,
            Payload::ElementSection(segments) => add(
                &mut sum.segments,
                segments.count(),
                "segments",
                limits.segments,
            )?,
            Payload::DataSection(segments) => add(
                &mut sum.segments,
                segments.count(),
                "segments",
                limits.segments,
            )?,
            Payload::InstanceSection(instances) => add(
                &mut sum.instances,
                instances.count(),
                "instances",
                limits.instances,
            )?,
            Payload::ComponentInstanceSection(instances) => add(
                &mut sum.instances,
                instances.count(),
                "instances",
                limits.instances,
            )?,
            Payload::CustomSection(section) if self.is_outermost() => {
                own_sections::read(&section, &mut self.outline)?;
            }
            // Other parts are bounded by their bytes, or are text.
            _ => {}
        }
        Ok(())
    }

    fn enter(&mut self, encoding: Encoding) -> Result<(), Unreadable> {
        let complexity = &mut self.outline.complexity;
        if !self.inside.is_empty() {
            complexity.modules += 1;
            within(
                "modules and components",
                complexity.modules,
                self.limits.modules,
            )?;
        }
        let module = self.modules;
        if encoding == Encoding::Module {
            self.modules += 1;
        }
        self.inside.push(Inside {
            encoding,
            module,
            function: 0,
        });
        let depth = self.inside.len() as u64;
        complexity.depth = complexity.depth.max(depth);
        let limit = self.limits.depth;
        if depth > limit {
            return Err(too_complex(format!(
                "its components are nested {depth} deep; the limit is {limit}"
            )));
        }
        Ok(())
    }

    fn is_outermost(&self) -> bool {
        matches!(self.inside.as_slice(), [one] if one.encoding == Encoding::Component)
    }

    fn core_imports(
        &mut self,
        imports: wasmparser::ImportSectionReader<'_>,
    ) -> Result<(), Unreadable> {
        for import in imports.into_imports() {
            let import = import?;
            let complexity = &mut self.outline.complexity;
            complexity.imports += 1;
            within("imports", complexity.imports, self.limits.imports)?;
            if let (TypeRef::Func(_) | TypeRef::FuncExact(_), Some(module)) =
                (import.ty, self.inside.last_mut())
            {
                module.function += 1;
            }
        }
        Ok(())
    }

    fn function(&mut self, body: &wasmparser::FunctionBody<'_>) -> Result<(), Unreadable> {
        let Some(module) = self.inside.last_mut() else {
            return Ok(());
        };
        let name = || format!("function {} of module {}", module.function, module.module);
        let bytes = body.range().len() as u64;
        let limit = self.limits.function_bytes;
        if bytes > limit {
            let name = name();
            return Err(too_complex(format!(
                "{name} is {bytes} bytes; the limit is {limit}"
            )));
        }
        let mut locals = 0;
        for group in body.get_locals_reader()? {
            let (count, _) = group?;
            locals += u64::from(count);
        }
        let limit = self.limits.locals;
        if locals > limit {
            let name = name();
            return Err(too_complex(format!(
                "{name} has {locals} locals; the limit is {limit}"
            )));
        }
        module.function += 1;
        let complexity = &mut self.outline.complexity;
        complexity.function_bytes = complexity.function_bytes.max(bytes);
        complexity.locals = complexity.locals.max(locals);
        Ok(())
    }

    fn import(&mut self, name: &str, kind: ComponentTypeRef) {
        let needs_host = match kind {
            ComponentTypeRef::Instance(index) => self.type_needs_host(index),
            ComponentTypeRef::Type(bounds) => {
                let needs_host = bounds == TypeBounds::SubResource;
                self.types.push(false);
                needs_host
            }
            _ => true,
        };
        let name = name.to_owned();
        self.outline.imports.push(Import { name, needs_host });
    }

    /// The compiler reports an index that is out of range.
    fn type_needs_host(&self, index: u32) -> bool {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        self.types.get(index).copied().unwrap_or(false)
    }

    fn alias(&mut self, alias: &wasmparser::ComponentAlias<'_>) {
        use wasmparser::{ComponentAlias, ComponentOuterAliasKind};
        let is_type = match alias {
            ComponentAlias::InstanceExport { kind, .. } => *kind == ComponentExternalKind::Type,
            ComponentAlias::Outer { kind, .. } => *kind == ComponentOuterAliasKind::Type,
            ComponentAlias::CoreInstanceExport { .. } => false,
        };
        if is_type {
            self.types.push(false);
        }
    }
}

fn needs_host(component_type: &ComponentType<'_>) -> bool {
    let ComponentType::Instance(declarations) = component_type else {
        return false;
    };
    declarations.iter().any(|declaration| {
        let InstanceTypeDeclaration::Export { ty, .. } = declaration else {
            return false;
        };
        !matches!(ty, ComponentTypeRef::Type(TypeBounds::Eq(_)))
    })
}

/// Adds to a count and checks it.
fn add(total: &mut u64, count: u32, what: &str, limit: u64) -> Result<(), Unreadable> {
    *total += u64::from(count);
    within(what, *total, limit)
}

fn within(what: &str, count: u64, limit: u64) -> Result<(), Unreadable> {
    if count > limit {
        Err(too_complex(format!(
            "it has {count} {what}; the limit is {limit}"
        )))
    } else {
        Ok(())
    }
}

pub(super) fn too_complex(reason: String) -> Unreadable {
    Unreadable::TooComplex(reason)
}
