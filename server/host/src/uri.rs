//! Converts between `file:` URIs and paths in Unix or Windows style, and rejects other schemes. Also normalizes what
//! editors send as URIs. Purely textual: does not access the disk or check where a path leads, which is the task of
//! [`roots`](crate::roots).

use std::borrow::Cow;
use std::fmt::Write as _;
use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Path syntax of a system. Always [`PathStyle::CURRENT`] in production; tests cover both styles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathStyle {
    /// Paths such as `/home/u/a.rs`.
    Unix,
    /// Paths such as `C:\Users\u\a.rs` and `\\host\share\a.rs`.
    Windows,
}

/// Why a URI does not name a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UriError {
    /// The scheme is missing or is not `file`.
    #[error("only `file:` URIs are supported, not `{0}:`")]
    Scheme(String),
    /// The URI names another machine, but paths on this system have no hosts.
    #[error("the file is on another machine (`{0}`)")]
    Host(String),
    #[error("the path in the URI is not absolute")]
    Relative,
    /// A `?` or `#` that is not percent-encoded begins a query or fragment, which file URIs do not have.
    #[error("a file URI cannot have a query or a fragment; encode `?` as `%3F` and `#` as `%23`")]
    QueryOrFragment,
    /// The URI contains a NUL character, literal or as `%00`.
    #[error("the path contains a NUL character")]
    Nul,
    /// The percent-encoded bytes are not valid UTF-8.
    #[error("the path is not UTF-8")]
    NotText,
}

/// Characters to percent-encode: all except those that RFC 3986 allows in a path, which are unreserved characters,
/// sub-delimiters, `:`, `@` and the slash.
const ENCODED_IN_PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@')
    .remove(b'/');

/// Characters to percent-encode in the name of a host that a Windows path begins with. Literal ones would begin a port
/// or end the name of a user.
const ENCODED_IN_HOST: &AsciiSet = &ENCODED_IN_PATH.add(b':').add(b'@');

/// Characters to percent-encode in a URI that an editor sent: those that RFC 3986 allows nowhere in a URI.
const ENCODED_ANYWHERE: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Characters to percent-encode outside of the host of a URI: brackets enclose only addresses of hosts, and a second `#`
/// begins nothing.
const ENCODED_OUTSIDE_HOST: &AsciiSet = &ENCODED_ANYWHERE.add(b'[').add(b']').add(b'#');

/// Characters to percent-encode in a host name, and in the name of a user there.
const ENCODED_IN_AUTHORITY: &AsciiSet = &ENCODED_OUTSIDE_HOST.add(b'@').add(b':');

impl PathStyle {
    /// Style of the current system.
    const CURRENT: Self = if cfg!(windows) { Self::Windows } else { Self::Unix };
}

/// Returns the scheme if `text` looks like a URI, for example `file`, `untitled` or `git`. A single letter is a Windows
/// drive, not a scheme. Without a slash after the colon, `a:b` is a file name, except after the schemes `untitled` and
/// `file`.
pub fn scheme(text: &str) -> Option<&str> {
    let (scheme, after_scheme) = text.split_once(':')?;
    let mut characters = scheme.chars();
    let is_well_formed = characters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && characters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    let is_unambiguous =
        after_scheme.starts_with('/') || ["untitled", "file"].iter().any(|s| scheme.eq_ignore_ascii_case(s));
    (scheme.len() > 1 && is_well_formed && is_unambiguous).then_some(scheme)
}

/// Returns the URI that an editor means by `text`. Files have one spelling each, that of [`file_uri`]: editors send
/// characters that a URI must encode (`[id].ts`, spaces, `?`, `#`, accents), encode others that it need not, write
/// `FILE:` or `file:/`, or send a path instead. In URIs of other schemes, encodes the characters that RFC 3986 does not
/// allow. The result may still be no URI.
pub fn normalize_uri(text: &str) -> String {
    normalize_uri_in_style(text, PathStyle::CURRENT)
}

/// Like [`normalize_uri`], but for a given style.
fn normalize_uri_in_style(text: &str, style: PathStyle) -> String {
    let file_uri = file_path(text, style).and_then(|path| file_uri_in_style(&path, style));
    file_uri.unwrap_or_else(|| encode_forbidden(text))
}

