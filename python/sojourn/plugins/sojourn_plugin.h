/* A queue manager or a congestion controller of your own for Sojourn, in any language that speaks C: version 1 of both
 * interfaces.
 *
 * Compile it into a shared library that exports sjq_plugin_v1 (a queue manager) or sjc_plugin_v1 (a controller):
 *     cc -std=c11 -O2 -shared -fPIC -o libmine.so mine.c
 * and run a study, or a check, with it:
 *     sojourn study run pie-or-fq-codel --plugin libmine.so
 *     sojourn check-cc --plugin libmine.so
 *
 * One process runs one simulation, on one thread. There are no timers: time comes with each call and never goes back.
 * Take random numbers from the host only, and read no clock: the same input gives the same bits.
 *
 * A queue manager holds tickets; packets stay with the host. A ticket waits from enqueue on, until dequeue returns it or
 * dropped is called for it: one of the two, once.
 *
 * A controller moves the window of one connection. The stack that carries it finds losses, sends again, keeps timers, and
 * lets the window follow the threshold. Windows are in segments. A window or threshold that is negative or no number
 * ends the run.
 */
#ifndef SOJOURN_PLUGIN_H
#define SOJOURN_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#define SJQ_PLUGIN_ABI 1

/* Why a packet is dropped or marked; a column of the records. */
enum sjq_reason {
    SJQ_OVERLIMIT = 0, /* the arrival does not fit */
    SJQ_FAT_FLOW = 1,  /* victim of another packet's arrival: its flow was the largest */
    SJQ_EARLY = 2,     /* random or derandomised early signal at the tail */
    SJQ_FORCED = 3,    /* average above a hard threshold */
    SJQ_TARGET = 4,    /* head of a queue whose delay stayed above target */
    SJQ_OVERLOAD = 5,  /* dropped in place of a mark */
    SJQ_BLUE = 6       /* random drop of a flow that does not answer */
};

/* What a queue may know of a packet: 16 bytes. */
typedef struct {
    uint32_t length;       /* bytes that the queue is charged */
    uint32_t flow_hash;    /* of addresses and ports */
    uint16_t mac_overhead; /* 0 in this version */
    uint8_t dscp;          /* 0 to 63 */
    uint8_t ecn;           /* as on the wire: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE */
    uint8_t pure_ack;      /* 1 for a TCP segment that only acknowledges */
    uint8_t queue;         /* 0 in this version */
    uint8_t pad[2];
} sjq_meta;

/* What the host does for the library, during a call and no longer. */
typedef struct {
    uint32_t size; /* of this struct; later versions have more at its end */
    void *user;    /* hand it back as the first argument */
    void (*dropped)(void *user, uint64_t ticket, uint8_t reason);
    void (*marked)(void *user, uint64_t ticket, uint8_t reason); /* of ECN-capable packets only */
    double (*unit)(void *user);                                  /* a random number, at least 0 and below 1 */
} sjq_host;

/* What the library exports. */
typedef struct {
    uint32_t size; /* of this struct: sizeof(sjq_plugin) */
    uint32_t abi;  /* SJQ_PLUGIN_ABI */
    /* A new, empty queue; NULL if that cannot be. The text is empty in this version. */
    void *(*create)(const char *config, size_t length);
    /* 0 if the ticket is kept; 1 if it is refused, after host->dropped was called for it. */
    int32_t (*enqueue)(void *state, uint64_t now_ns, const sjq_meta *meta, uint64_t ticket, const sjq_host *host);
    /* 1 and the ticket to send, or 0, only if none waits. Others may be dropped and marked before. */
    int32_t (*dequeue)(void *state, uint64_t now_ns, const sjq_host *host, uint64_t *ticket);
    void (*destroy)(void *state);
} sjq_plugin;

#define SJC_PLUGIN_ABI 1

