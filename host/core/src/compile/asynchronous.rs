//! Detects features that only components for WASI 0.3 have: async functions, streams and futures.

use wasmparser::{
    CanonicalFunction, CanonicalOption, ComponentDefinedType, ComponentType,
    ComponentTypeDeclaration, InstanceTypeDeclaration,
};

/// Returns whether this type contains such a type. The reader has bounded its depth.
pub fn has_type(component_type: &ComponentType<'_>) -> bool {
    match component_type {
        ComponentType::Defined(defined) => matches!(
            defined,
            ComponentDefinedType::Stream(_) | ComponentDefinedType::Future(_)
        ),
        ComponentType::Func(function) => function.async_,
        ComponentType::Component(declarations) => declarations.iter().any(|it| match it {
            ComponentTypeDeclaration::Type(inner) => has_type(inner),
            _ => false,
        }),
        ComponentType::Instance(declarations) => declarations.iter().any(|it| match it {
            InstanceTypeDeclaration::Type(inner) => has_type(inner),
            _ => false,
        }),
        ComponentType::Resource { .. } => false,
    }
}

/// Returns whether this canonical ABI function is async or works on streams or futures.
pub fn has_function(function: &CanonicalFunction) -> bool {
    match function {
        CanonicalFunction::Lift { options, .. } | CanonicalFunction::Lower { options, .. } => {
            options.contains(&CanonicalOption::Async)
        }
        CanonicalFunction::ResourceNew { .. }
        | CanonicalFunction::ResourceDrop { .. }
        | CanonicalFunction::ResourceRep { .. } => false,
        _ => true,
    }
}
