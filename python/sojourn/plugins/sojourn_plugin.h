/* A queue manager of your own for Sojourn, in any language that speaks C: version 1 of the interface.
 *
 * Compile it into a shared library that exports sjq_plugin_v1, for example:
 *     cc -std=c11 -O2 -shared -fPIC -o libmine.so mine.c
 * and run a study with it:
 *     sojourn study run pie-or-fq-codel --plugin libmine.so
 *
 * The library holds tickets; packets stay with the host. A ticket waits from enqueue on, until dequeue returns it or
 * dropped is called for it: one of the two, once. One process runs one simulation, on one thread. There are no timers:
 * time comes with each call and never goes back. Take random numbers from the host only, and read no clock: the same
 * input gives the same bits.
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

#ifdef __cplusplus
extern "C"
#endif
const sjq_plugin *sjq_plugin_v1(void);

#endif
