//! Names of classes of the JVM.

use memory_city_heap::{GeneratedName, NameRules};

const fn counted(mark: &'static str) -> GeneratedName {
    GeneratedName { mark, digits: true }
}

const fn hashed(mark: &'static str) -> GeneratedName {
    GeneratedName { mark, digits: false }
}

pub(super) const NAMES: NameRules = NameRules {
    hidden: &['.', '/', '+'],
    generated: &[
        counted("$$Lambda"),
        counted("$Proxy"),
        hashed("$$SpringCGLIB"),
        hashed("BySpringCGLIB"),
        hashed("ByCGLIB"),
        hashed("$HibernateProxy"),
        hashed("$ByteBuddy"),
        hashed("$MockitoMock"),
        hashed("_$$_jvst"),
        counted(".GeneratedMethodAccessor"),
        counted(".GeneratedConstructorAccessor"),
    ],
    letters_of_generated: &['$', 'G'],
    // Lambdas, hidden classes, and what libraries make up.
    generated_by_loader: &["$$", "$Proxy"],
    nested: Some('$'),
    primitives: &["boolean", "byte", "char", "short", "int", "long", "float", "double"],
    // The one instance of an object of Scala.
    unsaid: &["$.MODULE$"],
    cleaners: &[
        "class jdk.internal.ref.CleanerFactory",
        "class jdk.internal.ref.Cleaner",
        "class sun.misc.Cleaner",
        "thread Common-Cleaner",
    ],
};
