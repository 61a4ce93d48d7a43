//! Compares the functions of an interface on both sides.

use wit_parser::Function;

use super::types::Types;
use super::{Difference, Item, Side};

pub struct Functions<'a> {
    pub ours: &'a Side<'a>,
    pub theirs: &'a Side<'a>,
}

impl Functions<'_> {
    /// Compares an exported interface: it must have all functions of the world.
    pub fn all_of_the_world(
        &self,
        place: &str,
        ours: &Item,
        theirs: &Item,
        found: &mut Vec<Difference>,
    ) {
        for (name, wanted) in functions(ours) {
            let has = functions(theirs).find(|(other, _)| *other == name);
            let place = format!("{place}: function `{name}`");
            match has {
                Some((_, function)) => self.compare(&place, wanted, function, found),
                None => found.push(Difference {
                    item: place,
                    world: Some(self.signature(self.ours, wanted)),
                    component: None,
                }),
            }
        }
    }

    /// Compares an imported interface: all of its functions must be in the world.
    pub fn all_of_the_component(
        &self,
        place: &str,
        ours: &Item,
        theirs: &Item,
        found: &mut Vec<Difference>,
    ) {
        for (name, wanted) in functions(theirs) {
            let has = functions(ours).find(|(other, _)| *other == name);
            let place = format!("{place}: function `{name}`");
            match has {
                Some((_, function)) => self.compare(&place, function, wanted, found),
                None => found.push(Difference {
                    item: place,
                    world: None,
                    component: Some(self.signature(self.theirs, wanted)),
                }),
            }
        }
    }

    fn compare(
        &self,
        place: &str,
        ours: &Function,
        theirs: &Function,
        found: &mut Vec<Difference>,
    ) {
        let names = |function: &Function| -> Vec<String> {
            let names = function.params.iter().map(|param| param.name.clone());
            names.collect()
        };
        let mut types = Types {
            ours: self.ours.resolve,
            theirs: self.theirs.resolve,
            found,
        };
        if names(ours) != names(theirs) {
            types.found.push(Difference {
                item: place.to_owned(),
                world: Some(self.signature(self.ours, ours)),
                component: Some(self.signature(self.theirs, theirs)),
            });
            return;
        }
        for (ours, theirs) in ours.params.iter().zip(&theirs.params) {
            let place = format!("{place}: parameter `{}`", ours.name);
            types.compare(&place, Some(&ours.ty), Some(&theirs.ty));
        }
        let place = format!("{place}: result");
        types.compare(&place, ours.result.as_ref(), theirs.result.as_ref());
    }

    fn signature(&self, side: &Side, function: &Function) -> String {
        let text = |ty| super::types::text(side.resolve, ty);
        let params = function
            .params
            .iter()
            .map(|param| format!("{}: {}", param.name, text(&param.ty)));
        let params = params.collect::<Vec<_>>().join(", ");
        match &function.result {
            Some(result) => format!("func({params}) -> {}", text(result)),
            None => format!("func({params})"),
        }
    }
}

fn functions<'a>(item: &'a Item) -> impl Iterator<Item = (&'a str, &'a Function)> {
    let functions = item.interface.into_iter().flat_map(|it| &it.functions);
    functions.map(|(name, function)| (name.as_str(), function))
}
