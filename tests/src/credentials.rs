//! Random credentials in the formats of providers. The formats follow the providers' documentation, not the
//! patterns of the product. None of the credentials is valid.

use crate::Rng;

/// A credential in a typical line of text.
#[derive(Clone, Debug)]
pub struct Planted {
    /// The provider and the kind of credential.
    pub kind: &'static str,
    /// Parts that must be redacted: the credential, or each line of a key with several lines.
    pub secrets: Vec<String>,
    /// The line that contains the credential, or the lines of a key.
    pub text: String,
}

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const HEX: &str = "0123456789abcdef";
const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const DIGITS: &str = "0123456789";

impl Rng {
    fn of(&mut self, alphabet: &str, length: usize) -> String {
        let letters = alphabet.as_bytes();
        (0..length).map(|_| char::from(letters[self.below(letters.len())])).collect()
    }

    fn uuid(&mut self) -> String {
        let parts = [8, 4, 4, 4, 12].map(|length| self.of(HEX, length));
        parts.join("-")
    }

    /// Creates a password as a password manager would, with letters of both cases and digits.
    fn password(&mut self, symbols: &str, length: usize) -> String {
        let all = format!("{ALNUM}{symbols}");
        loop {
            let password = self.of(&all, length);
            let has = |wanted: fn(&char) -> bool| password.chars().any(|c| wanted(&c));
            if has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase) && has(char::is_ascii_digit) {
                // Users who copy a password tend to miss punctuation at its ends.
                if password.starts_with(char::is_alphanumeric) && password.ends_with(char::is_alphanumeric) {
                    return password;
                }
            }
        }
    }
}

/// Creates a token that is recognizable by its format.
type Token = fn(&mut Rng) -> String;

