import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Reflects on 1,500 classes, so that class objects hold much in fields that dumps leave out; then does as it is told. */
public final class Reflective {
    @Retention(RetentionPolicy.RUNTIME)
    @interface Mark { String value() default ""; int number() default 0; }

    @Mark("marked")
    public static class Marked implements Comparable<Marked> {
        public int compareTo(Marked other) { return 0; }
    }

    enum Colour { RED, GREEN { void paint() {} }, BLUE; void paint() {} }

    static final List<Class<?>> classes = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        try (Stream<Path> files = Files.walk(FileSystems.getFileSystem(URI.create("jrt:/")).getPath("modules/java.base"))) {
            files.map(Path::toString).filter(f -> f.endsWith(".class") && f.contains("/java/"))
                .sorted(Comparator.naturalOrder()).limit(1500).forEach(Reflective::load);
        }
        for (Class<?> of : classes) {
            of.getDeclaredMethods();
            of.getDeclaredFields();
            of.getName();
        }
        Marked.class.getAnnotations();
        Marked.class.getGenericInterfaces();
        @SuppressWarnings("deprecation")
        Object made = Marked.class.newInstance();
        made.getClass().getPackageName();
        Colour.valueOf("RED");
        Colour.class.getEnumConstants();
        System.out.println("ready " + ProcessHandle.current().pid());
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            // Copies of what the classes hold, which nobody keeps.
            long methods = 0;
            for (Class<?> of : classes) {
                methods += of.getDeclaredMethods().length;
            }
            System.out.println(methods);
        }
    }

    static void load(String file) {
        String name = file.substring(file.indexOf("/java.base/") + "/java.base/".length(), file.length() - ".class".length());
        try {
            classes.add(Class.forName(name.replace('/', '.'), false, null));
        } catch (ClassNotFoundException | LinkageError e) {
            throw new IllegalStateException(name, e);
        }
    }
}
