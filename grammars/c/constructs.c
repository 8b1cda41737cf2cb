#ifndef PUMP_H
#define PUMP_H
#include <stdint.h>
#include "valve.h"

#define PUMP_MAX 16
#define PUMP_CLAMP(x, most) ((x) > (most) ? (most) : (x))

PUMP_BEGIN_DECLS

typedef uint32_t litres_t, *litres_ptr;
typedef int (*pump_cb)(void *user, litres_t left);
typedef struct pump pump_t;

struct PUMP_PACKED pump {
    const char *name, *label;
    litres_t left, used[4];
    int (*open)(struct pump *self, int flags);
    union {
        int whole;
        float part;
    } amount;
    unsigned busy : 1;
};

enum pump_state { PUMP_IDLE, PUMP_RUNNING = 4, PUMP_BROKEN };

typedef enum { LEFT, RIGHT } side_t;

typedef struct node {
    struct node *next, *prev;
} node_t;

extern int pump_count, pump_total;
static int a = 1, bb = 2, *cc;
static const struct pump defaults = { .name = "x", .left = 3 };
static int (*handlers[3])(int), (*fallback)(int) = 0;
const char *const names[] = { "one", "two" };

PUMP_API int pump_open(pump_t *pump, int flags);
static inline litres_t pump_left(const pump_t *pump) { return pump->left; }

/* Fills it.
 * Slowly. */
__attribute__((noinline))
int pump_fill(pump_t *pump, litres_t much)
{
    int local = 0, other;
    static int calls;
    for (int i = 0; i < 3; i++) { local += i; }
    return PUMP_CLAMP(local, PUMP_MAX);
}

void (*pump_signal(int number, void (*handler)(int)))(int);

static struct pump *pump_find(const char *name,
                              int (*matches)(const char *))
{
    return 0;
}

PUMP_END_DECLS
#endif
