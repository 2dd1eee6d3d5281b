/* Small packets first; of the others, those that have waited for 30 ms are dropped at the head. */
#include "sojourn_plugin.h"
#include <stdlib.h>

typedef struct { uint64_t ticket, arrived_ns; } waiting;
typedef struct { waiting *slots; size_t room, first, count; } line; /* a ring */
typedef struct { line small, big; } queue;

static const uint64_t PATIENCE_NS = 30000000;

static int push(line *l, uint64_t ticket, uint64_t now_ns) {
    if (l->count == l->room) {
        size_t room = l->room ? 2 * l->room : 64;
        waiting *slots = malloc(room * sizeof *slots);
        if (slots == NULL) return 0;
        for (size_t i = 0; i < l->count; i++) slots[i] = l->slots[(l->first + i) % l->room];
        free(l->slots);
        l->slots = slots;
        l->room = room;
        l->first = 0;
    }
    l->slots[(l->first + l->count++) % l->room] = (waiting){ticket, now_ns};
    return 1;
}

static uint64_t pop(line *l) {
    uint64_t ticket = l->slots[l->first].ticket;
    l->first = (l->first + 1) % l->room;
    l->count--;
    return ticket;
}

static void *create(const char *config, size_t length) {
    (void)config, (void)length;
    return calloc(1, sizeof(queue));
}

static int32_t enqueue(void *state, uint64_t now_ns, const sjq_meta *meta, uint64_t ticket, const sjq_host *host) {
    queue *q = state;
    if (push(meta->length <= 300 ? &q->small : &q->big, ticket, now_ns)) return 0;
    host->dropped(host->user, ticket, SJQ_OVERLIMIT);
    return 1;
}

static int32_t dequeue(void *state, uint64_t now_ns, const sjq_host *host, uint64_t *ticket) {
    queue *q = state;
    if (q->small.count > 0) {
        *ticket = pop(&q->small);
        return 1;
    }
    while (q->big.count > 1 && now_ns - q->big.slots[q->big.first].arrived_ns > PATIENCE_NS)
        host->dropped(host->user, pop(&q->big), SJQ_TARGET);
    if (q->big.count == 0) return 0;
    *ticket = pop(&q->big);
    return 1;
}

static void destroy(void *state) {
    queue *q = state;
    free(q->small.slots);
    free(q->big.slots);
    free(q);
}

const sjq_plugin *sjq_plugin_v1(void) {
    static const sjq_plugin plugin = {sizeof(sjq_plugin), SJQ_PLUGIN_ABI, create, enqueue, dequeue, destroy};
    return &plugin;
}
