//! `tiers.*`: reports the layout of prompts, explains cache misses, forecasts costs, and changes the layout.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use strata_prompt::assembly::{self, PreparedPrompt, PromptRequest};
use strata_prompt::tiers::{
    self, Break, ItemReport, LayoutPreferences, PolicyChoice, PolicyName, TiersReport,
};
use strata_tokens::cost::{self, Charge, CostOutlook, Forecast, Prices};
use strata_tokens::models::{CacheTtl, Model};

use super::{Access, Command, CommandError, Context, IndexNeed, NoArguments};

/// Cache policy to set for this session.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyParams {
    /// New policy of the session. `null` removes the session's own policy. If absent, nothing changes.
    #[serde(default, deserialize_with = "deserialize_nullable", skip_serializing_if = "Option::is_none")]
    pub policy: Option<Option<PolicyName>>,
}

/// The policy of the next prompt, and what determined it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyReply {
    #[serde(flatten)]
    pub chosen: PolicyChoice,
    /// Policy set for the session. `null` if none is set.
    pub session: Option<PolicyName>,
    /// Policy in the settings. `null` if none is set.
    pub setting: Option<PolicyName>,
    /// Model of the next prompt.
    pub model: String,
    /// The model's default policy.
    pub model_default: PolicyName,
}

/// An item of the layout, with the URI of its file.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ItemReport")]
pub struct LayoutItem {
    #[serde(flatten)]
    pub item: ItemReport,
    /// URI of the item's file. Absent if the item has no file that an editor could open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
}

/// The predicted cost of a rebuild.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RebuildReply {
    #[serde(flatten)]
    pub chosen: PolicyChoice,
    /// Predicted charge for the next request, excluding the user's new message. Absent if the request would not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Charge>,
}

/// Why the last recorded prompt missed the cache.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainReply {
    /// Explanation for the user.
    pub sentence: String,
    #[serde(flatten)]
    pub broke: Option<Break>,
}

/// The pause or model switch whose cost to forecast.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ForecastParams {
    /// Model to forecast a switch to. If absent, no switch is forecast.
    pub model: Option<String>,
    /// Length of the pause to forecast, in seconds since the last prompt. If absent, no pause is forecast.
    pub pause_seconds: Option<u64>,
}

/// Cost forecast for the next prompt.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForecastReply {
    /// Model of the next prompt.
    pub model: String,
    /// Lifetime of cache entries, from the setting `cache.ttl`.
    pub ttl: CacheTtl,
    /// Number of recorded prompts that the session remembers.
    pub turns: usize,
    /// Number of tokens in the next prompt, excluding the user's new message.
    pub tokens: usize,
    /// Number of tokens in the cacheable part of the last recorded prompt, or of the next prompt if none has been
    /// recorded yet.
    pub marked: usize,
    /// Average growth of the cacheable part of the prompt per turn, in tokens.
    pub growth: usize,
    /// When the cache expires, in milliseconds since 1970. Absent if nothing is cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_expires_ms: Option<u64>,
    #[serde(flatten)]
    pub forecast: Forecast,
    /// Extra cost if the next prompt is sent after the cache has expired.
    pub past_ttl: ExtraCost,
    /// Effect of a pause of `pauseSeconds`. Absent if none was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<PauseCost>,
    /// Effect of switching to `model`. Absent if none was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<SwitchCost>,
}

/// The extra cost that a pause or a model switch adds to the next prompt.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExtraCost {
    /// Extra cost, in tokens of uncached input.
    pub cost: f64,
    /// Extra cost as a fraction of the cost of sending the whole next prompt without a cache.
    pub share: f64,
}

/// The effect of a pause on the cost of the next prompt.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PauseCost {
    /// Length of the pause, in seconds.
    pub seconds: u64,
    /// Whether the cache expires during the pause.
    pub expires: bool,
    #[serde(flatten)]
    pub extra: ExtraCost,
}

