//! Names of types: the package, the parts around nested types, and the parts that differ from run to run.

use std::borrow::Cow;

/// How the names of types are made.
#[derive(Debug)]
pub struct NameRules {
    /// The characters of which one stands before the address in the name of a hidden type: `Main$$Lambda/0x00f1`. Without any, no type is
    /// hidden.
    pub hidden: &'static [char],
    /// Types that are generated while a program runs.
    pub generated: &'static [GeneratedName],
    /// Characters of which each mark in `generated` has one: most names have none, and are searched for nothing else.
    pub letters_of_generated: &'static [char],
    /// Parts of the names of types that are generated for each loader anew.
    pub generated_by_loader: &'static [&'static str],
    /// The character between a type and those declared in it: `HashMap$Node`.
    pub nested: Option<char>,
    /// Primitive types, as their arrays are named.
    pub primitives: &'static [&'static str],
    /// Parts of names of owners that say nothing.
    pub unsaid: &'static [&'static str],
    /// Classes and threads that hold what is to be cleaned up when others have let go of it, as places are named: they are no owners.
    pub cleaners: &'static [&'static str],
}

/// The name of types that are generated while a program runs: a mark, and behind it a counter or a hash.
#[derive(Clone, Copy, Debug)]
pub struct GeneratedName {
    /// The end of the part that is the same in every run.
    pub mark: &'static str,
    /// Whether digits alone follow.
    pub digits: bool,
}

impl NameRules {
    /// All names stay as they are.
    pub const PLAIN: NameRules = NameRules {
        hidden: &[],
        generated: &[],
        letters_of_generated: &[],
        generated_by_loader: &[],
        nested: None,
        primitives: &[],
        unsaid: &[],
        cleaners: &[],
    };

    /// The part of a name that is the same in every run. Runtimes and libraries that generate types name them by a counter, a hash or an
    /// address. The stable part is the host and the generator.
    #[inline]
    pub fn stable<'n>(&self, name: &'n str) -> &'n str {
        let name = self.without_address(name);
        if !name.contains(self.letters_of_generated) { name } else { self.without_counter(name) }
    }

    fn without_counter<'n>(&self, name: &'n str) -> &'n str {
        let element = name.trim_end_matches("[]");
        let cut = self.generated.iter().find_map(|of| {
            let end = element.find(of.mark)? + of.mark.len();
            let rest = element[end..].trim_start_matches(|c| self.nested == Some(c));
            let fits = if of.digits { rest.bytes().all(|b| b.is_ascii_digit()) } else { is_hash(rest) };
            (!rest.is_empty() && fits).then_some(end)
        });
        cut.map_or(name, |end| &name[..end])
    }

    /// Names of arrays of hidden types are cut too: what stands behind the address goes with it.
    fn without_address<'n>(&self, name: &'n str) -> &'n str {
        let element = name.trim_end_matches("[]");
        match element.rfind("0x") {
            Some(at)
                if at > 0
                    && element[..at].ends_with(self.hidden)
                    && element.len() > at + 2
                    && element[at + 2..].bytes().all(|b| b.is_ascii_hexdigit()) =>
            {
                &element[..at - 1]
            }
            _ => name,
        }
    }

    /// Whether a type is hidden: its name has its address.
    pub fn is_hidden(&self, name: &str) -> bool {
        name.rfind("0x").is_some_and(|at| name[..at].ends_with(self.hidden))
    }

    /// A place in code without the addresses of hidden types: `Shop$$Lambda$12+0x00f1.run()` becomes `Shop$$Lambda.run()`.
    pub fn place_without_addresses<'n>(&self, place: &'n str) -> Cow<'n, str> {
        let first = place.match_indices("0x").find(|&(at, _)| place[..at].ends_with(self.hidden));
        let Some((number, _)) = first else { return place.into() };
        let after = place[number + 2..].trim_start_matches(|c: char| c.is_ascii_hexdigit());
        let class = place[..number].strip_suffix(self.hidden).unwrap_or(&place[..number]);
        let counted = class.trim_end_matches(|c: char| c.is_ascii_digit());
        let generated = self.nested.and_then(|mark| counted.strip_suffix(mark)).filter(|name| {
            let ends = |of: &GeneratedName| of.digits && name.ends_with(of.mark);
            self.generated.iter().any(ends)
        });
        format!("{}{after}", generated.unwrap_or(class)).into()
    }

    /// Package and simple name of a type, of its stable part.
    pub fn split<'n>(&self, name: &'n str) -> (&'n str, &'n str) {
        let name = self.stable(name);
        let element = name.trim_end_matches("[]");
        match element.rfind('.') {
            Some(dot) => (&name[..dot], &name[dot + 1..]),
            None => ("", name),
        }
    }

    /// Whether it is the name of an array of primitive values, of any dimensions.
    pub fn is_primitive_array(&self, name: &str) -> bool {
        let element = name.trim_end_matches("[]");
        element.len() < name.len() && self.primitives.contains(&element)
    }

    /// The bytes of a name up to the end of the outermost type: `java.util.HashMap` of `java.util.HashMap$Node`. All, of one that is not
    /// nested.
    pub fn outermost(&self, name: &str) -> usize {
        self.nested.and_then(|mark| name.find(mark)).unwrap_or(name.len())
    }
}

/// True if a text is no name that a person gave: letters and digits in one word, with a digit among them or many hexadecimal ones alone.
fn is_hash(text: &str) -> bool {
    let is_word = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$');
    let is_hex = text.len() >= 6 && text.bytes().all(|b| b.is_ascii_hexdigit());
    is_word && (is_hex || text.bytes().any(|b| b.is_ascii_digit()))
}
