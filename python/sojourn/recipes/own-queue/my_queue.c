/* A queue manager in C: first in, first out, with a limit in bytes. The interface is in sojourn_plugin.h. */
#include "sojourn_plugin.h"
#include <stdlib.h>

enum { ROOM = 1 << 16, LIMIT = 1000000 }; /* packets and bytes */
typedef struct { uint64_t ticket, arrived_ns; uint32_t length; } packet;
typedef struct { packet slots[ROOM]; uint32_t first, count, bytes; } queue; /* a ring */

static void *create(const char *config, size_t length) {
    (void)config, (void)length;
    return calloc(1, sizeof(queue));
}

static packet *head(queue *q) { return &q->slots[q->first]; }

static uint64_t take(queue *q) {
    uint64_t ticket = head(q)->ticket;
    q->bytes -= head(q)->length;
    q->first = (q->first + 1) % ROOM;
    q->count--;
    return ticket;
}

/* A packet arrives: 0 keeps it, 1 refuses it after it was dropped. */
static int32_t enqueue(void *state, uint64_t now_ns, const sjq_meta *meta, uint64_t ticket, const sjq_host *host) {
    queue *q = state;
    if (q->bytes + meta->length > LIMIT || q->count == ROOM) {
        host->dropped(host->user, ticket, SJQ_OVERLIMIT);
        return 1;
    }
    q->slots[(q->first + q->count++) % ROOM] = (packet){ticket, now_ns, meta->length};
    q->bytes += meta->length;
    return 0;
}

/* The line is free: 1 and the ticket to send, or 0 if no packet waits. */
static int32_t dequeue(void *state, uint64_t now_ns, const sjq_host *host, uint64_t *ticket) {
    queue *q = state;
    (void)now_ns, (void)host;
    if (q->count == 0) return 0;
    *ticket = take(q);
    return 1;
}

static void destroy(void *state) { free(state); }

const sjq_plugin *sjq_plugin_v1(void) {
    static const sjq_plugin plugin = {sizeof(sjq_plugin), SJQ_PLUGIN_ABI, create, enqueue, dequeue, destroy};
    return &plugin;
}
