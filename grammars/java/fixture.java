// A file that shows every construct the outline knows.
package com.example.shapes;

import static java.util.Objects.requireNonNull;
import com.example.base.Base;
import java.util.*;

/** A shape. */
@Deprecated(since = "2")
@SuppressWarnings("unchecked")
public abstract sealed class Größe<T extends Comparable<? super T>>
        extends Base<T> implements Shape, Cloneable permits Square, Circle {
    public static final int LIMIT = 1 << 10;
    private static final Logger LOG = LoggerFactory.getLogger(Größe.class), OTHER = null;
    @Inject
    protected final Map<String, List<T>> items = new HashMap<>();
    int width, height;
    byte[] data[];

    static {
        Registry.register("größe");
    }

    public Größe(int width, @Nullable final String name) throws IOException {
        super(name);
        this.width = width;
    }

    @Override
    public String toString() {
        int local = width;
        class Local { void hidden() {} }
        return describe(local, e -> e.name());
    }

    protected abstract double area();

    @Nullable
    public static <K, V extends Comparable<V>> Optional<Map.Entry<K, V>> largest(
            Map<K, V> map, // the map
            K... keys) {
        Runnable task = new Runnable() {
            @Override
            public void run() { helper(Constants.DEFAULT); }
        };
        return StreamTools.max(map);
    }

    synchronized native void close();

    public static class Builder {
        private int depth = 3;

        public Größe<String> build() { return null; }
    }

    private enum Kind { SMALL, LARGE }
}

interface Shape extends Drawable, AutoCloseable {
    String NAME = "shape";

    double area();

    default double twice() { return area() * 2; }

    static Shape of(int sides) { return new Square(sides); }
}

record Point(int x, @Positive int y) implements Shape {
    static final Point ORIGIN = new Point(0, 0);

    Point {
        if (x < 0) throw new IllegalArgumentException();
    }

    double length() { return Math.sqrt(x * x + y * y); }
}

public enum Color implements HasCode {
    RED("r") {
        @Override String code() { return "R"; }
    },
    @Deprecated GREEN;

    private final String code;

    Color() { this(""); }

    String code() { return code; }
}

@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface Marker {
    String value() default "none";
    int[] sizes();
}

class ShapeChecks {
    @Test
    void adds() { new Größe<>(); }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void subtracts(int by) {}
}

class Holder {
    static final Visitor VISITOR = new Visitor() {
        private int depth;
        @Override public void visit(Shape shape) {}
    };

    void loop() {
        @SuppressWarnings("rawtypes")
        int last = 1;
    }

    void close() {}
}
