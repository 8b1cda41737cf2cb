package org.example.mill;

import java.util.List;
import static java.util.Map.entry;

/** Grinds grain. */
@Service(
    name = "mill",
    fast = true
)
public abstract class Mill<T extends Grain> extends Machine implements Runnable, Comparable<Mill<T>> {
    public static final int MAX = 4, MIN = 1;
    private static int count;
    protected int wide, high = 3;
    @Inject private Stone stone; @Inject Wheel wheel;
    private final Runnable onStart = () -> { int inner = 1; };
    private final Object lock = new Object() {
        @Override public String toString() { return "lock"; }
    };

    static { count = 0; }
    { high = 4; }

    public Mill(Stone stone) throws Broken { this.stone = stone; }
    protected Mill() { this(null); }

    @Override
    @Timed(
        unit = "ms"
    )
    public void run() {
        class Local { int x; }
        Runnable task = () -> run();
    }

    public <R> R grind(T grain, Class<R> as) { return null; }
    public <R> R grind(T grain) { return null; }
    abstract int weigh(List<? extends T>... all);
    @Override public int compareTo(Mill<T> other) { return 0; }

    public enum Speed implements Named {
        SLOW(1) { @Override int turns() { return 1; } },
        FAST(9);
        private final int turns;
        Speed(int turns) { this.turns = turns; }
        int turns() { return turns; }
    }

    public interface Named {
        int LIMIT = 3;
        String name();
        default String title() { return name(); }
    }

    public record Flour(int grams, String kind) implements Named {
        public static Flour of(int grams) { return new Flour(grams, "rye"); }
        public Flour { if (grams < 0) throw new Broken(); }
        public String name() { return kind; }
    }

    public @interface Timed { String unit() default "s"; }
    public sealed interface Part permits Stone, Wheel {}
}

class Stone implements Mill.Part {}
