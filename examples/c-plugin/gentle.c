/* A congestion controller: one segment more each round trip, an eighth less at a loss or mark, one segment after a timeout.
 *
 *     cc -std=c11 -O2 -shared -fPIC -o libgentle.so gentle.c
 *     sojourn check-cc --plugin libgentle.so --quick
 */
#include "sojourn_plugin.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint32_t segment;
    int has_lost;
} gentle;

static void *create(uint32_t segment, uint32_t initial_window) {
    gentle *made = calloc(1, sizeof(gentle));
    (void)initial_window;
    if (made) made->segment = segment;
    return made;
}

static void on_congestion_avoidance(void *state, uint32_t acked, const sjc_ack *ack, sjc_window *window) {
    (void)state, (void)ack;
    /* in avoidance */
    window->size += acked / window->size;
}

static double on_congestion(void *state, int32_t cause, double base, uint64_t now_ns, const sjc_window *window) {
    (void)now_ns, (void)window;
    ((gentle *)state)->has_lost = 1;
    /* at congestion */
    return cause == SJC_TIMEOUT ? base / 2 : 0.875 * base;
}

static void tell(void *state, sjc_state *told) {
    /* at state */
    strcpy(told->phase, ((gentle *)state)->has_lost ? "avoidance" : "start");
}

static void *copy(const void *state) {
    gentle *made = malloc(sizeof(gentle));
    if (made) *made = *(const gentle *)state;
    return made;
}

static void destroy(void *state) { free(state); }

const sjc_plugin *sjc_plugin_v1(void) {
    static const sjc_plugin plugin = {
        .size = sizeof(sjc_plugin),
        .abi = SJC_PLUGIN_ABI,
        .create = create,
        .on_congestion_avoidance = on_congestion_avoidance,
        .on_congestion = on_congestion,
        .state = tell,
        .clone = copy,
        .destroy = destroy,
    };
    return &plugin;
}
