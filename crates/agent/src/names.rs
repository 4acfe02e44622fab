//! Conversion of the VM's names to those in source code.

/// `[Ljava/lang/String;` becomes `java.lang.String[]`. Any text that is no signature stays, with dots.
pub(crate) fn source_name(signature: &str) -> String {
    let dimensions = signature.bytes().take_while(|&b| b == b'[').count();
    let element = match &signature[dimensions..] {
        "Z" => "boolean".to_owned(),
        "B" => "byte".to_owned(),
        "C" => "char".to_owned(),
        "D" => "double".to_owned(),
        "F" => "float".to_owned(),
        "I" => "int".to_owned(),
        "J" => "long".to_owned(),
        "S" => "short".to_owned(),
        "V" => "void".to_owned(),
        class => match class.strip_prefix('L').and_then(|c| c.strip_suffix(';')) {
            // Hidden classes: `Lapp/Main$$Lambda.0x12;`, where the dot stands before the VM's own number.
            Some(class) => class.replace('/', "."),
            None => class.replace('/', "."),
        },
    };
    element + &"[]".repeat(dimensions)
}

/// The sort of a class's objects, by its signature: 0 instances, 1 arrays of references, 2 arrays of primitive values.
pub(crate) fn kind(signature: &str) -> u32 {
    match signature.as_bytes() {
        [b'[', b'[' | b'L', ..] => 1,
        [b'[', ..] => 2,
        _ => 0,
    }
}

/// The parameters of a method by its descriptor, types without their packages: `(Object, int)`. `None` where it is none.
pub(crate) fn parameters(descriptor: &str) -> Option<String> {
    let (inside, _) = descriptor.strip_prefix('(')?.split_once(')')?;
    let mut types = Vec::new();
    let mut rest = inside;
    while !rest.is_empty() {
        let dimensions = rest.bytes().take_while(|&b| b == b'[').count();
        let length = match rest.as_bytes().get(dimensions)? {
            b'L' => rest.find(';')? + 1,
            _ => dimensions + 1,
        };
        let (one, behind) = rest.split_at_checked(length)?;
        let name = source_name(one);
        types.push(name.rsplit('.').next().unwrap_or(&name).to_owned());
        rest = behind;
    }
    Some(format!("({})", types.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_those_of_the_source() {
        for (signature, name, of) in [
            ("Ljava/lang/String;", "java.lang.String", 0),
            ("[I", "int[]", 2),
            ("[[I", "int[][]", 1),
            ("[Ljava/util/Map$Entry;", "java.util.Map$Entry[]", 1),
            ("", "", 0),
        ] {
            assert_eq!((source_name(signature).as_str(), kind(signature)), (name, of), "{signature}");
        }
        assert_eq!(parameters("(Ljava/lang/Object;I[[JLa/B$C;)V").as_deref(), Some("(Object, int, long[][], B$C)"));
        assert_eq!(parameters("()V").as_deref(), Some("()"));
        assert_eq!((parameters("(Ljava"), parameters("x"), parameters("([)V")), (None, None, None));
    }

    proptest! {
        #[test]
        fn anything_has_a_name(text in ".{0,30}") {
            let _ = (source_name(&text), kind(&text), parameters(&text), parameters(&format!("({text})V")));
        }
    }
}