/// Tokens that are recognizable by their format, by kind. Their prefixes are split, so that secret scanners do
/// not report this file.
const TOKENS: &[(&str, Token)] = &[
    ("AWS access key id", |d| format!("AK{}{}", "IA", d.of(BASE32, 16))),
    ("AWS temporary key id", |d| format!("AS{}{}", "IA", d.of(BASE32, 16))),
    ("Google API key", |d| format!("AI{}{}", "za", d.of(BASE64URL, 34) + &d.of(ALNUM, 1))),
    ("Google client secret", |d| format!("GOC{}{}", "SPX-", d.of(BASE64URL, 27) + &d.of(ALNUM, 1))),
    ("Google access token", |d| format!("ya{}{}", "29.", d.of(BASE64URL, 150) + &d.of(ALNUM, 1))),
    ("GitHub personal", |d| format!("gh{}{}", "p_", d.of(ALNUM, 36))),
    ("GitHub app", |d| format!("gh{}{}", "s_", d.of(ALNUM, 36))),
    ("GitHub OAuth", |d| format!("gh{}{}", "o_", d.of(ALNUM, 36))),
    ("GitHub fine-grained", |d| format!("github_{}{}_{}", "pat_", d.of(ALNUM, 22), d.of(ALNUM, 59))),
    ("GitLab personal", |d| format!("gl{}{}", "pat-", d.of(BASE64URL, 19) + &d.of(ALNUM, 1))),
    ("GitLab deploy", |d| format!("gl{}{}", "dt-", d.of(BASE64URL, 19) + &d.of(ALNUM, 1))),
    ("Slack bot", |d| format!("xo{}{}-{}-{}", "xb-", d.of(DIGITS, 12), d.of(DIGITS, 13), d.of(ALNUM, 24))),
    ("Slack user", |d| {
        format!("xo{}{}-{}-{}-{}", "xp-", d.of(DIGITS, 12), d.of(DIGITS, 12), d.of(DIGITS, 13), d.of(HEX, 32))
    }),
    ("Slack app", |d| format!("xa{}1-A{}-{}-{}", "pp-", d.of(BASE32, 10), d.of(DIGITS, 13), d.of(HEX, 64))),
    ("Stripe live", |d| format!("sk_{}{}", "live_", d.of(ALNUM, 99))),
    ("Stripe restricted", |d| format!("rk_{}{}", "live_", d.of(ALNUM, 24))),
    ("Stripe webhook", |d| format!("wh{}{}", "sec_", d.of(ALNUM, 32))),
    ("OpenAI project", |d| {
        format!(
            "sk-{}{}T3Blbk{}{}",
            "proj-",
            d.of(BASE64URL, 74),
            "FJ",
            d.of(BASE64URL, 73) + &d.of(ALNUM, 1)
        )
    }),
    ("OpenAI", |d| format!("sk{}{}T3Blbk{}{}", "-", d.of(ALNUM, 20), "FJ", d.of(ALNUM, 20))),
    ("Anthropic", |d| format!("sk-{}api03-{}{}", "ant-", d.of(BASE64URL, 93), "AA")),
    ("OpenRouter", |d| format!("sk-{}v1-{}", "or-", d.of(HEX, 64))),
    ("DeepSeek", |d| format!("sk{}{}", "-", d.of(HEX, 32))),
    ("Hugging Face", |d| {
        format!("h{}{}", "f_", d.of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 34))
    }),
    ("Groq", |d| format!("gs{}{}", "k_", d.of(ALNUM, 52))),
    ("xAI", |d| format!("xa{}{}", "i-", d.of(ALNUM, 80))),
    ("Replicate", |d| format!("r{}{}", "8_", d.of(ALNUM, 37))),
    ("npm", |d| format!("np{}{}", "m_", d.of(ALNUM, 36))),
    ("PyPI", |d| format!("pypi-{}IcHlwaS5vcmc{}", "AgE", d.of(BASE64URL, 149) + &d.of(ALNUM, 1))),
    ("RubyGems", |d| format!("ruby{}{}", "gems_", d.of(HEX, 48))),
    ("Docker", |d| format!("dckr_{}{}", "pat_", d.of(BASE64URL, 26) + &d.of(ALNUM, 1))),
    ("JWT", |d| {
        format!(
            "ey{}.ey{}{}.{}",
            "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
            "J",
            d.of(BASE64URL, 90),
            d.of(BASE64URL, 42) + &d.of(ALNUM, 1)
        )
    }),
    ("Azure client secret", |d| {
        let (head, tail) = (d.of(ALNUM, 3), d.of(&format!("{ALNUM}~._-"), 30));
        format!("{head}8{}{tail}{}", "Q~", d.of(ALNUM, 1))
    }),
    ("Twilio API key", |d| format!("S{}{}", "K", d.of(HEX, 32))),
    ("SendGrid", |d| format!("S{}{}.{}", "G.", d.of(BASE64URL, 22), d.of(BASE64URL, 42) + &d.of(ALNUM, 1))),
    ("Mailgun", |d| format!("ke{}{}", "y-", d.of(HEX, 32))),
    ("Mailchimp", |d| format!("{}-u{}", d.of(HEX, 32), "s14")),
    ("Telegram", |d| format!("{}:A{}{}", d.of("123456789", 10), "A", d.of(BASE64URL, 32) + &d.of(ALNUM, 1))),
    ("DigitalOcean", |d| format!("dop_{}{}", "v1_", d.of(HEX, 64))),
    ("Databricks", |d| format!("da{}{}", "pi", d.of(HEX, 32))),
    ("Heroku", |d| format!("HR{}{}", "KU-", d.uuid())),
    ("Shopify", |d| format!("shp{}{}", "at_", d.of(HEX, 32))),
    ("Square", |d| format!("sq0{}{}", "csp-", d.of(BASE64URL, 42) + &d.of(ALNUM, 1))),
    ("Linear", |d| format!("lin_{}{}", "api_", d.of(ALNUM, 40))),
    ("Notion", |d| format!("nt{}{}", "n_", d.of(ALNUM, 46))),
    ("Vault", |d| format!("hv{}{}", "s.", d.of(BASE64URL, 90) + &d.of(ALNUM, 1))),
    ("Terraform", |d| format!("{}.atlas{}{}", d.of(ALNUM, 14), "v1.", d.of(ALNUM, 67))),
    ("Grafana", |d| format!("gl{}{}_{}", "sa_", d.of(ALNUM, 32), d.of(HEX, 8))),
    ("Sentry", |d| format!("sntr{}{}", "yu_", d.of(HEX, 64))),
    ("New Relic", |d| format!("NR{}{}", "AK-", d.of(BASE32, 27))),
    ("Postman", |d| format!("PM{}{}-{}", "AK-", d.of(HEX, 24), d.of(HEX, 34))),
    ("PlanetScale", |d| format!("pscale_{}{}", "tkn_", d.of(BASE64URL, 42) + &d.of(ALNUM, 1))),
    ("Pulumi", |d| format!("pu{}{}", "l-", d.of(HEX, 40))),
    ("Doppler", |d| format!("dp.{}{}", "pt.", d.of(ALNUM, 43))),
    ("Figma", |d| format!("fi{}{}", "gd_", d.of(BASE64URL, 39) + &d.of(ALNUM, 1))),
    ("Airtable", |d| format!("pa{}{}.{}", "t", d.of(ALNUM, 14), d.of(HEX, 64))),
    ("Brevo", |d| format!("xkey{}{}-{}", "sib-", d.of(HEX, 64), d.of(ALNUM, 16))),
    ("Supabase", |d| format!("sb{}{}", "p_", d.of(HEX, 40))),
    ("CircleCI", |d| format!("CCI{}{}_{}", "PAT_", d.of(ALNUM, 22), d.of(HEX, 40))),
    ("Atlassian", |d| format!("ATA{}{}", "TT3xFfGF0", d.of(BASE64URL, 170) + &d.of(ALNUM, 1))),
    ("Fly", |d| format!("fo{}{}", "1_", d.of(BASE64URL, 42) + &d.of(ALNUM, 1))),
    ("Dynatrace", |d| format!("dt0{}{}.{}", "c01.", d.of(BASE32, 24), d.of(BASE32, 64))),
    ("age", |d| format!("AGE-SECRET-{}{}", "KEY-1", d.of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58))),
];

