# Common tasks. `just` is optional, since every recipe is one command that also works without it. The checks of CI are defined only in
# `.ci/run`, which the recipes call.

# Lists the recipes.
default:
    @just --list --unsorted

# Builds the binary: `just build`, `just build --release`.
build *OPTIONS:
    cargo build --locked {{OPTIONS}}

# Runs the tests: `just test`, `just test --editors`, `just test --long`.
test *OPTIONS:
    tests/run {{OPTIONS}}

# Runs the unit tests of one crate whose paths contain NAME: `just test-one strata-prompt tiers::ledger`.
test-one CRATE NAME:
    cargo test --package {{CRATE}} --lib -- {{NAME}}

# Runs the tests of one suite whose paths contain NAME: `just test-suite stdio trust::`. Suites: architecture, libraries, safety, stdio, endurance.
test-suite SUITE NAME="":
    cargo test --workspace --test {{SUITE}} -- {{NAME}}

# Runs benchmarks and prints their results: `just bench`, `just bench latency tokens`.
bench *AREAS:
    tests/benches/run {{AREAS}}

# Builds the documentation of all crates, including private items, and fails on warnings.
docs:
    .ci/run docs

# Builds a site from the pages in docs/ in target/site, and checks its links.
site:
    .ci/run site

# Checks spelling.
spelling:
    .ci/run spelling

# Checks formatting and lints, as in CI.
lint:
    .ci/run lint
