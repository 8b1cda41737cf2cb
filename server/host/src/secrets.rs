//! Detects files that may contain secrets, judging by name. Such a file enters a prompt only if the user selects it by
//! name and confirms the selection. File contents are screened elsewhere.

use strata_base::key::FileKey;

use crate::roots::Roots;

/// How a rule matches a file. All rules ignore the case of ASCII letters, and what a copy adds to a name (`.bak`, `~`).
#[derive(Debug, Clone, Copy)]
enum SecretFileRule {
    /// The file name is this string.
    Name(&'static str),
    /// The file name begins with this string.
    Prefix(&'static str),
    /// The file name ends with this string.
    Suffix(&'static str),
    /// The path ends with these components.
    Path(&'static str),
    /// The file is a data file, and the first or last word of its name is this string: `credentials-prod.json`.
    Word(&'static str),
}

/// Rules for file names, based on the file rules of gitleaks and detect-secrets and on GitHub's `.gitignore` templates.
/// `.env.example` and similar names match intentionally, since these files often contain real values.
const RULES: &[SecretFileRule] = &[
    // Environments.
    SecretFileRule::Prefix(".env"),
    SecretFileRule::Suffix(".env"),
    SecretFileRule::Suffix(".tfvars"),
    SecretFileRule::Suffix(".tfvars.json"),
    SecretFileRule::Suffix(".tfstate"),
    // Private keys, and certificates that include them.
    SecretFileRule::Prefix("id_rsa"),
    SecretFileRule::Prefix("id_dsa"),
    SecretFileRule::Prefix("id_ecdsa"),
    SecretFileRule::Prefix("id_ed25519"),
    SecretFileRule::Prefix("ssh_host_"),
    SecretFileRule::Prefix("secring."),
    SecretFileRule::Suffix(".pem"),
    SecretFileRule::Suffix(".key"),
    SecretFileRule::Suffix(".p8"),
    SecretFileRule::Suffix(".p12"),
    SecretFileRule::Suffix(".pfx"),
    SecretFileRule::Suffix(".ppk"),
    SecretFileRule::Suffix(".jks"),
    SecretFileRule::Suffix(".keystore"),
    SecretFileRule::Suffix(".keytab"),
    SecretFileRule::Suffix(".ovpn"),
    // Credential stores.
    SecretFileRule::Suffix(".kdbx"),
    SecretFileRule::Suffix(".kdb"),
    SecretFileRule::Suffix(".psafe3"),
    SecretFileRule::Suffix(".agekey"),
    SecretFileRule::Suffix(".secrets"),
    SecretFileRule::Name("wallet.dat"),
    SecretFileRule::Name("login data"),
    SecretFileRule::Name("logins.json"),
    SecretFileRule::Name("key3.db"),
    SecretFileRule::Name("key4.db"),
    SecretFileRule::Name("cookies.sqlite"),
    SecretFileRule::Name("cookies.txt"),
    SecretFileRule::Name(".netrc"),
    SecretFileRule::Name("_netrc"),
    SecretFileRule::Name(".npmrc"),
    SecretFileRule::Name(".yarnrc.yml"),
    SecretFileRule::Name(".pypirc"),
    SecretFileRule::Name(".pgpass"),
    SecretFileRule::Name("pgpass.conf"),
    SecretFileRule::Name(".my.cnf"),
    SecretFileRule::Name(".mylogin.cnf"),
    SecretFileRule::Name(".htpasswd"),
    SecretFileRule::Name("htpasswd"),
    SecretFileRule::Name(".htdigest"),
    SecretFileRule::Name(".dockercfg"),
    SecretFileRule::Name(".dockerconfigjson"),
    SecretFileRule::Name(".git-credentials"),
    SecretFileRule::Name(".vault-token"),
    SecretFileRule::Prefix(".vault_pass"),
    SecretFileRule::Prefix(".vault-pass"),
    SecretFileRule::Prefix("vault_pass"),
    SecretFileRule::Prefix("vault-pass"),
    SecretFileRule::Name("vault-init.json"),
    SecretFileRule::Name(".s3cfg"),
    SecretFileRule::Name(".boto"),
    SecretFileRule::Name(".msmtprc"),
    SecretFileRule::Name(".fetchmailrc"),
    SecretFileRule::Name(".smbcredentials"),
    SecretFileRule::Name("chap-secrets"),
    SecretFileRule::Name("pap-secrets"),
    SecretFileRule::Name("shadow"),
    SecretFileRule::Name("gshadow"),
    SecretFileRule::Name("master.passwd"),
    SecretFileRule::Name("rclone.conf"),
    SecretFileRule::Name("wpa_supplicant.conf"),
    SecretFileRule::Name("wg0.conf"),
    SecretFileRule::Name("sftp-config.json"),
    SecretFileRule::Name(".ftpconfig"),
    SecretFileRule::Name("sitemanager.xml"),
    SecretFileRule::Name("recentservers.xml"),
    SecretFileRule::Name("local.settings.json"),
    SecretFileRule::Name("wp-config.php"),
    SecretFileRule::Name("rootkey.csv"),
    SecretFileRule::Suffix("accesskeys.csv"),
    SecretFileRule::Name("credentials"),
    SecretFileRule::Name("kubeconfig"),
    SecretFileRule::Suffix(".kubeconfig"),
    SecretFileRule::Word("kubeconfig"),
    SecretFileRule::Word("credentials"),
    SecretFileRule::Word("credential"),
    SecretFileRule::Word("secrets"),
    SecretFileRule::Word("passwords"),
    SecretFileRule::Prefix("client_secret"),
    SecretFileRule::Prefix("service-account"),
    SecretFileRule::Prefix("service_account"),
    SecretFileRule::Prefix("firebase-adminsdk"),
    SecretFileRule::Name("terraform.rc"),
    SecretFileRule::Name(".terraformrc"),
    SecretFileRule::Path(".docker/config.json"),
    SecretFileRule::Path(".kube/config"),
    SecretFileRule::Path(".gem/credentials"),
    SecretFileRule::Path(".composer/auth.json"),
    SecretFileRule::Path("gh/hosts.yml"),
    // Command histories.
    SecretFileRule::Name(".bash_history"),
    SecretFileRule::Name(".zsh_history"),
    SecretFileRule::Name(".sh_history"),
    SecretFileRule::Name("fish_history"),
    SecretFileRule::Name(".psql_history"),
    SecretFileRule::Name(".mysql_history"),
    SecretFileRule::Name(".rediscli_history"),
    SecretFileRule::Name(".python_history"),
    SecretFileRule::Name(".node_repl_history"),
    SecretFileRule::Name("consolehost_history.txt"),
];

/// Suffixes of harmless names: public keys, and source code and pages that merely handle secrets.
const HARMLESS_SUFFIXES: &[&str] = &[
    ".pub", ".rs", ".py", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".vue", ".svelte", ".go", ".java",
    ".kt", ".scala", ".rb", ".php", ".cs", ".c", ".h", ".cc", ".cpp", ".hpp", ".swift", ".ex", ".exs", ".hs",
    ".ml", ".lua", ".zig", ".css", ".scss", ".html", ".md", ".rst",
];

/// Files that match a rule although their content is public.
const HARMLESS_NAMES: &[&str] = &[
    "fullchain.pem",
    "chain.pem",
    "cacert.pem",
    "ca-bundle.pem",
    "public.pem",
    "public_key.pem",
    "publickey.pem",
    "public-key.pem",
    "pubkey.pem",
    "public.key",
    "external-secrets.yaml",
    "sealed-secrets.yaml",
];

/// Endings of data files, to which [`SecretFileRule::Word`] applies.
const DATA_SUFFIXES: &[&str] = &[
    ".json",
    ".yaml",
    ".yml",
    ".toml",
    ".csv",
    ".tsv",
    ".xml",
    ".ini",
    ".cfg",
    ".conf",
    ".config",
    ".properties",
    ".txt",
    ".tfrc.json",
    ".db",
    ".sqlite",
    ".xlsx",
    ".plist",
];

/// Endings that copies of a file add to its name, besides numbers and dates.
const COPY_SUFFIXES: &[&str] = &[
    "~",
    "bak",
    "backup",
    "old",
    "orig",
    "original",
    "save",
    "saved",
    "copy",
    "prev",
    "previous",
    "tmp",
    "temp",
    "swp",
    "swo",
    "new",
    "disabled",
    "rpmsave",
    "rpmnew",
    "dpkg-old",
    "dpkg-dist",
    "dpkg-new",
];

/// Returns the rule that a file name matches, for example `.pem`. Returns `None` if the name does not suggest secrets.
pub fn secret_rule_by_name(key: &FileKey) -> Option<&'static str> {
    let lower = key.as_str().to_ascii_lowercase();
    let (folder, mut name) = lower.split_at_checked(lower.len().checked_sub(key.file_name().len())?)?;
    while let Some(shorter) = without_copy_suffix(name) {
        name = shorter;
    }
    let path = lower.get(..folder.len() + name.len())?;
    // Editors put a dot before the name of a swap file.
    let swap_name = lower.ends_with(".swp").then(|| name.strip_prefix('.')).flatten();
    matching_rule(path, name).or_else(|| matching_rule(path, swap_name?))
}

fn matching_rule(path: &str, name: &str) -> Option<&'static str> {
    if HARMLESS_NAMES.contains(&name) {
        return None;
    }
    let is_harmless = HARMLESS_SUFFIXES.iter().any(|suffix| name.ends_with(suffix));
    RULES.iter().find_map(|&rule| match rule {
        SecretFileRule::Name(rule) => (name == rule).then_some(rule),
        // Harmless suffixes do not apply to `.env`, since even `.env.ts` may contain real values.
        SecretFileRule::Prefix(rule) => {
            (name.starts_with(rule) && (rule == ".env" || !is_harmless)).then_some(rule)
        }
        SecretFileRule::Suffix(rule) => name.ends_with(rule).then_some(rule),
        SecretFileRule::Path(rule) => {
            let before = path.strip_suffix(rule)?;
            (before.is_empty() || before.ends_with('/')).then_some(rule)
        }
        SecretFileRule::Word(rule) => {
            let stem = DATA_SUFFIXES.iter().rev().find_map(|suffix| name.strip_suffix(suffix))?;
            let mut words = stem.split(['-', '_', '.', ' ']).filter(|word| !word.is_empty());
            let first = words.next()?;
            (first == rule || words.next_back() == Some(rule)).then_some(rule)
        }
    })
}

/// Returns a name without what a copy added to it: `server.key` for `server.key.bak`, `server.key.2024-01-31` and
/// `server.key (2)`.
fn without_copy_suffix<'n>(name: &'n str) -> Option<&'n str> {
    let is_added = |c: char| c.is_ascii_digit() || matches!(c, '-' | '_' | '.' | '(' | ')' | ' ');
    let unnumbered = name.trim_end_matches(is_added);
    let without_suffix = |name: &'n str| {
        COPY_SUFFIXES.iter().find_map(|suffix| {
            let before = name.strip_suffix(suffix)?;
            if *suffix == "~" { Some(before) } else { before.strip_suffix(['.', '-', '_', ' ']) }
        })
    };
    let numbered = || (ends_with_number(name) && unnumbered.len() < name.len()).then_some(unnumbered);
    without_suffix(unnumbered).or_else(numbered).filter(|shorter| !shorter.is_empty())
}

