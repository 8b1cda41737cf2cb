//! The reply of `prompt.assemble`, for tests of what a model would read.

use serde_json::Value;

/// A reply of `prompt.assemble`.
#[derive(Clone, PartialEq, Debug)]
pub struct Prompt(pub Value);

impl Prompt {
    /// Returns the id for recording the prompt's outcome.
    pub fn id(&self) -> &str {
        self.0["id"].as_str().expect("a prompt that is kept has an id")
    }

    /// Returns the request body exactly as a client would post it.
    pub fn bytes(&self) -> String {
        self.0["body"].to_string()
    }

    /// Returns everything that the model would read, as one text.
    pub fn text(&self) -> String {
        let body = &self.0["body"];
        if let Some(text) = body.as_str() {
            return text.to_owned();
        }
        let mut texts = Vec::new();
        gather(&body["system"], &mut texts);
        gather(&body["messages"], &mut texts);
        texts.join("\n")
    }

    /// Returns the number of occurrences of a text in the prompt.
    pub fn count(&self, needle: &str) -> usize {
        self.text().matches(needle).count()
    }

    /// Returns the block with the full text of a file, from its heading to its closing fence, if any.
    pub fn full_text(&self, path: &str) -> Option<String> {
        let text = self.text();
        let at = text.find(&format!("## `{path}`"))?;
        let block = &text[at..];
        let fence_at = block.find("```")?;
        let fence: String = block[fence_at..].chars().take_while(|c| *c == '`').collect();
        let body_at = fence_at + block[fence_at..].find('\n')? + 1;
        let end = block[body_at..].find(&format!("{fence}\n")).or_else(|| block[body_at..].rfind(&fence))?;
        Some(block[body_at..body_at + end].to_owned())
    }

    /// Whether the symbol map has a block for a file.
    pub fn has_map_block(&self, path: &str) -> bool {
        self.map_block(path).is_some()
    }

    /// Returns the block of a file in the symbol map: its path, followed by indented lines.
    pub fn map_block(&self, path: &str) -> Option<String> {
        let text = self.text();
        let lines: Vec<&str> = text.lines().collect();
        let at = (1..lines.len()).find(|at| lines[at - 1] == path && lines[*at].starts_with(' '))?;
        let block: Vec<&str> = lines[at..].iter().take_while(|line| line.starts_with(' ')).copied().collect();
        Some(block.join("\n"))
    }

    /// Returns the total tokens.
    pub fn tokens(&self) -> u64 {
        self.0["tokens"]["total"].as_u64().unwrap()
    }

    /// Returns the codes of the warnings, each with the path of the file that it concerns.
    pub fn warnings<'a>(&'a self) -> Vec<(&'a str, &'a str)> {
        let text = |value: &'a Value| value.as_str().unwrap_or_default();
        let warnings = self.0["warnings"].as_array().unwrap().iter();
        warnings.map(|warning| (text(&warning["code"]), text(&warning["path"]))).collect()
    }

    /// Returns the reply's entry for a file, or null.
    pub fn file(&self, path: &str) -> &Value {
        let files = self.0["files"].as_array().unwrap();
        files.iter().find(|file| file["path"] == path).unwrap_or(&Value::Null)
    }
}

fn gather<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| gather(value, texts)),
        Value::Object(fields) => {
            // Roles, types and cache markers are not text.
            ["text", "content", "input"]
                .iter()
                .filter_map(|name| fields.get(*name))
                .for_each(|value| gather(value, texts));
        }
        _ => {}
    }
}