/// The effect of switching to another model on the size and cost of the next prompt.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SwitchCost {
    /// Model to switch to.
    pub model: String,
    /// Number of tokens in the next prompt, as counted for this model.
    pub tokens: usize,
    /// Charge for the cacheable part of the prompt, which is not cached for this model yet.
    pub charge: Charge,
    /// Extra cost compared with reading the cacheable part from the cache.
    #[serde(flatten)]
    pub extra: ExtraCost,
}

impl ExtraCost {
    fn new(cost: f64, prompt: usize) -> Self {
        Self { cost, share: cost / prompt.max(1) as f64 }
    }
}

pub struct ReportLayout;

impl Command for ReportLayout {
    const NAME: &str = "strata.tiers.report";
    const SUMMARY: &str = "Reports the layout of the next prompt and explains it.";
    const ACCESS: Access = Access::Reads;
    const INDEX: IndexNeed = IndexNeed::Glance;
    type Args = NoArguments;
    type Reply = TiersReport<LayoutItem>;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<TiersReport<LayoutItem>, CommandError> {
        let prompt_request = context.session.next_request(context.now_ms);
        let report = context.snapshot.with_workspace(
            context.session,
            &prompt_request,
            context.cancel,
            |workspace, services| tiers::report(workspace, context.session, context.now_ms, services),
        )??;
        let reported = |item: ItemReport| {
            let uri = item.path.as_ref().and_then(|path| context.snapshot.editor_uri(path));
            LayoutItem { item, uri }
        };
        Ok(report.map_items(reported))
    }
}

pub struct RebuildLayout;

impl Command for RebuildLayout {
    const NAME: &str = "strata.tiers.rebuild";
    const SUMMARY: &str = "Rebuilds the layout when the next prompt is assembled.";
    type Args = NoArguments;
    type Reply = RebuildReply;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<RebuildReply, CommandError> {
        context.session.rebuild_tiers();
        let chosen = choose_policy(context, &model(context, None));
        let predicted = next_prompt(context, None)?.ok().map(|prepared| prepared.reply.predicted);
        Ok(RebuildReply { chosen, predicted })
    }
}

pub struct SetCachePolicy;

impl Command for SetCachePolicy {
    const NAME: &str = "strata.tiers.policy";
    const SUMMARY: &str = "Reports the cache policy, or sets it for the session.";
    type Args = PolicyParams;
    type Reply = PolicyReply;

    fn run(params: PolicyParams, context: &mut Context<'_>) -> Result<PolicyReply, CommandError> {
        if let Some(policy) = params.policy
            && context.session.policy != policy
        {
            context.session.policy = policy;
            context.session.mark_changed();
        }
        let model = model(context, None);
        Ok(PolicyReply {
            chosen: choose_policy(context, &model),
            session: context.session.policy,
            setting: context.snapshot.settings.cache.policy,
            model_default: PolicyName::default_for(&model),
            model: model.id,
        })
    }
}

pub struct ExplainBreak;

impl Command for ExplainBreak {
    const NAME: &str = "strata.tiers.explainBreak";
    const SUMMARY: &str = "Explains why the last recorded prompt missed the cache.";
    const ACCESS: Access = Access::Reads;
    type Args = NoArguments;
    type Reply = ExplainReply;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<ExplainReply, CommandError> {
        let broke = context.session.cache.breaks.last.clone();
        let sentence = match &broke {
            Some(broke) => broke.explain(&context.session.pages),
            None => match context.session.last_turn.as_deref() {
                Some(last) => last.explanation.clone(),
                None => "No prompt has been recorded yet, so there was no cache miss.".to_owned(),
            },
        };
        Ok(ExplainReply { sentence, broke })
    }
}

pub struct ForecastCost;

impl Command for ForecastCost {
    const NAME: &str = "strata.tiers.forecast";
    const SUMMARY: &str = "Estimates the cost of a pause or of switching to another model.";
    const ACCESS: Access = Access::Reads;
    const INDEX: IndexNeed = IndexNeed::Glance;
    type Args = ForecastParams;
    type Reply = ForecastReply;

