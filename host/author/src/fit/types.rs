//! Compares types on both sides, down to the field or case that differs.

use wit_parser::{Handle, Resolve, Type, TypeDefKind};

use super::Difference;

pub struct Types<'a> {
    pub ours: &'a Resolve,
    pub theirs: &'a Resolve,
    pub found: &'a mut Vec<Difference>,
}

/// The named parts of a type: its fields, cases or flags, each with its type, if it has one.
type Parts = Vec<(String, Option<Type>)>;

impl Types<'_> {
    /// Adds the differences. `None` is a missing result of a function, or a case without a value.
    pub fn compare(&mut self, place: &str, ours: Option<&Type>, theirs: Option<&Type>) {
        let (Some(our_type), Some(their_type)) = (ours, theirs) else {
            if ours.is_some() != theirs.is_some() {
                self.differ(place, ours, theirs);
            }
            return;
        };
        let (our_resolve, their_resolve) = (self.ours, self.theirs);
        let our_kind = kind(our_resolve, our_type);
        let their_kind = kind(their_resolve, their_type);
        use TypeDefKind::{Enum, Flags, List, Option as Maybe, Record, Result, Tuple, Variant};
        match (our_kind, their_kind) {
            (Err(ours), Err(theirs)) if ours == theirs => {}
            (Ok(Record(ours)), Ok(Record(theirs))) => {
                let fields = |record: &wit_parser::Record| -> Parts {
                    let fields = record.fields.iter();
                    fields
                        .map(|field| (field.name.clone(), Some(field.ty)))
                        .collect()
                };
                let place = self.type_name(place, our_type);
                self.parts(&place, "field", &fields(ours), &fields(theirs));
            }
            (Ok(Variant(ours)), Ok(Variant(theirs))) => {
                let cases = |variant: &wit_parser::Variant| -> Parts {
                    let cases = variant.cases.iter();
                    cases.map(|case| (case.name.clone(), case.ty)).collect()
                };
                let place = self.type_name(place, our_type);
                self.parts(&place, "case", &cases(ours), &cases(theirs));
            }
            (Ok(Enum(ours)), Ok(Enum(theirs))) => {
                let cases = |cases: &[wit_parser::EnumCase]| -> Parts {
                    cases.iter().map(|case| (case.name.clone(), None)).collect()
                };
                let place = self.type_name(place, our_type);
                self.parts(&place, "case", &cases(&ours.cases), &cases(&theirs.cases));
            }
            (Ok(Flags(ours)), Ok(Flags(theirs))) => {
                let flags = |flags: &[wit_parser::Flag]| -> Parts {
                    flags.iter().map(|flag| (flag.name.clone(), None)).collect()
                };
                let place = self.type_name(place, our_type);
                self.parts(&place, "flag", &flags(&ours.flags), &flags(&theirs.flags));
            }
            (Ok(List(ours)), Ok(List(theirs))) => {
                self.compare(&format!("{place}: items"), Some(ours), Some(theirs));
            }
            (Ok(Maybe(ours)), Ok(Maybe(theirs))) => self.compare(place, Some(ours), Some(theirs)),
            (Ok(Result(ours)), Ok(Result(theirs))) => {
                self.compare(
                    &format!("{place}: ok"),
                    ours.ok.as_ref(),
                    theirs.ok.as_ref(),
                );
                let (ours, theirs) = (ours.err.as_ref(), theirs.err.as_ref());
                self.compare(&format!("{place}: error"), ours, theirs);
            }
            (Ok(Tuple(ours)), Ok(Tuple(theirs))) if ours.types.len() == theirs.types.len() => {
                for (index, (ours, theirs)) in ours.types.iter().zip(&theirs.types).enumerate() {
                    self.compare(&format!("{place}: part {index}"), Some(ours), Some(theirs));
                }
            }
            _ => self.differ(place, ours, theirs),
        }
    }

    /// Compares parts by name and order.
    fn parts(
        &mut self,
        place: &str,
        what: &str,
        ours: &[(String, Option<Type>)],
        theirs: &[(String, Option<Type>)],
    ) {
        let before = self.found.len();
        for (name, our_type) in ours {
            let place = format!("{place}: {what} `{name}`");
            match theirs.iter().find(|(other, _)| other == name) {
                Some((_, their_type)) => {
                    self.compare(&place, our_type.as_ref(), their_type.as_ref());
                }
                None => self.found.push(Difference {
                    item: place,
                    world: Some(self.part(self.ours, what, our_type.as_ref())),
                    component: None,
                }),
            }
        }
        for (name, their_type) in theirs {
            if !ours.iter().any(|(other, _)| other == name) {
                self.found.push(Difference {
                    item: format!("{place}: {what} `{name}`"),
                    world: None,
                    component: Some(self.part(self.theirs, what, their_type.as_ref())),
                });
            }
        }
        let names = |parts: &[(String, Option<Type>)]| {
            let names = parts.iter().map(|(name, _)| name.as_str());
            names.collect::<Vec<_>>().join(", ")
        };
        let (our_names, their_names) = (names(ours), names(theirs));
        if self.found.len() == before && our_names != their_names {
            self.found.push(Difference {
                item: format!("{place}: order of its {what}s"),
                world: Some(our_names),
                component: Some(their_names),
            });
        }
    }

    fn part(&self, resolve: &Resolve, what: &str, ty: Option<&Type>) -> String {
        match ty {
            Some(ty) => text(resolve, ty),
            None => format!("a {what}"),
        }
    }

    fn differ(&mut self, place: &str, ours: Option<&Type>, theirs: Option<&Type>) {
        self.found.push(Difference {
            item: place.to_owned(),
            world: ours.map(|ty| text(self.ours, ty)),
            component: theirs.map(|ty| text(self.theirs, ty)),
        });
    }

    fn type_name(&self, place: &str, ty: &Type) -> String {
        format!("{place}: `{}`", text(self.ours, ty))
    }
}

