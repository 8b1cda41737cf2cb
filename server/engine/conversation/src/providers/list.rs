//! What follows from the list of providers in `providers.rs`, which contains the rows.

use serde_json::Value;
use strata_tokens::models::{self, Model};

use super::Format;
use super::rule::Violation;
use super::spoken::{BreakpointTargets, Speaker};
use crate::history::{ContentBlock, ForeignProvider};

/// Defines [`Format`] and `ProviderName` from a row for each provider: its documentation, variant, name in settings
/// and before models, format and endpoint. `shared` contains the providers with a format of another one.
macro_rules! providers {
    (
        $($(#[$doc:meta])+ $variant:ident $name:literal $dialect:expr, $endpoint:expr;)+
        shared:
        $($(#[$other_doc:meta])+ $other:ident $other_name:literal $format:ident, $other_endpoint:expr;)+
    ) => {
        /// Output format of a prompt.
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        pub enum Format {
            $($(#[$doc])+ #[serde(rename = $name)] $variant,)+
            /// Markdown, for reading and pasting.
            #[serde(rename = "markdown")]
            Markdown,
        }

        /// A provider, identified by its API. Also applies to gateways and self-hosted servers that offer the same API.
        #[derive(
            Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        pub enum ProviderName {
            $($(#[$doc])+ #[serde(rename = $name)] $variant,)+
            $($(#[$other_doc])+ #[serde(rename = $other_name)] $other,)+
        }

        impl Format {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+ Self::Markdown];

            /// Returns the name used in settings.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                    Self::Markdown => "markdown",
                }
            }

            /// Returns the format of request bodies; `None` for Markdown, which is never sent.
            pub fn dialect(self) -> Option<&'static dyn Dialect> {
                match self {
                    $(Self::$variant => Some(&$dialect),)+
                    Self::Markdown => None,
                }
            }
        }

        impl ProviderName {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+ $(Self::$other,)+];

            /// Returns the name used in settings and as a prefix of model names.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                    $(Self::$other => $other_name,)+
                }
            }

            /// Returns the format of requests to this provider.
            pub const fn format(self) -> Format {
                match self {
                    $(Self::$variant => Format::$variant,)+
                    $(Self::$other => Format::$format,)+
                }
            }

            pub fn dialect(self) -> &'static dyn Dialect {
                match self {
                    $(Self::$variant => &$dialect,)+
                    $(Self::$other => Self::$format.dialect(),)+
                }
            }

            pub fn endpoint(self) -> &'static Endpoint {
                match self {
                    $(Self::$variant => &$endpoint,)+
                    $(Self::$other => &$other_endpoint,)+
                }
            }
        }
    };
}

impl Format {
    /// Returns the format of the model's own provider.
    pub fn for_model(model: &Model) -> Self {
        match model.provider {
            models::ModelProvider::Anthropic => Self::Anthropic,
            models::ModelProvider::Google => Self::Gemini,
            _ => Self::OpenAi,
        }
    }

    /// Whether `content` from `speaker` can carry a cache breakpoint in this format.
    pub fn can_carry_breakpoint(self, speaker: Speaker, content: &ContentBlock) -> bool {
        self.breakpoint_targets().can_carry_breakpoint(speaker, content)
    }

    pub fn breakpoint_targets(self) -> BreakpointTargets {
        self.dialect().map(|dialect| dialect.properties().breakpoint_targets).unwrap_or_default()
    }

    /// Returns the provider whose private blocks this format can contain, if any.
    pub fn foreign_provider(self) -> Option<ForeignProvider> {
        self.dialect().and_then(|dialect| dialect.properties().origin)
    }

    /// Whether a client may add this field to a request body. Fields that Strata writes or counts are reserved, and
    /// Markdown has no fields.
    pub fn can_add_field(self, field: &str) -> bool {
        self.dialect().is_some_and(|dialect| !dialect.properties().reserved_fields.contains(&field))
    }
}

/// Checks a finished body, and returns every broken provider rule. Empty if the provider would accept the
/// body, and always for Markdown.
pub fn check(format: Format, body: &Value) -> Vec<Violation> {
    format.dialect().map(|dialect| dialect.check(body)).unwrap_or_default()
}