/// Whether a name ends with a number that belongs to a copy, and not to the name itself as in `mp3`.
fn ends_with_number(name: &str) -> bool {
    let is_numbering = |c: char| c.is_ascii_digit() || matches!(c, '-' | '_' | '(' | ')');
    let last = name.rsplit(['.', ' ']).next().unwrap_or_default();
    !last.is_empty() && last.len() < name.len() && last.chars().all(is_numbering)
}

/// Like [`secret_rule_by_name`], but also checks the name of the file that a link currently resolves to.
pub fn secret_rule_by_link_target(roots: &Roots, key: &FileKey) -> Option<&'static str> {
    secret_rule_by_name(key).or_else(|| {
        let resolved = roots.locate_absolute(&roots.path_of(key).ok()?).ok()?;
        secret_rule_by_name(&roots.key_at(&resolved)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_suggest_secrets_match_a_rule() {
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
            "prod-credentials.json",
            "credentials.csv",
            "credentials.tfrc.json",
            "kubeconfig-staging.yaml",
            "k8s/kubeconfig.yml",
            "secring.gpg",
            "wp-config.php",
        ] {
            assert!(secret_rule_by_name(&FileKey::from(key)).is_some(), "{key}");
        }
    }

    #[test]
    fn names_of_copies_of_secret_files_match_a_rule() {
        let names = [
            "server.key",
            ".git-credentials",
            ".npmrc",
            "credentials.json",
            "prod.env",
            "kubeconfig",
            ".netrc",
        ];
        let suffixes = [
            ".bak",
            "~",
            ".old",
            ".orig",
            ".BAK",
            ".bak2",
            ".1",
            ".2024-01-31",
            "_backup",
            "-old",
            " copy",
            " (2)",
        ];
        for name in names {
            for suffix in suffixes {
                for second_suffix in suffixes.into_iter().chain([""]) {
                    let key = format!("a/{name}{suffix}{second_suffix}");
                    assert!(secret_rule_by_name(&FileKey::from(&*key)).is_some(), "{key}");
                }
            }
        }
        assert!(secret_rule_by_name(&FileKey::from(".server.key.swp")).is_some());
        for key in ["src/main.rs.bak", "notes.txt~", "photo (2).png", "id_rsa.pub.bak", "backup.old"] {
            assert_eq!(secret_rule_by_name(&FileKey::from(key)), None, "{key}");
        }
    }

    #[test]
    fn harmless_names_match_no_rule() {
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
            "credentials_form.vue",
            "kubeconfig_test.go",
            "fullchain.pem",
            "report.old",
            "song.mp3",
            "release-2024-01-31",
            "notes.bak",
            "~",
            "1",
            ".bak",
            "design-tokens.json",
            "é",
            "",
        ] {
            assert_eq!(secret_rule_by_name(&FileKey::from(key)), None, "{key}");
        }
    }
}