    fn run(params: ForecastParams, context: &mut Context<'_>) -> Result<ForecastReply, CommandError> {
        let ttl = context.snapshot.settings.cache.ttl;
        let current = model(context, None);
        let next_prepared = next_prompt(context, None)??;
        let tokens = next_prepared.reply.tokens.total;
        let mut course = context.session.cache.pace.trend();
        if context.session.cache.pace.prompt_count() == 0 {
            course.marked = next_prepared.sent.cacheable_tokens();
        }
        let forecast = Forecast::new(
            &course,
            &Prices::for_model(&current, CacheTtl::FiveMinutes),
            &Prices::for_model(&current, CacheTtl::OneHour),
        );
        let after_five_minutes = context.now_ms + 1_000 * u64::from(forecast.five_minutes.seconds) + 1;
        let outlook = match ttl {
            CacheTtl::Auto if context.session.cached_prefix(after_five_minutes).is_some() => {
                forecast.one_hour
            }
            CacheTtl::Auto | CacheTtl::FiveMinutes => forecast.five_minutes,
            CacheTtl::OneHour => forecast.one_hour,
        };
        let past_ttl = ExtraCost::new(outlook.next_too_late.cost - outlook.next_in_time.cost, tokens);
        let switch = match params.model {
            Some(name) => {
                let other_prompt = next_prompt(context, Some(name.clone()))??;
                Some(switch_cost(&model(context, Some(&name)), &other_prompt, ttl))
            }
            None => None,
        };
        Ok(ForecastReply {
            model: current.id,
            ttl,
            turns: context.session.cache.pace.prompt_count(),
            tokens,
            marked: course.marked,
            growth: course.growth,
            cache_expires_ms: context.session.cached_prefix(context.now_ms).map(|cached| cached.expires_ms),
            forecast,
            past_ttl,
            pause: params.pause_seconds.map(|seconds| pause_cost(seconds, &outlook, past_ttl, tokens)),
            switch,
        })
    }
}

fn pause_cost(seconds: u64, outlook: &CostOutlook, past_ttl: ExtraCost, tokens: usize) -> PauseCost {
    let expires = seconds > u64::from(outlook.seconds);
    PauseCost { seconds, expires, extra: if expires { past_ttl } else { ExtraCost::new(0.0, tokens) } }
}

fn switch_cost(to: &Model, prompt: &PreparedPrompt, ttl: CacheTtl) -> SwitchCost {
    let prices = Prices::for_model(to, ttl);
    let marked = prompt.sent.cacheable_tokens();
    let charge = cost::switch_charge(&prices, marked);
    let tokens = prompt.reply.tokens.total;
    let extra =
        ExtraCost::new(charge.cost - marked as f64 * prices.read * prices.input_price(tokens), tokens);
    SwitchCost { model: to.id.clone(), tokens, charge, extra }
}

/// Returns the model with this name, or the model of the next prompt.
fn model(context: &Context<'_>, name: Option<&str>) -> Model {
    let next = context.session.next_request(context.now_ms).model;
    let requested = name.or(next.as_deref()).unwrap_or(&context.snapshot.settings.model);
    Model::clone(&context.snapshot.models.resolve(requested).model)
}

fn choose_policy(context: &Context<'_>, model: &Model) -> PolicyChoice {
    let setting = context.snapshot.settings.cache.policy;
    let preferences = LayoutPreferences { request: None, session: context.session.policy, setting };
    preferences.choose(model, context.snapshot.index.state)
}

/// Prepares the next request without the user's new message.
fn next_prompt(
    context: &Context<'_>,
    model: Option<String>,
) -> Result<Result<PreparedPrompt, assembly::AssembleError>, CommandError> {
    let next = context.session.next_request(context.now_ms);
    let prompt_request = PromptRequest { model: model.or(next.model.clone()), ..next };
    let prepared = context.snapshot.with_workspace(
        context.session,
        &prompt_request,
        context.cancel,
        |workspace, services| {
            assembly::assemble_allowing_empty(workspace, context.session, &prompt_request, services)
        },
    )?;
    Ok(prepared)
}

/// Deserializes a field such that `null` becomes `Some(None)`, while an absent field is `None`.
fn deserialize_nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    field: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(field).map(Some)
}
