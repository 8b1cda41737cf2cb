//! The lifetimes that breakpoints ask for under `cache.ttl = "auto"`.

use strata_tokens::cost::extended_lifetime_probability;
use strata_tokens::models::CacheLifetime;

use super::*;

const MINUTE_MS: u64 = 60_000;
const SHORTEST: CacheLifetime = CacheLifetime { seconds: 300, write: 1.25 };
const EXTENDED: CacheLifetime = CacheLifetime { seconds: 3_600, write: 2.0 };

/// Prices under which all entries live for `lifetime`, and under which breakpoints choose.
fn fixed(lifetime: CacheLifetime) -> Prices {
    Prices { seconds: lifetime.seconds, write: lifetime.write, ..prices() }
}

fn auto() -> Prices {
    Prices { extended: Some(EXTENDED), ..fixed(SHORTEST) }
}

/// A conversation about two selected files, with these pauses between its prompts.
struct Conversation {
    session: Session,
    provider: SimulatedProvider,
    pauses_ms: Vec<u64>,
    cost: f64,
}

impl Conversation {
    fn new(prices: Prices) -> Self {
        let mut session = Session::new(&[("a.py", 200), ("b.py", 300)]);
        session.rules = LayoutRules::new(0, Ttl::FiveMinutes, prices);
        session.select("a.py");
        session.select("b.py");
        Self { session, provider: SimulatedProvider::new(prices), pauses_ms: Vec::new(), cost: 0.0 }
    }

    /// Sends a prompt, then waits for the next one. Returns the lifetimes that the prompt's breakpoints ask for.
    fn turn(&mut self, pause_ms: u64) -> Vec<Ttl> {
        let rules = &mut self.session.rules;
        rules.extended_is_needed = extended_lifetime_probability(&self.pauses_ms, &rules.prices);
        let now_ms = rules.now_ms;
        let expected = self.session.cached_tokens();
        let layout = self.session.turn("why does it fail?", &lines("answer", 10));
        let charge = self.provider.charge(&spans(&layout, 0), now_ms).unwrap();
        assert_eq!(charge.read, expected, "after {:?}", self.pauses_ms);
        self.cost += charge.cost;
        self.pauses_ms.push(pause_ms);
        self.session.rules.now_ms = now_ms + pause_ms;
        layout.blocks().filter_map(|block| block.mark).collect()
    }
}

#[test]
fn the_extended_lifetime_is_used_once_the_prompt_is_cached() {
    let mut conversation = Conversation::new(auto());
    // Written for an hour, the first prompt would cost more than it saves if a long pause follows.
    assert!(conversation.turn(MINUTE_MS).iter().all(|ttl| *ttl == Ttl::FiveMinutes));
    // The second prompt writes little, and what it marks covers everything before.
    assert_eq!(conversation.turn(40 * MINUTE_MS).last(), Some(&Ttl::OneHour));
    assert!(conversation.session.cached_tokens() > 0);
}

#[test]
fn breakpoint_lifetimes_follow_the_length_of_pauses() {
    let lasting = |pause_ms: u64| {
        let mut conversation = Conversation::new(auto());
        let turns: Vec<Vec<Ttl>> = (0..40).map(|_| conversation.turn(pause_ms)).collect();
        turns.iter().rev().take(20).filter(|marks| marks.last() == Some(&Ttl::OneHour)).count()
    };
    assert_eq!(lasting(20 * MINUTE_MS), 20);
    assert!(lasting(MINUTE_MS) < 7, "{}", lasting(MINUTE_MS));
}

#[test]
fn a_choice_for_each_breakpoint_costs_less_than_one_lifetime_for_all() {
    // The pauses of public conversations, in seconds, in an order that mixes short and long ones.
    let pauses_s: [u64; 20] =
        [191, 63, 511, 89, 27, 404, 148, 280, 1_699, 74, 131, 336, 43, 227, 3_679, 102, 169, 782, 119, 1_032];
    // The middle of each tenth of their lengths, in prompts.
    let lengths = [1, 1, 2, 2, 3, 4, 6, 8, 13, 24];
    let cost = |prices: Prices| -> f64 {
        let conversations = (0..pauses_s.len()).flat_map(|first| lengths.map(|length| (first, length)));
        let costs = conversations.map(|(first, length)| {
            let mut conversation = Conversation::new(prices);
            pauses_s.iter().cycle().skip(first).take(length).for_each(|pause_s| {
                conversation.turn(pause_s * 1_000);
            });
            conversation.cost
        });
        costs.sum()
    };
    let (auto, five, hour) = (cost(auto()), cost(fixed(SHORTEST)), cost(fixed(EXTENDED)));
    assert!(auto < 0.9 * five && auto < 0.9 * hour, "{auto}, {five} and {hour}");
}
