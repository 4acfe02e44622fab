package zoo.manyowners;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import zoo.Series;

/** A graph whose nodes refer to each other at random, all kept by one identity map of an object that a local variable holds. */
public final class ManyOwners {
    public static void main(String[] arguments) throws Exception {
        Compiler compiler = new Compiler();
        for (int round = 0; round < 4; round++) {
            compiler.compile(1000);
            Series.dump(compiler.visited.size());
        }
        System.out.println("visited " + compiler.visited.size());
    }
}

final class Compiler {
    final Map<Expression, Integer> visited = new IdentityHashMap<>();

    void compile(int expressions) {
        List<Expression> all = new ArrayList<>();
        for (int i = 0; i < expressions; i++) {
            Expression left = all.isEmpty() ? null : all.get(i * 7 % all.size());
            Expression right = all.isEmpty() ? null : all.get(i * 13 % all.size());
            Expression expression = new Expression(left, right, "t" + i);
            all.add(expression);
            visited.put(expression, i % 100);
        }
        // And one edge back: all expressions of a file are a cycle.
        all.get(0).left = all.get(all.size() - 1);
    }
}

final class Expression {
    Expression left;
    final Expression right;
    final String text;

    Expression(Expression left, Expression right, String text) {
        this.left = left;
        this.right = right;
        this.text = text;
    }
}
