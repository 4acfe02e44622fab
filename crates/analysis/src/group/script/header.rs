//! The header of a script, and the facts that its code reads.

use super::object::PROPERTIES;
use crate::group::{Cardinality, Reads};
use rhai::{AST, ASTNode, Expr, Position};

/// The content of a header; all of it may be left out.
#[derive(Default)]
pub(super) struct Header {
    pub id: Option<String>,
    pub name: Option<String>,
    pub description: Option<String>,
    pub example: Option<String>,
    pub cardinality: Option<Cardinality>,
    /// The listed facts, and the line.
    pub reads: Option<(Reads, usize)>,
}

const CARDINALITIES: [(&str, Cardinality); 6] = [
    ("one", Cardinality::One),
    ("many", Cardinality::Many),
    ("hierarchy", Cardinality::Hierarchy),
    ("hierarchies", Cardinality::Hierarchies),
    ("filter", Cardinality::Filter),
    ("parts", Cardinality::Transformer),
];

const FIELDS: &str = "id, name, description, example, cardinality, reads";

impl Header {
    /// The comments before the code, as far as they are of the form `// field: text`. An error has line, message, remedy.
    pub fn parse(text: &str) -> Result<Header, (usize, String, String)> {
        let mut header = Header::default();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            let Some(comment) = line.strip_prefix("//") else {
                if line.is_empty() {
                    continue;
                }
                break;
            };
            let Some((field, value)) = comment.split_once(':') else { continue };
            let (field, value) = (field.trim(), value.trim());
            let text = || Some(value.to_owned()).filter(|v| !v.is_empty());
            match field {
                "id" => header.id = text(),
                "name" => header.name = text(),
                "description" => header.description = text(),
                "example" => header.example = text(),
                "cardinality" => {
                    let Some((_, known)) = CARDINALITIES.iter().find(|(name, _)| *name == value) else {
                        let known: Vec<&str> = CARDINALITIES.iter().map(|c| c.0).collect();
                        let message = format!("there is no cardinality {value:?}");
                        return Err((number, message, format!("Write one of: {}", known.join(", "))));
                    };
                    header.cardinality = Some(*known);
                }
                "reads" => {
                    let mut reads = Reads::empty();
                    for name in value.split(',').map(str::trim).filter(|name| !name.is_empty()) {
                        let Some(property) = PROPERTIES.iter().find(|p| p.name == name) else {
                            let message = format!("an object tells nothing called {name:?}");
                            return Err((number, message, format!("Known are: {}", known_names())));
                        };
                        reads |= property.reads;
                    }
                    header.reads = Some((reads, number));
                }
                // A comment with a colon in it is a comment; a misspelt field is not.
                field if !field.contains(' ') && FIELDS.split(", ").any(|f| strsim::jaro_winkler(f, field) > 0.85) => {
                    let message = format!("the header has no field {field:?}");
                    return Err((number, message, format!("Write one of: {FIELDS}")));
                }
                _ => {}
            }
        }
        Ok(header)
    }
}

/// The names of all that an object tells.
pub(super) fn known_names() -> String {
    PROPERTIES.iter().map(|p| p.name).collect::<Vec<_>>().join(", ")
}

/// Tells of the property that a node is. Goes into the arguments of methods, which the walk leaves out.
fn look(path: &[ASTNode<'_>], note: &mut dyn FnMut(&str, Position)) -> bool {
    match path.last() {
        Some(ASTNode::Expr(Expr::Property(property, place))) => note(&property.2, *place),
        Some(ASTNode::Expr(Expr::MethodCall(call, _))) => {
            for argument in &call.args {
                argument.walk(&mut Vec::new(), &mut |path: &[ASTNode<'_>]| look(path, &mut *note));
            }
        }
        _ => {}
    }
    true
}

/// Place, message, remedy.
type Undeclared = ((usize, usize), String, String);

/// The facts that the code reads: every property in it whose name is one that objects have. A list in the header counts instead, and then
/// any other property is an error.
pub(super) fn reads(ast: &AST, declared: Option<(Reads, usize)>) -> Result<Reads, Undeclared> {
    let mut found = Reads::empty();
    let mut undeclared = None;
    let mut note = |name: &str, place: Position| {
        let Some(known) = PROPERTIES.iter().find(|p| p.name == name) else { return };
        found |= known.reads;
        if let Some((declared, _)) = declared
            && !declared.contains(known.reads)
            && undeclared.is_none()
        {
            undeclared = Some((known.name, place));
        }
    };
    ast.walk(&mut |path| look(path, &mut note));
    match (undeclared, declared) {
        (Some((name, place)), Some((declared, line))) => {
            let mut names: Vec<&str> = Vec::new();
            let all = declared | found;
            for property in PROPERTIES.iter().filter(|p| all.contains(p.reads)) {
                // One name for each of them is enough.
                if !names.iter().any(|n| PROPERTIES.iter().any(|p| p.name == *n && p.reads == property.reads)) {
                    names.push(property.name);
                }
            }
            let message = format!("it reads {name}, which the header does not list");
            let remedy = format!("Write in line {line}: // reads: {}", names.join(", "));
            Err(((place.line().unwrap_or(0), place.position().unwrap_or(0)), message, remedy))
        }
        (_, Some((declared, _))) => Ok(declared),
        // A script that looks at nothing gives every object the same answer.
        _ if found.is_empty() => Ok(Reads::TYPE),
        _ => Ok(found),
    }
}
