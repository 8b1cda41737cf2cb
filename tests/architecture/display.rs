//! Where the clients show text: one module of each calls the editor's APIs that read more into a text than its words.

use crate::repo::File;

/// A client, its module that shows text, and what only that module may contain.
const CLIENTS: &[(&str, &str, &[&str])] = &[
    (
        "editors/vscode/src/",
        "editors/vscode/src/shown.ts",
        &[
            "showInformationMessage",
            "showWarningMessage",
            "showErrorMessage",
            "showQuickPick",
            "createQuickPick",
            "setStatusBarMessage",
            "window.withProgress",
            "new vscode.TreeItem",
            "new vscode.MarkdownString",
            "new vscode.DocumentSymbol",
            "appendMarkdown",
        ],
    ),
    (
        "editors/neovim/",
        "editors/neovim/lua/strata/display.lua",
        &["vim.notify(", "vim.notify_once(", ".winbar =", ".statusline ="],
    ),
];

/// Returns the lines outside of these modules that call such an API.
pub(crate) fn outside(files: &[File]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with(".ts") || file.path.ends_with(".lua")) {
        for (client, place, apis) in CLIENTS.iter().filter(|(client, ..)| file.path.starts_with(client)) {
            let lines = file.text.lines().enumerate().filter(|_| file.path != *place);
            let calls = lines.filter(|(_, line)| apis.iter().any(|api| line.contains(api)));
            found.extend(
                calls.map(|(at, line)| format!("{}:{}: {} ({client})", file.path, at + 1, line.trim())),
            );
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_elsewhere_is_found() {
        let notify = "vscode.window.showWarningMessage(message);\n";
        let found = |path: &str, text: &str| outside(&[File::new(path, text)]).len();
        assert_eq!(found("editors/vscode/src/a.ts", notify), 1);
        assert_eq!(found("editors/vscode/src/shown.ts", notify), 0);
        assert_eq!(found("editors/neovim/lua/strata/a.lua", "vim.notify(message)\n"), 1);
        assert_eq!(found("editors/neovim/lua/strata/display.lua", "vim.notify(message)\n"), 0);
    }
}
