//! The argument `--grouping`: a name, or a list of classifiers.

use memory_city_analysis::group::{self, AskedGrouping, ExpressionError};
use memory_city_analysis::timeline::AUTO;

/// Parses a name or list that can be made, or [`AUTO`].
pub fn grouping(text: &str) -> Result<AskedGrouping, ExpressionError> {
    let registry = group::registry();
    let asked = registry.asked(text)?;
    if !asked.is_auto() {
        registry.make(&asked)?;
    }
    Ok(asked)
}

/// Help text of the argument, with every name there is.
pub fn help() -> String {
    let mut help = String::from(
        "How objects are grouped: a name, or any list of classifiers, such as 'package>type' or 'rooted(kind)>type'. A \
         classifier divides the groups of the one before it.\n\nNames (those that were saved in the window are among them):\n",
    );
    help.push_str(&format!("  {AUTO}: Type › Allocation site where all allocations were recorded, Package › Type for dumps and where they were sampled\n"));
    for grouping in group::groupings() {
        help.push_str(&format!("  {}: {}\n", grouping.id, grouping.title));
    }
    help.push_str(
        "\npoints-to and pointed-from take lists in parentheses: 'type>pointed-from(type)' puts the objects that refer to \
         those of a type, each once, below it. 'filter(size > 1MB and package = com.acme)' leaves out all others. \
         docs/groupings.md explains all of it.\n",
    );
    help.push_str("\nClassifiers, with their options:\n");
    for (meta, options) in group::registry().classifiers() {
        help.push_str(&format!("  {}: {}\n", meta.id, meta.description));
        for option in options {
            let value = option.example.map(|e| format!("={e}")).unwrap_or_default();
            help.push_str(&format!("    {}({}{value}): {}\n", meta.id, option.name, option.description));
        }
    }
    help
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args, Command, FromArgMatches};

    #[derive(Args)]
    struct ListArguments {
        #[arg(long, default_value = AUTO, value_parser = super::grouping, long_help = help())]
        grouping: AskedGrouping,
    }

    fn parse(grouping: &str) -> Result<String, String> {
        let command = ListArguments::augment_args(Command::new("report"));
        let matches = command.try_get_matches_from(["report", "--grouping", grouping]).map_err(|e| e.to_string())?;
        ListArguments::from_arg_matches(&matches).map(|a| a.grouping.to_string()).map_err(|e| e.to_string())
    }

    #[test]
    fn names_and_lists_are_taken_and_mistakes_explained() {
        for grouping in ["auto", "package-type", "package>type", "rooted(kind) > points-to"] {
            assert_eq!(parse(grouping), Ok(grouping.to_owned()));
        }
        let error = parse("package>tpye").expect_err("misspelt");
        assert!(error.contains("--grouping") && error.contains("character 9"), "{error}");
        assert!(error.contains("Did you mean type?"), "{error}");
    }

    #[test]
    fn the_help_names_every_classifier_and_grouping() {
        // Lines are broken where the terminal ends.
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let help = one_line(&ListArguments::augment_args(Command::new("report")).render_long_help().to_string());
        for (meta, options) in group::registry().classifiers() {
            assert!(help.contains(&format!("{}: ", meta.id)), "{}", meta.id);
            assert!(options.iter().all(|o| help.contains(&one_line(o.description))), "options of {}", meta.id);
        }
        assert!(group::groupings().iter().all(|g| help.contains(&g.id)));
    }
}