/// Returns the path that an editor means by a `file:` URI or by an absolute path. Editors know neither queries nor
/// fragments of files, so `?` and `#` belong to the path.
fn file_path(text: &str, style: PathStyle) -> Option<String> {
    match scheme(text) {
        Some(scheme) if scheme.eq_ignore_ascii_case("file") => {
            let after_scheme = text.get(scheme.len()..)?.replace('?', "%3F").replace('#', "%23");
            to_path_text(&format!("file{after_scheme}"), style).ok()
        }
        Some(_) => None,
        None => {
            let is_path = match style {
                PathStyle::Unix => text.starts_with('/') && !text.contains('\0'),
                PathStyle::Windows => is_windows_absolute(text),
            };
            is_path.then(|| text.to_owned())
        }
    }
}

/// Percent-encodes the characters that RFC 3986 does not allow where they are.
fn encode_forbidden(text: &str) -> String {
    let Some((scheme, after_scheme)) = text.split_once(':') else { return text.to_owned() };
    let authority_end = match after_scheme.strip_prefix("//") {
        Some(authority) => 2 + authority.find(['/', '?', '#']).unwrap_or(authority.len()),
        None => 0,
    };
    let (authority, after_authority) = after_scheme.split_at(authority_end);
    let (path, fragment) = match after_authority.split_once('#') {
        Some((path, fragment)) => (path, Some(fragment)),
        None => (after_authority, None),
    };
    let scheme = if scheme.eq_ignore_ascii_case("file") { "file" } else { scheme };
    let mut encoded = format!("{scheme}:");
    encode_authority(&mut encoded, authority);
    encode_part(&mut encoded, path, ENCODED_OUTSIDE_HOST);
    if let Some(fragment) = fragment {
        encoded.push('#');
        encode_part(&mut encoded, fragment, ENCODED_OUTSIDE_HOST);
    }
    encoded
}

/// Appends the authority of a URI, which begins with two slashes or is empty.
fn encode_authority(encoded: &mut String, authority: &str) {
    let Some(authority) = authority.strip_prefix("//") else { return };
    encoded.push_str("//");
    let host = match authority.rsplit_once('@') {
        Some((user, host)) => {
            encode_part(encoded, user, ENCODED_IN_AUTHORITY);
            encoded.push('@');
            host
        }
        None => authority,
    };
    let (host, port) = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, Some(port)),
        _ => (host, None),
    };
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    match address.map(str::parse::<Ipv6Addr>) {
        Some(Ok(_)) => encoded.push_str(host),
        _ => encode_part(encoded, host, ENCODED_IN_AUTHORITY),
    }
    if let Some(port) = port {
        encoded.push(':');
        encoded.push_str(port);
    }
}

/// Appends `part` with the characters of `set` encoded, and every `%` that encodes nothing.
fn encode_part(encoded: &mut String, part: &str, set: &'static AsciiSet) {
    for (index, piece) in part.split('%').enumerate() {
        if index > 0 {
            let is_code = piece.len() >= 2 && piece.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
            encoded.push_str(if is_code { "%" } else { "%25" });
        }
        // Writing to a string cannot fail.
        let _ = write!(encoded, "{}", utf8_percent_encode(piece, set));
    }
}

/// Returns the path that a `file:` URI names on this system. Percent-encoding is decoded exactly once.
///
/// # Errors
/// [`UriError`] if the URI does not name a file on this machine.
pub fn to_path(uri: &str) -> Result<PathBuf, UriError> {
    to_path_text(uri, PathStyle::CURRENT).map(PathBuf::from)
}

