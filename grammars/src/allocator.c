// What tree-sitter takes its memory from. In C, where the options of mimalloc have names.

#include <mimalloc.h>
#include <stdlib.h>

// tree-sitter does not look whether it got memory. Without any the process ends, as it does with Rust's own.
static void *checked(void *memory, size_t bytes) {
  if (!memory && bytes) abort();
  return memory;
}

void *strata_malloc(size_t bytes) { return checked(mi_malloc(bytes), bytes); }

void *strata_calloc(size_t count, size_t bytes) { return checked(mi_calloc(count, bytes), count && bytes); }

void *strata_realloc(void *old, size_t bytes) { return checked(mi_realloc(old, bytes), bytes); }

void strata_set_options(void) {
  // Above 1, nothing is cleaned up when the process ends: threads may still be parsing then.
  mi_option_set(mi_option_destroy_on_exit, 2);
  // A server that is typed into keeps 9 MB less if memory is given back at once and no huge pages are used. An index takes
  // 3 % longer.
  mi_option_set(mi_option_purge_delay, 0);
  mi_option_set(mi_option_allow_thp, 0);
}
