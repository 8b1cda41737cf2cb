//! The web pages that a session shows, as text that the client fetched. Does not fetch pages or check URLs.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strata_base::hash::ContentHash;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Page {
    /// URL of the page, as the client stated it.
    pub address: Arc<str>,
    /// Title of the page, if the client provided one.
    pub title: Option<Arc<str>>,
    /// Text of the page, as converted by the client.
    pub text: Arc<str>,
}

impl Page {
    /// Returns the id of the page, which is the same for every version.
    pub fn id(&self) -> ContentHash {
        ContentHash::from_text(&self.address)
    }
}

/// Pages of a session, ordered by URL.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pages(BTreeMap<Arc<str>, Page>);

impl Pages {
    /// Adds a page, or replaces an older version of the page. Returns whether anything changed.
    pub fn add(&mut self, page: Page) -> bool {
        let is_new = self.0.get(&page.address) != Some(&page);
        if is_new {
            self.0.insert(Arc::clone(&page.address), page);
        }
        is_new
    }

    pub fn remove(&mut self, address: &str) -> Option<Page> {
        self.0.remove(address)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Page> {
        self.0.values()
    }

    pub fn get(&self, id: ContentHash) -> Option<&Page> {
        self.iter().find(|page| page.id() == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(address: &str, text: &str) -> Page {
        Page { address: address.into(), title: None, text: text.into() }
    }

    #[test]
    fn a_new_version_of_a_page_replaces_the_old_one_under_the_same_id() {
        let (old, new) = (page("https://a", "1"), page("https://a", "2"));
        let mut pages = Pages::default();
        assert_eq!((pages.add(old.clone()), pages.add(old.clone())), (true, false));
        assert!(pages.add(new.clone()));
        assert_eq!(pages.iter().collect::<Vec<_>>(), [&new]);
        assert_eq!((old.id(), pages.get(old.id())), (new.id(), Some(&new)));
        assert_eq!((pages.remove("https://a"), pages.remove("https://a")), (Some(new), None));
    }
}
