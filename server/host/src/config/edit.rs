//! Changes single settings in the text of a TOML file. Comments, order and form of everything else stay as they are.

use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Key, Table, TableLike};

/// Why a setting cannot be changed in a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingEditError {
    /// The text is not TOML.
    #[error("{0}")]
    Syntax(String),
    /// A part of the name is a value in the file, not a table.
    #[error("`{0}` is not a table")]
    NotATable(String),
    /// TOML cannot represent the value.
    #[error("a value must not be `null`, or contain it")]
    Null,
}

/// Returns the parts of a setting's dotted name. As in TOML, a part may be quoted: `models.model."gpt-5.1".price`.
/// Returns `None` if the name is not written like this.
pub fn parse_setting_path(name: &str) -> Option<Vec<String>> {
    let keys = Key::parse(name).ok()?;
    Some(keys.iter().map(|key| key.get().to_owned()).collect())
}

/// Returns `text` with a setting set to `value`, or removed if `value` is `None`.
///
/// # Errors
/// [`SettingEditError`] if the text is not TOML, or if the setting or its value does not fit into it.
pub fn with_setting(text: &str, path: &[String], value: Option<&Value>) -> Result<String, SettingEditError> {
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| SettingEditError::Syntax(error.to_string()))?;
    let Some((name, parents)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for part in parents {
        if value.is_none() && !table.contains_key(part) {
            return Ok(text.to_owned());
        }
        let item = table.entry(part).or_insert_with(|| {
            let mut new = Table::new();
            new.set_implicit(true);
            Item::Table(new)
        });
        table = item.as_table_like_mut().ok_or_else(|| SettingEditError::NotATable(part.clone()))?;
    }
    match value {
        None => drop(table.remove(name)),
        Some(value) => {
            let mut value = to_toml(value)?;
            match table.get_mut(name) {
                Some(Item::Value(old)) => {
                    *value.decor_mut() = old.decor().clone();
                    *old = value;
                }
                _ => drop(table.insert(name, Item::Value(value))),
            }
        }
    }
    Ok(document.to_string())
}

/// Returns a value as TOML on one line. `null`, which TOML cannot represent, is empty.
pub fn value_to_toml(value: &Value) -> String {
    to_toml(value).map_or_else(|_| String::new(), |value| value.to_string())
}

fn to_toml(value: &Value) -> Result<toml_edit::Value, SettingEditError> {
    Ok(match value {
        Value::Null => return Err(SettingEditError::Null),
        Value::Bool(boolean) => (*boolean).into(),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => integer.into(),
            None => number.as_f64().unwrap_or_default().into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(values) => values.iter().map(to_toml).collect::<Result<Array, _>>()?.into(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, field)| Ok((Key::new(name), to_toml(field)?)));
            fields.collect::<Result<InlineTable, SettingEditError>>()?.into()
        }
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::config::from_toml;

    const FILE: &str = "# mine\nmodel = \"gpt-5\"  # for now\n\n[symbols]\n# small\nmap_budget = 1_000\n";

    fn changed(text: &str, name: &str, value: Value) -> String {
        with_setting(text, &parse_setting_path(name).unwrap(), Some(&value)).unwrap()
    }

    #[test]
    fn comments_and_other_settings_are_unchanged() {
        let text = changed(FILE, "model", json!("gpt-5.1"));
        let text = changed(&text, "symbols.map_budget", json!(4000));
        let text = changed(&text, "symbols.exclude", json!(["a", "b/**"]));
        let text = changed(&text, "models.model.\"gpt-5.1\".price", json!({ "input": 1.5, "output": 10 }));
        expect![[r#"
            # mine
            model = "gpt-5.1"  # for now

            [symbols]
            # small
            map_budget = 4000
            exclude = ["a", "b/**"]

            [models.model."gpt-5.1"]
            price = { input = 1.5, output = 10 }
        "#]]
        .assert_eq(&text);
        let path = parse_setting_path("symbols.exclude").unwrap();
        let without = with_setting(&text, &path, None).unwrap();
        assert_eq!(without, text.replace("exclude = [\"a\", \"b/**\"]\n", ""));
        assert_eq!(with_setting(FILE, &parse_setting_path("a.b.c").unwrap(), None).unwrap(), FILE);
    }

    #[test]
    fn a_setting_or_value_that_does_not_fit_is_an_error() {
        let error = |text: &str, name: &str, value: Value| {
            with_setting(text, &parse_setting_path(name).unwrap(), Some(&value)).unwrap_err()
        };
        assert_eq!(error(FILE, "model.name", json!(1)), SettingEditError::NotATable("model".to_owned()));
        assert_eq!(error("", "model", json!([null])), SettingEditError::Null);
        assert!(matches!(error("a =", "model", json!(1)), SettingEditError::Syntax(_)));
        assert_eq!(parse_setting_path("a..b"), None);
    }

    proptest! {
        #[test]
        fn a_changed_setting_can_be_read_back(
            text in prop::sample::select(vec!["", FILE, "symbols = { a = 1 }\n", "symbols.a = 1\n", "[symbols.a]\n[x]\n"]),
            name in prop::sample::select(vec!["model", "symbols.map_budget", "symbols.\"x y\".z", "files.list"]),
            number in any::<i64>(),
            words in "[ -~é\n\"']{0,9}",
        ) {
            let path = parse_setting_path(name).unwrap();
            for value in [json!(number), json!(words), json!([words]), json!({ (&*words): number })] {
                let changed = with_setting(text, &path, Some(&value)).unwrap();
                let parsed = from_toml("f", &changed).unwrap();
                let parsed_value = path.iter().try_fold(&parsed, |table, part| table.get(part));
                prop_assert_eq!(parsed_value, Some(&value), "{}", changed);
            }
        }
    }
}
