//! The profile of the JVM: the names of classes, packages and fields that Java and the other languages of the JVM have, and their
//! libraries. All readers of JVM heaps hand it over. No other module of the engine has such names.

mod collections;
mod names;
mod packages;
mod structures;
mod types;

use memory_city_heap::Profile;

/// The JVM, with its languages and libraries; also Android's runtime.
pub static JVM: Profile = Profile {
    names: names::NAMES,
    packages: packages::PACKAGES,
    loaders: packages::LOADERS,
    collections: collections::COLLECTIONS,
    entries: collections::ENTRIES,
    types: types::TYPES,
    structures: structures::STRUCTURES,
};

#[cfg(test)]
mod tests {
    use super::JVM;

    #[test]
    fn names_are_split_where_the_package_ends() {
        for (name, package, simple) in [
            ("java.util.HashMap$Node", "java.util", "HashMap$Node"),
            ("java.util.HashMap$Node[]", "java.util", "HashMap$Node[]"),
            ("char[]", "", "char[]"),
            ("Main", "", "Main"),
            ("com.acme.Main$$Lambda$14.0x0000000800c03000", "com.acme", "Main$$Lambda"),
            ("com.acme.Main$$Lambda+0x00007f", "com.acme", "Main$$Lambda"),
            ("com.acme.Hex0xff", "com.acme", "Hex0xff"),
        ] {
            assert_eq!(JVM.names.split(name), (package, simple), "{name}");
        }
    }

    #[test]
    fn classes_that_are_made_while_a_program_runs_have_one_name_in_all_runs() {
        for (name, stable) in [
            ("Shop$$Lambda$14/0x0000000800c03000", "Shop$$Lambda"),
            ("Shop$$Lambda$14[]", "Shop$$Lambda"),
            ("com.sun.proxy.$Proxy0", "com.sun.proxy.$Proxy"),
            ("com.acme.Repo$$EnhancerBySpringCGLIB$$1a2b3c4d", "com.acme.Repo$$EnhancerBySpringCGLIB"),
            ("com.acme.Repo$$SpringCGLIB$$0", "com.acme.Repo$$SpringCGLIB"),
            ("com.acme.Item$HibernateProxy$x3Kd92aB", "com.acme.Item$HibernateProxy"),
            ("com.acme.Item$MockitoMock$1184592", "com.acme.Item$MockitoMock"),
            ("com.acme.Item_$$_jvst1a2_0", "com.acme.Item_$$_jvst"),
            ("jdk.internal.reflect.GeneratedMethodAccessor12", "jdk.internal.reflect.GeneratedMethodAccessor"),
        ] {
            assert_eq!(JVM.names.stable(name), stable);
        }
        // Names that people gave stay.
        for name in
            ["Shop", "Shop$1", "a.$ProxyFactory", "a.Repo$$SpringCGLIB", "a.B$ByteBuddy$Listener", "a.B$ProxyPool2"]
        {
            assert_eq!(JVM.names.stable(name), name);
        }
    }
}
