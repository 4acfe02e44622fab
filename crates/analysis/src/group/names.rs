//! Names of types: packages, and what is no part of the name.

/// Hidden classes (lambdas) carry an address that differs from run to run: `Main$$Lambda$14.0x000000080103`.
#[inline]
pub(crate) fn without_address(name: &str) -> &str {
    // Names of arrays of such classes are cut too: what stands behind the address goes with it.
    let element = name.trim_end_matches("[]");
    match element.rfind("0x") {
        Some(at)
            if at > 0
                && element[..at].ends_with(['.', '/', '+'])
                && element.len() > at + 2
                && element[at + 2..].bytes().all(|b| b.is_ascii_hexdigit()) =>
        {
            &element[..at - 1]
        }
        _ => name,
    }
}

/// Package and simple name.
pub(super) fn split(name: &str) -> (&str, &str) {
    let name = without_address(name);
    let element = name.trim_end_matches("[]");
    match element.rfind('.') {
        Some(dot) => (&name[..dot], &name[dot + 1..]),
        None => ("", name),
    }
}

/// Whether it is the name of an array of primitive values, of any dimensions.
pub(super) fn is_primitive_array(name: &str) -> bool {
    let element = name.trim_end_matches("[]");
    element.len() < name.len()
        && ["boolean", "byte", "char", "short", "int", "long", "float", "double"].contains(&element)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_where_the_package_ends() {
        for (name, package, simple) in [
            ("java.util.HashMap$Node", "java.util", "HashMap$Node"),
            ("java.util.HashMap$Node[]", "java.util", "HashMap$Node[]"),
            ("char[]", "", "char[]"),
            ("Main", "", "Main"),
            ("com.acme.Main$$Lambda$14.0x0000000800c03000", "com.acme", "Main$$Lambda$14"),
            ("com.acme.Main$$Lambda+0x00007f", "com.acme", "Main$$Lambda"),
            ("com.acme.Hex0xff", "com.acme", "Hex0xff"),
        ] {
            assert_eq!(split(name), (package, simple), "{name}");
        }
    }
}
