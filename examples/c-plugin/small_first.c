/* Small packets first, unless a large one of their flow waits; of the others, those that have waited for 30 ms are dropped
 * at the head. */
#include "sojourn_plugin.h"
#include <stdlib.h>

enum { FLOWS = 1 << 16 };
typedef struct { uint64_t ticket, arrived_ns; uint32_t flow; } waiting;
typedef struct { waiting *slots; size_t room, first, count; } line; /* a ring */
typedef struct { line first, others; uint32_t waiting[FLOWS]; } queue; /* packets of each flow among the others */

static const uint64_t PATIENCE_NS = 30000000;

static int push(line *l, waiting packet) {
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
    l->slots[(l->first + l->count++) % l->room] = packet;
    return 1;
}

static waiting pop(line *l) {
    waiting packet = l->slots[l->first];
    l->first = (l->first + 1) % l->room;
    l->count--;
    return packet;
}

static uint64_t leave(queue *q) {
    waiting packet = pop(&q->others);
    q->waiting[packet.flow]--;
    return packet.ticket;
}

static void *create(const char *config, size_t length) {
    (void)config, (void)length;
    return calloc(1, sizeof(queue));
}

static int32_t enqueue(void *state, uint64_t now_ns, const sjq_meta *meta, uint64_t ticket, const sjq_host *host) {
    queue *q = state;
    waiting packet = {ticket, now_ns, meta->flow_hash % FLOWS};
    int is_first = meta->length <= 300 && q->waiting[packet.flow] == 0;
    if (push(is_first ? &q->first : &q->others, packet)) {
        if (!is_first) q->waiting[packet.flow]++;
        return 0;
    }
    host->dropped(host->user, ticket, SJQ_OVERLIMIT);
    return 1;
}

static int32_t dequeue(void *state, uint64_t now_ns, const sjq_host *host, uint64_t *ticket) {
    queue *q = state;
    if (q->first.count > 0) {
        *ticket = pop(&q->first).ticket;
        return 1;
    }
    while (q->others.count > 1 && now_ns - q->others.slots[q->others.first].arrived_ns > PATIENCE_NS)
        host->dropped(host->user, leave(q), SJQ_TARGET);
    if (q->others.count == 0) return 0;
    *ticket = leave(q);
    return 1;
}

static void destroy(void *state) {
    queue *q = state;
    free(q->first.slots);
    free(q->others.slots);
    free(q);
}

const sjq_plugin *sjq_plugin_v1(void) {
    static const sjq_plugin plugin = {sizeof(sjq_plugin), SJQ_PLUGIN_ABI, create, enqueue, dequeue, destroy};
    return &plugin;
}
