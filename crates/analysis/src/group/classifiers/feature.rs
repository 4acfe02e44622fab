//! Classifier by feature: parts of the program that a file maps to code.
//!
//! ```text
//! # A name in brackets begins a feature; the lines below it say which code belongs to it.
//! [checkout]
//! com.acme.shop.checkout          # a package with the packages in it
//! com.acme.shop.Cart              # a class with the classes in it
//! com.acme.shop.Cart.add          # a method
//! com.acme.shop.Cart.add:12-40    # a part of a method: from bytecode index (or line) 12 to 40
//! ```
//! Features may overlap.

use crate::group::outline::FILE;
use crate::group::registry::{OptionInfo, RegistryError};
use crate::group::{ByFunction, Cardinality, ClassifierMeta, Reads, Registry};
use memory_city_heap::printable::printable;
use memory_city_heap::regular;
use std::path::Path;
use std::sync::Arc;

/// No file of features is larger.
const MOST_BYTES: u64 = 4 << 20;

const OPTIONS: [OptionInfo; 3] = [
    OptionInfo {
        name: FILE,
        description: "The file that says which code belongs to which feature",
        example: Some("features.txt"),
    },
    OptionInfo { name: "site", description: "Only the allocating method decides, none of its callers", example: None },
    OptionInfo {
        name: "all",
        description: "Every method of the call chain decides, not only the innermost",
        example: None,
    },
];

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("feature", "Feature")
        .describe(
            "The features whose code allocated the object, as a file maps them: those of the innermost method of the call \
             chain that belongs to any",
            "checkout",
        )
        .reads(Reads::SITE)
        .cardinality(Cardinality::Many);
    registry.add_with_options(meta.clone(), &OPTIONS, move |request| {
        let (site, all) = (request.has("site"), request.has("all"));
        if site && all {
            return Err("site and all exclude each other".to_owned());
        }
        let Some(path) = request.value(FILE) else {
            return Err("it needs a file: feature(file=features.txt)".to_owned());
        };
        // Not a word of what is in it goes into a message: whoever wrote the list may not be who may read the file.
        let bytes = regular::read(Path::new(path), MOST_BYTES);
        let path = printable(path);
        let text = String::from_utf8(bytes.map_err(|e| format!("{path}: {e}"))?);
        let text = text.map_err(|_| format!("{path} is no text in UTF-8"))?;
        let features = FeatureMap::parse(&text).map_err(|(line, message)| format!("{path}, line {line}: {message}"))?;
        Ok(Arc::new(ByFunction::new(meta.clone(), move |object, values| {
            let frames = object.site();
            let mut found: Vec<usize> = Vec::new();
            for frame in frames.iter().take(if site { 1 } else { usize::MAX }) {
                features.of(frame, &mut found);
                if !found.is_empty() && !all {
                    break;
                }
            }
            found.sort_unstable();
            found.dedup();
            found.iter().for_each(|&feature| values.one(&features.names[feature]));
            if found.is_empty() {
                values.one(if frames.is_empty() { object.no_site() } else { "(no feature)" });
            }
        })))
    })
}

/// Prefix of a name in the code, its range of lines, and the number of the feature.
type FeatureRule = (String, Option<(u64, u64)>, usize);

/// Maps code to features.
#[derive(Debug, Default)]
struct FeatureMap {
    names: Vec<String>,
    rules: Vec<FeatureRule>,
}

impl FeatureMap {
    /// Reads it; an error has the number of its line.
    fn parse(text: &str) -> Result<FeatureMap, (usize, String)> {
        let mut map = FeatureMap::default();
        let mut feature = None;
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            if let Some(name) = line.strip_prefix('[') {
                let Some(name) = name.strip_suffix(']').map(str::trim).filter(|name| !name.is_empty()) else {
                    return Err((number, "that is no feature: write its name in brackets, [checkout]".to_owned()));
                };
                let at = map.names.iter().position(|n| n == name).unwrap_or_else(|| {
                    map.names.push(name.to_owned());
                    map.names.len() - 1
                });
                feature = Some(at);
                continue;
            }
            let Some(feature) = feature else {
                let message = "that belongs to no feature: begin one above it, [checkout]".to_owned();
                return Err((number, message));
            };
            let (code, part) = match line.split_once(':') {
                None => (line, None),
                Some((code, part)) => {
                    let (from, to) = part.split_once('-').unwrap_or((part, part));
                    match (from.trim().parse(), to.trim().parse()) {
                        (Ok(from), Ok(to)) if from <= to => (code, Some((from, to))),
                        _ => return Err((number, "behind : stands no part of a method: write it as 12-40".to_owned())),
                    }
                }
            };
            let code = code.trim().trim_end_matches(".*");
            if code.is_empty() || code.contains(char::is_whitespace) {
                let message = "that is no code: write a package, a class or a method, com.acme.Cart.add".to_owned();
                return Err((number, message));
            }
            map.rules.push((code.to_owned(), part, feature));
        }
        if map.names.is_empty() {
            return Err((1, "there is no feature: begin one with its name in brackets, [checkout]".to_owned()));
        }
        Ok(map)
    }

    /// Adds the features that a frame belongs to.
    fn of(&self, frame: &str, found: &mut Vec<usize>) {
        let method = frame.split(['(', ':', ' ']).next().unwrap_or(frame);
        for (code, part, feature) in &self.rules {
            let Some(rest) = method.strip_prefix(code.as_str()) else { continue };
            let belongs = match part {
                None => rest.is_empty() || rest.starts_with(['.', '$']),
                Some((from, to)) => rest.is_empty() && place(frame).is_some_and(|at| (*from..=*to).contains(&at)),
            };
            if belongs {
                found.push(*feature);
            }
        }
    }
}

/// The bytecode index or line at the end of a frame.
fn place(frame: &str) -> Option<u64> {
    let digits = frame.len() - frame.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    frame[frame.len() - digits..].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_belongs_to_features() {
        let map = "# all\n[shop]\ncom.acme.shop.*\n[cart] \ncom.acme.shop.Cart\n[adding]\ncom.acme.shop.Cart.add:3-9\n[shop]\nMain.main";
        let map = FeatureMap::parse(map).expect("a map");
        for (frame, expected) in [
            ("com.acme.shop.Cart.add(Item):3", vec!["shop", "cart", "adding"]),
            ("com.acme.shop.Cart.add(Item):10", vec!["shop", "cart"]),
            ("com.acme.shop.Cart$Line.<init>():4", vec!["shop", "cart"]),
            ("com.acme.shop.Carts.add():4", vec!["shop"]),
            ("com.acme.shopping.Cart.add():4", vec![]),
            ("com.acme.shop.Cart.add() line 9", vec!["shop", "cart", "adding"]),
            ("com.acme.shop.Cart.addAll():5", vec!["shop", "cart"]),
            ("Main.main(String[]):7", vec!["shop"]),
        ] {
            let mut found = Vec::new();
            map.of(frame, &mut found);
            let names: Vec<&str> = found.into_iter().map(|f| &*map.names[f]).collect();
            assert_eq!(names, expected, "{frame}");
        }
    }

    #[test]
    fn mistakes_have_lines() {
        for (text, line) in
            [("a.B", 1), ("[x]\n\n[", 3), ("[x]\na.B.c:9-3", 2), ("[x]\na b", 2), ("", 1), ("[x]\n:3", 2)]
        {
            assert_eq!(FeatureMap::parse(text).expect_err(text).0, line, "{text}");
        }
    }
}
