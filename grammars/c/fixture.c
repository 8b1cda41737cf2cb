/* A file that shows every construct the outline knows. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <stdio.h>
#include "store/list.h"

#define LIMIT 1024
#define FLAG_RAW (1 << 3)   /* raw */
#define SQUARE(x) ((x) * (x))
#define FOR_EACH(item, list) \
    for (item = (list)->first; item; item = item->next)

typedef unsigned long long u64;
typedef struct node node_t;
typedef int (*compare_fn)(const void *left, const void *right);
typedef char name_t[32];

struct node {
    int key, value;
    unsigned flags : 4;     /* bits */
    struct node *next;
    node_t *children[LIMIT];
    compare_fn compare;
    void (*release)(struct node *self, void *data);
    union {
        int number;
        char *text;
    } as;
};

typedef struct {
    /** The first. */
    node_t *first;
    size_t length;
} list_t;

typedef struct größe {
    int width;
} größe_t, *größe_ptr;

union bits {
    int whole;
    float real;
};

enum color { RED, GREEN = 3, BLUE };
typedef enum mode { MODE_READ = 'r', MODE_WRITE } mode_t;
typedef enum { OFF, ON } toggle_t;
enum { FIRST_ANONYMOUS = 1 };

extern int verbosity;
static const char *const names[] = { "a", "b" };
static int counter = 0;
volatile unsigned ticks;

/* Prototypes are what callers see. */
int list_add(list_t *list, node_t *item);
char *list_join(const list_t *list,
                const char *separator);
node_t **list_items(void);
extern void on_change(void (*callback)(int event, void *data), void *data);
void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#ifdef __linux__
static inline int is_linux(void) { return 1; }
#else
int is_linux(void);
#endif

static int compare_keys(const void *left, const void *right)
{
    const node_t *a = left, *b = right;
    static int calls = 0;
    calls++;
    return a->key - b->key;
}

char *
list_join(const list_t *list, const char *separator) // joins
{
    enum { SMALL = 16 };
    struct node local;
    node_t *item;
    while ((item = NEXT_OF(list))) {
        register_item(item, &default_options, SMALL);
    }
    printf("%s", separator);
    return join_all(list->first, ON, (größe_t *) NULL);
}

node_t **list_items(void) { return 0; }

[[nodiscard]] int checked(int fd) { return fd; }

#endif
