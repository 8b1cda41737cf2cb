//! Computes personalized PageRank by power iteration: the distribution of a random walk along references that
//! occasionally restarts at the seeds.

use super::model::{Edge, ReferenceGraph};

/// Probability of following a reference instead of restarting, as in the original PageRank paper.
const DAMPING: f64 = 0.85;
/// Maximum number of rounds. After 30 rounds, less than 1 % of the initial error remains.
const MAX_WALK_ITERATIONS: usize = 30;
/// The iteration stops when the ranks change by less than this in total.
const CONVERGENCE_TOLERANCE: f64 = 1e-4;

/// Direction in which the walk follows references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkDirection {
    /// From the mentioning file to the mentioned one.
    Forward,
    /// Along references in both directions.
    Either,
}

impl ReferenceGraph {
    /// Returns the rank of every file, in key order. The ranks add up to 1. `start` contains restart weights on any
    /// scale. If all are zero, the walk restarts at all files alike. Files without references lead back to the
    /// start.
    pub(super) fn random_walk(&self, start: &[f64], direction: WalkDirection) -> Vec<f64> {
        let count = self.nodes.len();
        let sum: f64 = start.iter().take(count).sum();
        let start: Vec<f64> = if sum > 0.0 && sum.is_finite() {
            (0..count).map(|at| start.get(at).copied().unwrap_or(0.0) / sum).collect()
        } else {
            vec![1.0 / count.max(1) as f64; count]
        };
        let backward_weight = match direction {
            WalkDirection::Forward => 0.0,
            WalkDirection::Either => 1.0,
        };
        // The rank that a file passes on per unit of edge weight and unit of its own rank.
        let share_per_weight: Vec<f64> = (0_u32..)
            .zip(&self.nodes)
            .map(|(file, node)| {
                let out: f64 = node.edges.iter().map(|edge| f64::from(edge.weight)).sum();
                let incoming =
                    || self.incoming.edges_to(file).iter().map(|edge| f64::from(edge.weight)).sum::<f64>();
                let total = if backward_weight > 0.0 { out + backward_weight * incoming() } else { out };
                if total > 0.0 { 1.0 / total } else { 0.0 }
            })
            .collect();
        let mut rank = start.clone();
        let mut sent = vec![0.0; count];
        for _ in 0..MAX_WALK_ITERATIONS {
            let mut dangling = 0.0;
            for ((sent, rank), share_per_weight) in sent.iter_mut().zip(&rank).zip(&share_per_weight) {
                *sent = rank * share_per_weight;
                if *share_per_weight == 0.0 {
                    dangling += rank;
                }
            }
            let incoming_rank = |edges: &[Edge]| -> f64 {
                let part = |edge: &Edge| {
                    sent.get(edge.file as usize).map_or(0.0, |sent| sent * f64::from(edge.weight))
                };
                edges.iter().map(part).sum()
            };
            let mut change = 0.0;
            let next: Vec<f64> = (0_u32..)
                .zip(&self.nodes)
                .zip(start.iter().zip(&rank))
                .map(|((file, node), (start, rank))| {
                    let mut received = incoming_rank(self.incoming.edges_to(file));
                    if backward_weight > 0.0 {
                        received += backward_weight * incoming_rank(&node.edges);
                    }
                    let next = (1.0 - DAMPING) * start + DAMPING * (received + dangling * start);
                    change += (next - rank).abs();
                    next
                })
                .collect();
            rank = next;
            if change < CONVERGENCE_TOLERANCE {
                break;
            }
        }
        rank
    }
}