/* Why a window has to shrink. */
enum sjc_cause {
    SJC_LOSS = 0,
    SJC_MARK = 1,   /* the first in a round trip */
    SJC_TIMEOUT = 2 /* of the retransmission timer */
};

/* What a controller asks of its sender: any of them together. */
enum sjc_request {
    SJC_SCALABLE = 1,     /* windows keep their fractions, and acknowledgements with marks may grow them */
    SJC_RATE_SAMPLES = 2, /* acknowledgements come with samples of the rate of delivery */
    SJC_NO_SLOW_START = 4 /* the stack does not double the window below the threshold */
};

typedef struct {
    double size, threshold; /* segments */
} sjc_window;

/* An acknowledgement: 88 bytes. */
typedef struct {
    uint32_t size; /* of this struct; later versions have more at its end */
    uint32_t acked; /* segments that it acknowledges for the first time */
    uint64_t now_ns;
    uint64_t round_trip_ns; /* 0 if it gives none */
    uint64_t smoothed_ns;   /* the smoothed round trip */
    uint32_t marks;         /* of `acked`, if the peer counts marks */
    uint32_t flight;        /* segments outstanding before it */
    uint32_t first, next;   /* lowest unacknowledged segment, and next new one */
    uint8_t marked;         /* 1 if it echoes a mark */
    uint8_t may_change;     /* 1 if new data are acknowledged, and the sender does not repair losses */
    uint8_t may_grow;       /* 1 if the window was used, too */
    /* The rest needs SJC_RATE_SAMPLES. */
    uint8_t application_limited; /* 1 if the application had nothing to send */
    uint32_t newly_lost;         /* segments found lost since the sample before */
    uint32_t in_flight;          /* segments in the network now */
    double rate_bps;             /* delivered data by time; 0 without a sample */
    uint64_t delivered;          /* bytes in total */
    uint64_t delivered_before;   /* the same when the newest segment of the acknowledgement was sent */
} sjc_ack;

/* What a controller says of itself, for records: zeros where it has nothing to say. */
typedef struct {
    char phase[32]; /* a word of ASCII, such as ProbeBW_UP; at most 64 different ones */
    double bandwidth_bps;
    double bound_segments;
} sjc_state;

/* What the library of a controller exports. Calls below "may be NULL" may be. */
typedef struct {
    uint32_t size; /* of this struct: sizeof(sjc_plugin) */
    uint32_t abi;  /* SJC_PLUGIN_ABI */
    /* A controller of a new connection: bytes of a full segment, segments of the initial window. NULL if that cannot be. */
    void *(*create)(uint32_t segment, uint32_t initial_window);
    /* Bits of sjc_request, asked once. May be NULL: none. */
    uint32_t (*requests)(void *state);
    /* `acked` segments were acknowledged above the threshold: change window->size. */
    void (*on_congestion_avoidance)(void *state, uint32_t acked, const sjc_ack *ack, sjc_window *window);
    /* The new threshold. `base` is what the stack would have reduced. */
    double (*on_congestion)(void *state, int32_t cause, double base, uint64_t now_ns, const sjc_window *window);
    /* Any acknowledgement with news, before the others: window->size may change. May be NULL. */
    void (*on_ack)(void *state, const sjc_ack *ack, sjc_window *window);
    /* Sending goes on after a pause: window->size may change. May be NULL. */
    void (*on_restart)(void *state, uint64_t idle_ns, sjc_window *window);
    /* b/s at which to send; 0 for what follows from the window. May be NULL. */
    double (*pacing_rate)(void *state);
    /* Asked at regular times, if a run records connections. May be NULL. */
    void (*state)(void *state, sjc_state *told);
    /* A second controller in the same state. */
    void *(*clone)(const void *state);
    void (*destroy)(void *state);
} sjc_plugin;

#ifdef __cplusplus
extern "C" {
#endif
const sjq_plugin *sjq_plugin_v1(void);
const sjc_plugin *sjc_plugin_v1(void);
#ifdef __cplusplus
}
#endif

#endif
