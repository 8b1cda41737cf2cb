//! Sessions from small traces: order, sums, problems.