/// Creates a secret that is recognizable only by its context, and the line that contains it.
type InContext = fn(&mut Rng) -> (String, String);

const IN_CONTEXT: &[(&str, InContext)] = &[
    ("AWS secret key in a file of credentials", |d| {
        let secret = d.password("+/", 40);
        (secret.clone(), format!("aws_secret_access_key = {secret}"))
    }),
    ("AWS secret key in JSON", |d| {
        let secret = d.password("+/", 40);
        (secret.clone(), format!("{{\"SecretAccessKey\": \"{secret}\", \"Version\": 1}}"))
    }),
    ("Azure storage", |d| {
        let secret = d.of(BASE64, 86) + "==";
        (
            secret.clone(),
            format!(
                "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={secret};EndpointSuffix=core.windows.net"
            ),
        )
    }),
    ("Twilio auth token", |d| {
        let secret = d.of(HEX, 32);
        (secret.clone(), format!("TWILIO_AUTH_TOKEN={secret}"))
    }),
    ("Discord bot", |d| {
        let secret = format!("M{}.{}.{}", d.of(ALNUM, 25), d.of(ALNUM, 6), d.of(ALNUM, 38));
        (secret.clone(), format!("client.login('{secret}');"))
    }),
    ("Discord webhook", |d| {
        let secret = d.of(BASE64URL, 67) + &d.of(ALNUM, 1);
        (secret.clone(), format!("curl https://discord.com/api/webhooks/{}/{secret}", d.of("123456789", 18)))
    }),
    ("Slack webhook", |d| {
        let secret = d.of(ALNUM, 24);
        let url =
            format!("https://hooks.slack.com/services/T{}/B{}/{secret}", d.of(BASE32, 10), d.of(BASE32, 10));
        (secret, format!("webhook: {url}"))
    }),
    ("password of a database in an address", |d| {
        let secret = d.password("-_.~!*", 18);
        (secret.clone(), format!("DATABASE_URL=postgres://shop:{secret}@db.internal:5432/shop"))
    }),
    ("password in an address in code", |d| {
        let secret = d.password("-_.", 20);
        (secret.clone(), format!("let broker = \"amqps://worker:{secret}@mq.internal/jobs\";"))
    }),
    ("password in code", |d| {
        let secret = d.password("!#%&*+-.:=?@^_~", 20);
        (secret.clone(), format!("    password = \"{secret}\",  # the shop's"))
    }),
    ("password in JSON", |d| {
        let secret = d.password("!#%&*+-.:=?@^_~", 16);
        (secret.clone(), format!("  \"db_password\": \"{secret}\","))
    }),
    ("API key in code", |d| {
        let secret = d.of(HEX, 40);
        (secret.clone(), format!("const API_KEY: &str = \"{secret}\";"))
    }),
    ("secret in YAML", |d| {
        let secret = d.password("", 32);
        (secret.clone(), format!("client_secret: {secret}"))
    }),
    ("token in a shell", |d| {
        let secret = d.password("", 40);
        (secret.clone(), format!("export DEPLOY_TOKEN={secret}"))
    }),
    ("token in a query", |d| {
        let secret = d.password("", 32);
        (secret.clone(), format!("GET /v1/items?access_token={secret}&page=2"))
    }),
    ("bearer token", |d| {
        let secret = d.password("", 44);
        (secret.clone(), format!("curl -H 'Authorization: Bearer {secret}' https://api.internal/v1"))
    }),
    ("basic authorization", |d| {
        let secret = d.password("", 28);
        (secret.clone(), format!("Authorization: Basic {secret}=="))
    }),
    ("registry in a Docker file", |d| {
        let secret = d.password("", 32);
        (secret.clone(), format!("\"registry.internal\": {{ \"auth\": \"{secret}\" }}"))
    }),
    ("npmrc", |d| {
        let secret = d.uuid();
        (secret.clone(), format!("//registry.internal/:_authToken={secret}"))
    }),
    ("Datadog", |d| {
        let secret = d.of(HEX, 32);
        (secret.clone(), format!("DD_API_KEY: {secret}"))
    }),
    ("Heroku, old", |d| {
        let secret = d.uuid();
        (secret.clone(), format!("HEROKU_API_KEY={secret}"))
    }),
    ("password in XML", |d| {
        let secret = d.password("", 24);
        (secret.clone(), format!("<password>{secret}</password>"))
    }),
    ("netrc", |d| {
        let secret = d.password("", 20);
        (secret.clone(), format!("machine git.internal login ci password {secret}"))
    }),
];

