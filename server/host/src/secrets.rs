//! Detects files that may contain secrets, judging by name. Such a file enters a prompt only if the user selects it by
//! name and confirms the selection. File contents are screened elsewhere.

use strata_engine::key::FileKey;

use crate::roots::Roots;

/// How a rule matches a file. All rules ignore the case of ASCII letters.
#[derive(Debug, Clone, Copy)]
enum Rule {
    /// The file name is this string.
    Name(&'static str),
    /// The file name begins with this string.
    Prefix(&'static str),
    /// The file name ends with this string.
    Suffix(&'static str),
    /// The path ends with these components.
    Path(&'static str),
}

/// Rules for file names, based on the file rules of gitleaks and detect-secrets and on GitHub's `.gitignore` templates.
/// `.env.example` and similar names match intentionally, since these files often contain real values.
const RULES: &[Rule] = &[
    // Environments.
    Rule::Prefix(".env"),
    Rule::Suffix(".env"),
    Rule::Suffix(".tfvars"),
    Rule::Suffix(".tfstate"),
    Rule::Suffix(".tfstate.backup"),
    // Private keys, and certificates that include them.
    Rule::Prefix("id_rsa"),
    Rule::Prefix("id_dsa"),
    Rule::Prefix("id_ecdsa"),
    Rule::Prefix("id_ed25519"),
    Rule::Suffix(".pem"),
    Rule::Suffix(".key"),
    Rule::Suffix(".p8"),
    Rule::Suffix(".p12"),
    Rule::Suffix(".pfx"),
    Rule::Suffix(".ppk"),
    Rule::Suffix(".jks"),
    Rule::Suffix(".keystore"),
    Rule::Suffix(".keytab"),
    Rule::Suffix(".ovpn"),
    // Credential stores.
    Rule::Suffix(".kdbx"),
    Rule::Suffix(".agekey"),
    Rule::Name("wallet.dat"),
    Rule::Name(".netrc"),
    Rule::Name("_netrc"),
    Rule::Name(".npmrc"),
    Rule::Name(".pypirc"),
    Rule::Name(".pgpass"),
    Rule::Name(".my.cnf"),
    Rule::Name(".htpasswd"),
    Rule::Name(".dockercfg"),
    Rule::Name(".git-credentials"),
    Rule::Name(".vault-token"),
    Rule::Name(".s3cfg"),
    Rule::Name(".boto"),
    Rule::Name("kubeconfig"),
    Rule::Name("credentials"),
    Rule::Name("credentials.json"),
    Rule::Name("client_secret.json"),
    Rule::Name("application_default_credentials.json"),
    Rule::Prefix("service-account"),
    Rule::Prefix("service_account"),
    Rule::Name("secrets.json"),
    Rule::Name("secrets.toml"),
    Rule::Name("secrets.yaml"),
    Rule::Name("secrets.yml"),
    Rule::Name("terraform.rc"),
    Rule::Name(".terraformrc"),
    Rule::Path(".docker/config.json"),
    Rule::Path(".kube/config"),
    Rule::Path(".cargo/credentials.toml"),
    Rule::Path(".gem/credentials"),
    Rule::Path("gh/hosts.yml"),
    // Command histories.
    Rule::Name(".bash_history"),
    Rule::Name(".zsh_history"),
    Rule::Name(".psql_history"),
    Rule::Name(".python_history"),
];

/// Suffixes of harmless names: public keys, and source code that merely handles secrets.
const HARMLESS_ENDINGS: &[&str] = &[
    ".pub", ".rs", ".py", ".js", ".jsx", ".mjs", ".ts", ".tsx", ".go", ".java", ".rb", ".php", ".cs", ".md",
    ".rst",
];

/// Returns the rule that a file name matches, for example `.pem`. Returns `None` if the name does not suggest secrets.
pub fn secret_by_name(key: &FileKey) -> Option<&'static str> {
    let name = key.file_name();
    let harmless = HARMLESS_ENDINGS.iter().any(|ending| ends_with(name, ending));
    RULES.iter().find_map(|&rule| match rule {
        Rule::Name(rule) => name.eq_ignore_ascii_case(rule).then_some(rule),
        // Harmless suffixes do not apply to `.env`, since even `.env.ts` may contain real values.
        Rule::Prefix(rule) => (starts_with(name, rule) && (rule == ".env" || !harmless)).then_some(rule),
        Rule::Suffix(rule) => ends_with(name, rule).then_some(rule),
        Rule::Path(rule) => ends_with_parts(key.as_str(), rule).then_some(rule),
    })
}

/// Like [`secret_by_name`], but also checks the name of the file that a link currently resolves to.
pub fn secret_by_place(roots: &Roots, key: &FileKey) -> Option<&'static str> {
    secret_by_name(key).or_else(|| {
        let place = roots.locate_absolute(&roots.path_of(key).ok()?).ok()?;
        secret_by_name(&roots.key_at(&place)?)
    })
}

fn starts_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

fn ends_with(text: &str, end: &str) -> bool {
    let at = text.len().checked_sub(end.len());
    at.and_then(|at| text.get(at..)).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

fn ends_with_parts(path: &str, end: &str) -> bool {
    ends_with(path, end)
        && matches!(path.as_bytes().get(path.len().wrapping_sub(end.len() + 1)), None | Some(b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_give_secrets_away() {
        for key in [
            ".env",
            ".env.local",
            "web/.env.production",
            ".ENV",
            ".envrc",
            "prod.env",
            "a/b.pem",
            "ID_RSA",
            "id_rsa",
            "id_ed25519.old",
            "tls/server.KEY",
            ".netrc",
            ".npmrc",
            "home/.docker/config.json",
            ".aws/credentials",
            "service-account-prod.json",
            "infra/terraform.tfstate",
            "x.kdbx",
            "config/secrets.yml",
            "store.jks",
        ] {
            assert!(secret_by_name(&FileKey::from(key)).is_some(), "{key}");
        }
    }

    #[test]
    fn names_that_do_not() {
        for key in [
            "src/env.rs",
            "environment.py",
            "id_rsa.pub",
            "id_rsa_test.py",
            "docs/keys.md",
            "keyboard.rs",
            "config.json",
            "docker/config.json",
            "src/service_account.py",
            "src/credentials.rs",
            "x.pem.md",
            "a.keys",
            "é",
            "",
        ] {
            assert_eq!(secret_by_name(&FileKey::from(key)), None, "{key}");
        }
    }
}
