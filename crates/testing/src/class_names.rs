//! Names of classes as the class histograms of VMs write them.

/// `[Ljava.lang.String;` as `java.lang.String[]`.
pub fn source_name(name: &str) -> String {
    let dimensions = name.bytes().take_while(|&b| b == b'[').count();
    if dimensions == 0 {
        return name.replace('/', ".");
    }
    // Recent VMs name the arrays they fill gaps with; a dump shows them as what they are made of.
    if name == "[Ljdk.internal.vm.FillerElement;" {
        return "int[]".to_owned();
    }
    let element = match &name[dimensions..] {
        "Z" => "boolean",
        "B" => "byte",
        "C" => "char",
        "D" => "double",
        "F" => "float",
        "I" => "int",
        "J" => "long",
        "S" => "short",
        class => class.trim_start_matches('L').trim_end_matches(';'),
    };
    element.replace('/', ".") + &"[]".repeat(dimensions)
}