/// Creates a credential of the kind `number` (modulo the number of kinds), in a typical context.
pub fn planted(rng: &mut Rng, number: usize) -> Planted {
    let kinds = TOKENS.len() + IN_CONTEXT.len() + 1;
    let kind = number % kinds;
    if let Some((kind, token)) = TOKENS.get(kind) {
        let secret = token(rng);
        let text = around(rng, &secret);
        return Planted { kind, secrets: vec![secret], text };
    }
    if let Some((kind, in_context)) = IN_CONTEXT.get(kind - TOKENS.len()) {
        let (secret, text) = in_context(rng);
        return Planted { kind, secrets: vec![secret], text };
    }
    private_key(rng)
}

fn around(rng: &mut Rng, secret: &str) -> String {
    match rng.below(9) {
        0 => format!("KEY = \"{secret}\""),
        1 => format!("export SERVICE_CREDENTIALS={secret}"),
        2 => format!("# ask for another one when {secret} has expired"),
        3 => format!("{{\"key\": \"{secret}\", \"n\": 1}}"),
        4 => format!("client = Client('{secret}', timeout=3)"),
        5 => secret.to_string(),
        6 => format!("  - {secret}  # until March"),
        7 => format!("echo {secret} | login --stdin"),
        _ => format!("{{\"output\":\"first\\n{secret}\\nlast\"}}"),
    }
}

/// Creates a private key in PEM with lines of 64 characters, sometimes with escaped line breaks, as in JSON.
fn private_key(rng: &mut Rng) -> Planted {
    let name = ["RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY"][rng.below(4)];
    let mut lines: Vec<String> = (0..3 + rng.below(20)).map(|_| rng.of(BASE64, 64)).collect();
    lines.push(rng.of(BASE64, 30) + "==");
    let (begin, end) = (format!("-----{} {name}-----", "BEGIN"), format!("-----{} {name}-----", "END"));
    let text = if rng.below(3) == 0 {
        format!("\"private_key\": \"{begin}\\n{}\\n{end}\\n\"", lines.join("\\n"))
    } else {
        format!("{begin}\n{}\n{end}", lines.join("\n"))
    };
    Planted { kind: "private key", secrets: lines, text }
}

/// Creates a word of lowercase letters, for text between credentials.
pub fn word(rng: &mut Rng) -> String {
    let length = 3 + rng.below(6);
    rng.of(LOWER, length)
}
