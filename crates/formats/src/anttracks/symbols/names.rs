//! Conversion of type and method names to those in source code.

use memory_city_wire::modified_utf8;

/// A type in source form: `char[]`, `java.util.HashMap$Node`.
pub(super) fn type_name(signature: &[u8]) -> String {
    let dimensions = signature.iter().take_while(|&&b| b == b'[').count();
    let mut name = match &signature[dimensions..] {
        [b'L', class @ .., b';'] => modified_utf8(class).replace('/', "."),
        [primitive] => primitive_name(*primitive).to_owned(),
        other => modified_utf8(other).into_owned(),
    };
    name.push_str(&"[]".repeat(dimensions));
    name
}

fn primitive_name(letter: u8) -> &'static str {
    match letter {
        b'Z' => "boolean",
        b'B' => "byte",
        b'C' => "char",
        b'S' => "short",
        b'I' => "int",
        b'J' => "long",
        b'F' => "float",
        b'D' => "double",
        b'V' => "void",
        _ => "?",
    }
}

/// A frame for people: class, method, simple names of its parameters, bytecode index.
pub(super) fn frame(method: &[u8], index: i32) -> String {
    let text = modified_utf8(method);
    let (name, rest) = text.split_once('(').unwrap_or((&text, ""));
    if let Some(repeat) = name.strip_prefix("$$Recursion.") {
        return format!("(recursion: {})", repeat.replace('_', " "));
    }
    let mut out = name.replace('/', ".");
    if text.contains('(') {
        out.push('(');
        let parameters = rest.split(')').next().unwrap_or("").as_bytes();
        let mut at = 0;
        let mut first = true;
        while at < parameters.len() {
            let start = at;
            while parameters.get(at) == Some(&b'[') {
                at += 1;
            }
            if parameters.get(at) == Some(&b'L') {
                at += parameters[at..].iter().position(|&b| b == b';').unwrap_or(parameters.len() - at - 1);
            }
            at = (at + 1).min(parameters.len());
            let full = type_name(&parameters[start..at]);
            if !first {
                out.push_str(", ");
            }
            first = false;
            out.push_str(full.rsplit('.').next().unwrap_or(&full));
        }
        out.push(')');
    }
    if index >= 0 {
        out.push_str(&format!(":{index}"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_become_source_names() {
        for (signature, name) in [
            ("Ljava/util/HashMap$Node;", "java.util.HashMap$Node"),
            ("[C", "char[]"),
            ("[[Ljava/lang/String;", "java.lang.String[][]"),
            ("LMain;", "Main"),
            ("[", "[]"),
        ] {
            assert_eq!(type_name(signature.as_bytes()), name);
        }
    }

    #[test]
    fn frames_are_short_and_tell_overloads_apart() {
        for (method, index, text) in [
            ("java/util/LinkedList.linkLast(Ljava/lang/Object;)V", 7, "java.util.LinkedList.linkLast(Object):7"),
            ("Main.f([[IJLa/B;)[C", 0, "Main.f(int[][], long, B):0"),
            ("Main.main()V", -1, "Main.main()"),
            ("$$Recursion.repeat_3_last_frames_12_times()V", 0, "(recursion: repeat 3 last frames 12 times)"),
            ("Broken.f(Lx", 1, "Broken.f(Lx):1"),
        ] {
            assert_eq!(frame(method.as_bytes(), index), text);
        }
    }
}
