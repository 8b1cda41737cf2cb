//! `url.*`: adds, lists and removes web pages that the client fetched. The server never fetches a page itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_conversation::urls::Page;
use strata_host::uri;
use strata_prompt::layout::{ItemKey, Tier};

use super::{Access, Command, CommandError, Context, NoArguments};

/// Maximum length of a page's address or title, in bytes.
const MAX_PAGE_NAME_BYTES: usize = 4_096;

/// A web page to add to the session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddWebPageParams {
    /// Address of the page, with a scheme and a host.
    url: String,
    /// Title of the page. Defaults to none.
    title: Option<String>,
    /// Text of the page, at most `files.max_bytes` bytes.
    content: String,
}

/// The address of a web page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OneUrl {
    /// Address of the page.
    url: String,
}

/// A web page in the session.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ShownPage {
    /// Address of the page.
    url: String,
    /// Title of the page. Absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// Key that identifies the page in the layout of prompts.
    key: ItemKey,
    /// Tier of the page in the last recorded turn.
    tier: Tier,
    /// Number of tokens in the page's text.
    tokens: usize,
}

/// The result of removing a page.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RemoveReply {
    /// Whether the session contained the page.
    removed: bool,
}

/// The web pages in the session.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PageListing {
    /// Pages, sorted by address.
    urls: Vec<ShownPage>,
}

pub(super) struct AddPage;

impl Command for AddPage {
    const NAME: &str = "strata.url.add";
    const SUMMARY: &str = "Adds a web page that the client fetched.";
    type Args = AddWebPageParams;
    type Reply = ShownPage;

    fn run(params: AddWebPageParams, context: &mut Context<'_>) -> Result<ShownPage, CommandError> {
        let AddWebPageParams { url, title, content } = params;
        let address = trimmed_name("url", &url)?;
        if !is_url(address) {
            let message = format!(
                "`{}` is not a URL; pass one such as https://example.org/guide",
                address.escape_debug()
            );
            return Err(CommandError::invalid("url", &message));
        }
        let title = title.as_deref().map(|title| trimmed_name("title", title)).transpose()?;
        let limit = context.snapshot.settings.files.max_bytes;
        if content.len() as u64 > limit {
            let message = format!("it exceeds the limit of {limit} bytes (`files.max_bytes`)");
            return Err(CommandError::invalid("content", &message));
        }
        if content.contains('\0') {
            return Err(CommandError::invalid("content", "it contains a NUL character, so it is not text"));
        }
        let title = title.filter(|title| !title.is_empty()).map(Into::into);
        let page = Page { address: address.into(), title, text: content.into() };
        let reply = describe_page(&page, context);
        if context.session.pages.add(page) {
            context.session.mark_changed();
        }
        Ok(reply)
    }
}

pub(super) struct RemovePage;

impl Command for RemovePage {
    const NAME: &str = "strata.url.remove";
    const SUMMARY: &str = "Removes a web page.";
    type Args = OneUrl;
    type Reply = RemoveReply;

    fn run(params: OneUrl, context: &mut Context<'_>) -> Result<RemoveReply, CommandError> {
        let removed = context.session.pages.remove(params.url.trim()).is_some();
        if removed {
            context.session.mark_changed();
        }
        Ok(RemoveReply { removed })
    }
}

pub(super) struct ListPages;

impl Command for ListPages {
    const NAME: &str = "strata.url.list";
    const SUMMARY: &str = "Lists the web pages in the context.";
    const ACCESS: Access = Access::Reads;
    type Args = NoArguments;
    type Reply = PageListing;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<PageListing, CommandError> {
        Ok(PageListing {
            urls: context.session.pages.iter().map(|page| describe_page(page, context)).collect(),
        })
    }
}

fn describe_page(page: &Page, context: &Context<'_>) -> ShownPage {
    let key = ItemKey::Url(page.id());
    ShownPage {
        url: page.address.to_string(),
        title: page.title.as_ref().map(ToString::to_string),
        tier: context.session.tier_of(&key),
        tokens: context.snapshot.count_page_tokens(page),
        key,
    }
}

/// Returns whether `text` is the address of a network resource, with a scheme, `://` and a host (RFC 3986, section
/// 3.2).
fn is_url(text: &str) -> bool {
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control();
    let host = text.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#']).next());
    uri::scheme(text).is_some() && host.is_some_and(|host| !host.is_empty()) && text.chars().all(is_plain)
}

/// Trims an address or a title, and rejects one that is too long.
fn trimmed_name<'a>(field: &str, text: &'a str) -> Result<&'a str, CommandError> {
    let text = text.trim();
    if text.len() > MAX_PAGE_NAME_BYTES {
        return Err(CommandError::invalid(field, &format!("it is longer than {MAX_PAGE_NAME_BYTES} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_and_a_host() {
        for url in [
            "https://example.org",
            "http://localhost:8080/a?b#c",
            "https://[::1]/",
            "gemini://a.b/c",
            "https://\u{e4}.org/\u{e4}",
        ] {
            assert!(is_url(url), "{url}");
        }
        for text in [
            "",
            "example.org",
            "not a url",
            "https://",
            "https:///a",
            "https://a b",
            "file:///a",
            "a.rs:12",
            "://a",
            "mailto:a@b.c",
            "https://a\n",
        ] {
            assert!(!is_url(text), "{text}");
        }
    }
}