/// Like [`to_path`], but for a given style. In the Windows style, `file:///C:/a`, `file:///c%3A/a` and `file:///C|/a`
/// give `C:\a`, and `file://host/share/a` gives `\\host\share\a` (RFC 8089, appendix E). Some editors write
/// `file://C:/a` or `file:///C:\a`.
fn to_path_text(uri: &str, style: PathStyle) -> Result<String, UriError> {
    let scheme = scheme(uri).unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("file") {
        return Err(UriError::Scheme(scheme.chars().take(32).collect()));
    }
    let after_scheme = uri.get(scheme.len() + 1..).unwrap_or_default();
    if after_scheme.contains(['?', '#']) {
        return Err(UriError::QueryOrFragment);
    }
    let after_scheme = match style {
        PathStyle::Unix => Cow::Borrowed(after_scheme),
        PathStyle::Windows => Cow::Owned(after_scheme.replace('\\', "/")),
    };
    let (host, path) = match after_scheme.strip_prefix("//") {
        Some(path) if style == PathStyle::Windows && split_drive(path).is_some() => ("", path),
        Some(authority) => authority.split_at(authority.find('/').unwrap_or(authority.len())),
        None => ("", &*after_scheme),
    };
    let path = match style {
        PathStyle::Windows if split_drive(path).is_some() => Cow::Owned(format!("/{path}")),
        PathStyle::Unix | PathStyle::Windows => Cow::Borrowed(path),
    };
    let host = if host.eq_ignore_ascii_case("localhost") { "" } else { host };
    // VS Code encodes the host of `\\wsl$\Ubuntu`.
    let host = percent_decode_str(host).decode_utf8().map_err(|_| UriError::NotText)?;
    let path = percent_decode_str(&path).decode_utf8().map_err(|_| UriError::NotText)?;
    if path.contains('\0') || host.contains('\0') {
        return Err(UriError::Nul);
    }
    if !path.starts_with('/') {
        return Err(UriError::Relative);
    }
    match style {
        PathStyle::Unix if !host.is_empty() => Err(UriError::Host(host.chars().take(255).collect())),
        PathStyle::Unix => Ok(path.into_owned()),
        // `\\?\` and `\\.\` begin paths of devices.
        PathStyle::Windows if host.contains(['/', '\\', '?']) || matches!(&*host, "." | "..") => {
            Err(UriError::Relative)
        }
        PathStyle::Windows if !host.is_empty() => Ok(format!(r"\\{host}{}", path.replace('/', r"\"))),
        PathStyle::Windows => {
            let (drive, path_on_drive) =
                split_drive(path.get(1..).unwrap_or_default()).ok_or(UriError::Relative)?;
            Ok(format!("{drive}:{}", path_on_drive.replace('/', r"\")))
        }
    }
}

/// Returns the `file:` URI of an absolute path, or `None` if the path is relative or not UTF-8.
pub fn file_uri(path: &Path) -> Option<String> {
    file_uri_in_style(path.to_str()?, PathStyle::CURRENT)
}

/// Like [`file_uri`], but for a given style. Removes the verbatim prefix `\\?\` of Windows paths.
fn file_uri_in_style(path: &str, style: PathStyle) -> Option<String> {
    let encode = |path: &str| utf8_percent_encode(path, ENCODED_IN_PATH).to_string();
    match style {
        PathStyle::Unix => path.starts_with('/').then(|| format!("file://{}", encode(path))),
        PathStyle::Windows => {
            let path = path.replace('\\', "/");
            let plain = match path.strip_prefix("//?/UNC/") {
                Some(share) => format!("//{share}"),
                None => path.strip_prefix("//?/").map_or_else(|| path.clone(), str::to_owned),
            };
            if let Some(share) = plain.strip_prefix("//") {
                let (host, path) = share.split_at(share.find('/').unwrap_or(share.len()));
                return Some(format!(
                    "file://{}{}",
                    utf8_percent_encode(host, ENCODED_IN_HOST),
                    encode(path)
                ));
            }
            let (drive, path_on_drive) = split_drive(&plain)?;
            Some(format!("file:///{drive}:{}", encode(path_on_drive)))
        }
    }
}

/// Whether `text` begins like an absolute Windows path, with a drive and a slash or backslash, or with two backslashes.
pub(crate) fn is_windows_absolute(text: &str) -> bool {
    text.starts_with(r"\\") || (split_drive(text).is_some() && text.as_bytes().get(1) == Some(&b':'))
}

/// Splits `C:/a` into `C` and `/a`. Accepts a slash or a backslash after the colon.
fn split_drive(path: &str) -> Option<(char, &str)> {
    let drive = path.chars().next().filter(char::is_ascii_alphabetic)?;
    let path_on_drive = path.get(1..)?.strip_prefix([':', '|'])?;
    path_on_drive.starts_with(['/', '\\']).then_some((drive, path_on_drive))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(style: PathStyle, uri: &str, expected: Result<&str, UriError>) {
        assert_eq!(to_path_text(uri, style), expected.map(str::to_owned), "{uri}");
    }

    #[test]
    fn unix_uris() {
        let check = |uri, expected| check(PathStyle::Unix, uri, expected);
        check("file:///home/u/a.rs", Ok("/home/u/a.rs"));
        check("FILE:///a", Ok("/a"));
        check("file:/a", Ok("/a"));
        check("file://localhost/a", Ok("/a"));
        check("file:///a%20b/%C3%A9%23.rs", Ok("/a b/é#.rs"));
        check("file:///c%3A/a", Ok("/c:/a"));
        check("file:///a/%252e%252e/b", Ok("/a/%2e%2e/b"));
        check("file:///100%", Ok("/100%"));
        check("file://server/a", Err(UriError::Host("server".into())));
        check("file:a", Err(UriError::Relative));
        check("file://", Err(UriError::Relative));
        check("file:///a%00b", Err(UriError::Nul));
        check("file:///a%FFb", Err(UriError::NotText));
        check("file:///a?b", Err(UriError::QueryOrFragment));
        check("file:///a#L1", Err(UriError::QueryOrFragment));
        check("https://example.org/a", Err(UriError::Scheme("https".into())));
        check("untitled:Untitled-1", Err(UriError::Scheme("untitled".into())));
        check("a.rs", Err(UriError::Scheme(String::new())));
    }

    #[test]
    fn windows_uris() {
        let check = |uri, expected| check(PathStyle::Windows, uri, expected);
        check("file:///C:/Users/u/a.rs", Ok(r"C:\Users\u\a.rs"));
        check("file:///c%3A/a%20b", Ok(r"c:\a b"));
        check("file:///C|/a", Ok(r"C:\a"));
        check("file://host/share/a", Ok(r"\\host\share\a"));
        check("file://wsl%24/Ubuntu/home/u/a.rs", Ok(r"\\wsl$\Ubuntu\home\u\a.rs"));
        check("file://localhost/c:/a", Ok(r"c:\a"));
        check("file://%3F/C:/a", Err(UriError::Relative));
        check("file://./C:/a", Err(UriError::Relative));
        check("file://a%5Cb/c", Err(UriError::Relative));
        check("file:////host/share/a", Err(UriError::Relative));
        check("file:///etc/passwd", Err(UriError::Relative));
        check("file:///C:a", Err(UriError::Relative));
        check("file://C:/a", Ok(r"C:\a"));
        check("file:c:/a", Ok(r"c:\a"));
        check(r"file:///C:\a\b.rs", Ok(r"C:\a\b.rs"));
        check(r"file:\\host\share\a", Ok(r"\\host\share\a"));
        check(r"file:\\?\C:\a", Err(UriError::QueryOrFragment));
        let to_uri = |path| file_uri_in_style(path, PathStyle::Windows);
        assert_eq!(to_uri(r"C:\a b\ü.rs").as_deref(), Some("file:///C:/a%20b/%C3%BC.rs"));
        assert_eq!(to_uri(r"\\?\C:\a").as_deref(), Some("file:///C:/a"));
        assert_eq!(to_uri(r"\\?\UNC\host\share\a").as_deref(), Some("file://host/share/a"));
        assert_eq!(to_uri(r"a\b"), None);
    }

    #[test]
    fn all_spellings_of_a_file_have_one_normalized_uri() {
        let check = |style, text: &str, expected: &str| {
            assert_eq!(normalize_uri_in_style(text, style), expected, "{text}");
            assert_eq!(normalize_uri_in_style(expected, style), expected, "normalized twice");
        };
        let unix = |text, expected| check(PathStyle::Unix, text, expected);
        unix("file:///w/[id].ts", "file:///w/%5Bid%5D.ts");
        unix("file:///w/%5bid%5D%2Ets", "file:///w/%5Bid%5D.ts");
        unix("FILE:///w/a", "file:///w/a");
        unix("file:/w/a", "file:///w/a");
        unix("file://localhost/w/a", "file:///w/a");
        unix("/w/a b", "file:///w/a%20b");
        unix("file:///w/a b|^{}`\"<>\\.ts", "file:///w/a%20b%7C%5E%7B%7D%60%22%3C%3E%5C.ts");
        unix("file:///w/é", "file:///w/%C3%A9");
        unix("file:///w/is it?.ts", "file:///w/is%20it%3F.ts");
        unix("file:///w/c#.ts", "file:///w/c%23.ts");
        unix("file:///w/100%/%zz", "file:///w/100%25/%25zz");
        let windows = |text, expected| check(PathStyle::Windows, text, expected);
        windows("file:///c%3A/w/[id].ts", "file:///c:/w/%5Bid%5D.ts");
        windows(r"file:///C:\w\a.ts", "file:///C:/w/a.ts");
        windows("file://C:/w/a.ts", "file:///C:/w/a.ts");
        windows(r"C:\w\a b.ts", "file:///C:/w/a%20b.ts");
        windows(r"\\host\share\a", "file://host/share/a");
        // A literal colon would begin a port.
        windows(r"file://:a\b", "file://%3Aa/b");
        windows(r"\\me@host\share", "file://me%40host/share");
    }

    #[test]
    fn only_forbidden_characters_are_encoded_in_uris_of_other_schemes() {
        for (text, expected) in [
            ("untitled:Untitled 1", "untitled:Untitled%201"),
            ("git:/w/[id].ts?{\"ref\":\"~\"}", "git:/w/%5Bid%5D.ts?%7B%22ref%22:%22~%22%7D"),
            ("vscode-notebook-cell:/w/a b.ipynb#W0s%3D", "vscode-notebook-cell:/w/a%20b.ipynb#W0s%3D"),
            ("http://[::1]:80/[a]#b#c", "http://[::1]:80/%5Ba%5D#b%23c"),
            ("file://server/a[1]", "file://server/a%5B1%5D"),
            ("ssh://me@host:22/a b", "ssh://me@host:22/a%20b"),
            ("x://[a]:b/c", "x://%5Ba%5D%3Ab/c"),
            ("file:///a%00b", "file:///a%00b"),
            ("nonsense", "nonsense"),
            ("", ""),
        ] {
            assert_eq!(normalize_uri_in_style(text, PathStyle::Unix), expected, "{text}");
        }
    }

    #[test]
    fn schemes_are_distinguished_from_file_names() {
        assert_eq!(scheme("git:/a?x"), Some("git"));
        assert_eq!(scheme("vscode-notebook-cell:/a"), Some("vscode-notebook-cell"));
        assert_eq!(scheme("untitled:x"), Some("untitled"));
        assert_eq!(scheme("C:/a"), None);
        assert_eq!(scheme("note: this.md"), None);
        assert_eq!(scheme("a.rs"), None);
    }

    proptest! {
        #[test]
        fn a_path_survives_its_uri(path in "/[^\0]{0,40}") {
            let uri = file_uri_in_style(&path, PathStyle::Unix).unwrap();
            prop_assert!(uri.is_ascii());
            prop_assert_eq!(to_path_text(&uri, PathStyle::Unix).unwrap(), path);
        }

        #[test]
        fn a_windows_path_survives_its_uri(below in "\\\\[^\0/\\\\][^\0/]{0,30}") {
            for path in [format!("D:{below}"), format!(r"\\a:@b{below}")] {
                let uri = file_uri_in_style(&path, PathStyle::Windows).unwrap();
                prop_assert_eq!(to_path_text(&uri, PathStyle::Windows).unwrap(), path);
            }
        }

        /// Whatever an editor leaves unencoded, it means the same file.
        #[test]
        fn the_normalized_uri_does_not_depend_on_what_the_editor_encodes(
            path in "/[^\0%]{0,20}", codes in prop::collection::vec(any::<bool>(), 80),
        ) {
            let bytes = path.char_indices().zip(codes).skip(1);
            let uri = bytes.fold("file:///".to_owned(), |mut uri, ((_, character), is_encoded)| {
                match is_encoded {
                    true => character.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| {
                        let _ = write!(uri, "%{byte:02x}");
                    }),
                    false => uri.push(character),
                }
                uri
            });
            prop_assert_eq!(normalize_uri_in_style(&uri, PathStyle::Unix), file_uri_in_style(&path, PathStyle::Unix).unwrap());
        }

        #[test]
        fn normalizing_twice_changes_nothing(text in "(file|untitled|git)?:?/{0,3}[^\0]{0,30}") {
            for style in [PathStyle::Unix, PathStyle::Windows] {
                let once = normalize_uri_in_style(&text, style);
                prop_assert_eq!(normalize_uri_in_style(&once, style), once);
            }
        }

        #[test]
        fn arbitrary_text_does_not_panic(text in ".{0,60}") {
            let _ = to_path_text(&text, PathStyle::Unix);
            let _ = to_path_text(&text, PathStyle::Windows);
            let _ = file_uri_in_style(&text, PathStyle::Windows);
        }
    }
}
