package zoo.functionchain;

import java.util.function.UnaryOperator;
import zoo.Series;

/** A filter that is wrapped into another at each change of the configuration: a chain of lambdas, each in the next. */
public final class FunctionChain {
    static Step filter = text -> text;

    interface Step extends UnaryOperator<String> {
        default Step then(String rule) {
            char[] pattern = new char[400];
            rule.getChars(0, rule.length(), pattern, 0);
            return text -> apply(text) + pattern[0];
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 500; i++) {
                filter = filter.then("rule " + i);
            }
            Series.dump((round + 1) * 500 + 1);
        }
    }
}
