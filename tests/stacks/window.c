/* A transport for tests: a fixed window of 40 packets, cumulative acknowledgements, back to the first one after 400 ms. */
#include "sojourn_stack.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAYLOAD = 1000, WINDOW = 40 * PAYLOAD, AHEAD = 1 << 20 };
static const uint64_t TIMEOUT = 400000000;
enum { HELLO = 1, DATA, ACK };

typedef struct { uint8_t type, fin, pad[2]; uint32_t length; uint64_t place; } head;

typedef struct {
    int server, connected, wants_hello, owes_ack, closed;
    uint64_t now, deadline;
    uint64_t written, next, acknowledged; /* of this end; the end of data has a place of its own */
    uint64_t arrived, read;               /* of the peer */
    int peer_fin;
    uint64_t peer_end, lost;
} end;

static uint64_t last_place(const end *e) { return e->written + (e->closed ? 1 : 0); }

static void *open_end(const sje_options *options, uint64_t now) {
    if (options->controller[0] && strcmp(options->controller, "fixed")) return NULL;
    end *e = calloc(1, sizeof *e);
    e->server = options->is_server;
    e->wants_hello = !e->server;
    e->now = now;
    e->deadline = SJE_NEVER;
    /* at open */
    return e;
}

static void datagram(void *state, uint64_t now, const uint8_t *bytes, size_t length, uint8_t ecn) {
    end *e = state;
    head h;
    (void)ecn;
    e->now = now;
    if (length < sizeof h) return;
    memcpy(&h, bytes, sizeof h);
    if (h.type == HELLO) {
        e->wants_hello = e->server;
        e->connected = 1;
        if (!e->server) e->deadline = SJE_NEVER;
    } else if (h.type == DATA) {
        if (h.place == e->arrived) {
            e->arrived += h.length;
            if (h.fin) e->peer_fin = 1, e->peer_end = e->arrived++;
        }
        e->owes_ack = 1;
    } else if (h.place > e->acknowledged && h.place <= last_place(e)) {
        e->acknowledged = h.place;
        if (e->next < h.place) e->next = h.place;
        e->deadline = e->acknowledged < e->next ? now + TIMEOUT : SJE_NEVER;
    }
}

static size_t put(uint8_t *buffer, uint8_t type, uint8_t fin, uint32_t length, uint64_t place) {
    head h = {type, fin, {0, 0}, length, place};
    memcpy(buffer, &h, sizeof h);
    memset(buffer + sizeof h, 0, length);
    return sizeof h + length;
}

static size_t transmit(void *state, uint64_t now, uint8_t *buffer, size_t room, uint8_t *ecn) {
    end *e = state;
    (void)room;
    *ecn = 2;
    e->now = now;
    /* at transmit */
    if (now >= e->deadline) {
        e->deadline = SJE_NEVER;
        e->wants_hello = !e->connected;
        e->lost += (e->next - e->acknowledged + PAYLOAD - 1) / PAYLOAD;
        e->next = e->acknowledged;
    }
    if (e->wants_hello) {
        e->wants_hello = 0;
        if (!e->server) e->deadline = now + TIMEOUT;
        return put(buffer, HELLO, 0, 0, 0);
    }
    if (e->owes_ack) {
        e->owes_ack = 0;
        return put(buffer, ACK, 0, 0, e->arrived);
    }
    if (e->connected && e->next < last_place(e) && e->next - e->acknowledged < WINDOW) {
        uint64_t left = e->written > e->next ? e->written - e->next : 0;
        uint32_t length = left < PAYLOAD ? (uint32_t)left : PAYLOAD;
        uint64_t place = e->next;
        uint8_t fin = e->closed && place + length == e->written;
        e->next += length + fin;
        if (e->deadline == SJE_NEVER) e->deadline = now + TIMEOUT;
        return put(buffer, DATA, fin, length, place);
    }
    return 0;
}

static uint64_t timeout(void *state) {
    end *e = state;
    /* at timeout */
    return e->deadline;
}

static size_t write_some(void *state, uint64_t now, uint32_t stream, const uint8_t *bytes, size_t length, uint8_t fin) {
    end *e = state;
    (void)now, (void)stream, (void)bytes, (void)fin;
    size_t room = AHEAD - (e->written - (e->acknowledged < e->written ? e->acknowledged : e->written));
    size_t taken = length < room ? length : room;
    e->written += taken;
    /* at write */
    return taken;
}

static size_t read_some(void *state, uint64_t now, uint32_t stream, uint8_t *buffer, size_t room, uint8_t *then) {
    end *e = state;
    (void)now, (void)stream;
    uint64_t until = e->peer_fin ? e->peer_end : e->arrived;
    size_t bytes = until - e->read < room ? until - e->read : room;
    memset(buffer, 0, bytes);
    e->read += bytes;
    *then = e->peer_fin && e->read == e->peer_end ? SJE_CLOSED : SJE_MORE;
    /* at read */
    return bytes;
}

static void close_end(void *state, uint64_t now) {
    (void)now;
    ((end *)state)->closed = 1;
}

static void tell(const void *state, sje_state *told) {
    const end *e = state;
    uint64_t acknowledged = e->acknowledged < e->written ? e->acknowledged : e->written;
    told->flags = (e->connected ? SJE_CONNECTED : 0);
    told->flags |= e->closed && e->acknowledged == e->written + 1 ? SJE_FINISHED : 0;
    told->window = WINDOW;
    told->in_flight = e->next - e->acknowledged;
    told->smoothed_ns = 1000000;
    told->lost = e->lost;
    told->acknowledged = acknowledged;
    /* at state */
}

_Static_assert(sizeof(sje_options) == 24, "sje_options");
_Static_assert(sizeof(sje_state) == 96, "sje_state");
_Static_assert(sizeof(sje_stack) == 96, "sje_stack");

const sje_stack *sje_stack_v1(void) {
    static sje_stack table = {sizeof(sje_stack), SJE_STACK_ABI, 28, 0,         "fixed", open_end,  datagram, transmit,
                              timeout,           write_some,    read_some, close_end, tell,    free};
    /* at table */
    return &table;
}