/// Resolves the aliases of a type; returns the type itself if it is primitive.
fn kind<'a>(resolve: &'a Resolve, ty: &'a Type) -> Result<&'a TypeDefKind, &'a Type> {
    match ty {
        Type::Id(id) => match &resolve.types[*id].kind {
            TypeDefKind::Type(other) => kind(resolve, other),
            other => Ok(other),
        },
        plain => Err(plain),
    }
}

/// Formats a type as WIT does: by name, if it has one.
pub fn text(resolve: &Resolve, ty: &Type) -> String {
    let text = |ty: &Type| text(resolve, ty);
    let maybe = |ty: &Option<Type>| match ty {
        Some(ty) => text(ty),
        None => "_".to_owned(),
    };
    let Type::Id(id) = ty else {
        return plain(ty).to_owned();
    };
    let definition = &resolve.types[*id];
    if let Some(name) = &definition.name {
        return name.clone();
    }
    match &definition.kind {
        TypeDefKind::List(item) => format!("list<{}>", text(item)),
        TypeDefKind::Option(some) => format!("option<{}>", text(some)),
        TypeDefKind::Result(result) => match (&result.ok, &result.err) {
            (None, None) => "result".to_owned(),
            (Some(ok), None) => format!("result<{}>", text(ok)),
            (ok, err) => format!("result<{}, {}>", maybe(ok), maybe(err)),
        },
        TypeDefKind::Tuple(tuple) => {
            let parts: Vec<String> = tuple.types.iter().map(text).collect();
            format!("tuple<{}>", parts.join(", "))
        }
        TypeDefKind::Handle(Handle::Own(id)) => text(&Type::Id(*id)),
        TypeDefKind::Handle(Handle::Borrow(id)) => format!("borrow<{}>", text(&Type::Id(*id))),
        TypeDefKind::Type(other) => text(other),
        other => other.as_str().to_owned(),
    }
}

fn plain(ty: &Type) -> &'static str {
    match ty {
        Type::Bool => "bool",
        Type::U8 => "u8",
        Type::U16 => "u16",
        Type::U32 => "u32",
        Type::U64 => "u64",
        Type::S8 => "s8",
        Type::S16 => "s16",
        Type::S32 => "s32",
        Type::S64 => "s64",
        Type::F32 => "f32",
        Type::F64 => "f64",
        Type::Char => "char",
        Type::String => "string",
        Type::ErrorContext => "error-context",
        Type::Id(_) => "a named type",
    }
}
