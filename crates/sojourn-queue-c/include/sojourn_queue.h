/* Queue managers behind a C interface, version 1: CoDel, PIE, FQ-CoDel, DualPI2, DOCSIS and others.
 *
 * A queue holds items: numbers of the caller's, who keeps the packets. An item waits from sjq_enqueue on, until sjq_dequeue
 * returns it or dropped is called for it: one of the two, once.
 *
 * Times are in ns, up to 18 446 744 073 709 551, and never go back. One thread calls a queue at a time; others may call other queues
 * meanwhile. A callback must not call the queue that calls it: it gets SJQ_BUSY, or what an empty queue would answer. No call unwinds
 * into C.
 */
#ifndef SOJOURN_QUEUE_H
#define SOJOURN_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#define SJQ_ABI 1

/* Return values of calls. */
#define SJQ_KEPT 0      /* the packet waits */
#define SJQ_REFUSED 1   /* the packet was refused; dropped was called for it before the call returned */
#define SJQ_NULL -1     /* a pointer is null that must not be */
#define SJQ_FIELD -2    /* a field has a value that there is none of */
#define SJQ_TIME -3     /* time went back, is too late, or no timer is due then */
#define SJQ_BUSY -4     /* a callback has called the queue that calls it */
#define SJQ_POISONED -5 /* the queue is of no use any more: a call has failed inside, or got no random number that it needed */
#define SJQ_CONFIG -6   /* the manager line is wrong; the message says how */
#define SJQ_CONTEXT -7  /* the context is too small, or has no dropped */

/* Why packets are dropped or marked: 0 overlimit, 1 fat_flow, 2 early, 3 forced, 4 target, 5 overload, 6 blue, 7 disturbed,
 * 8 policed, 9 unheard. */
#define SJQ_DESTROYED 255 /* waited when its queue was freed */

typedef struct sjq_queue sjq_queue;

/* Properties of a packet that a queue may read: 16 bytes. */
typedef struct sjq_meta {
    uint32_t length;       /* bytes that the queue is charged, at least 1 */
    uint32_t flow_hash;    /* of addresses and ports */
    uint16_t mac_overhead; /* bytes that the MAC adds on the wire, outside length */
    uint8_t dscp;          /* 0 to 63 */
    uint8_t ecn;           /* as on the wire: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE */
    uint8_t pure_ack;      /* 1 for a TCP segment that only acknowledges */
    uint8_t queue;         /* 0 classic, 1 low latency, 2 fast lane of acknowledgements; 0 if the manager classifies */
    uint16_t host;         /* number of the host at the subscriber's end, for managers that share by host */
} sjq_meta;

/* The shaper that drains a queue; zero rates mean "not set". */
typedef struct sjq_shaper {
    uint64_t tokens; /* of the sustained-rate bucket, in bytes */
    uint64_t sustained_bps;
    uint64_t peak_bps;
} sjq_shaper;

/* Functions of the host for the queue during a call. All but size and dropped may be null. */
typedef struct sjq_context {
    uint32_t size; /* of this struct: sizeof(sjq_context); later versions have more at its end */
    void *user;    /* handed back as the first argument */
    void (*dropped)(void *user, uint64_t item, const sjq_meta *meta, uint8_t reason); /* leaves without being sent */
    void (*marked)(void *user, uint64_t item, const sjq_meta *meta, uint8_t reason);  /* write CE into its packet */
    double (*unit)(void *user); /* a random number, at least 0 and below 1; for managers that draw */
    uint64_t (*staged)(void *user, uint8_t queue);        /* bytes taken from a queue and not sent yet (0) */
    uint64_t (*loop_delay_ns)(void *user, uint8_t queue); /* estimate of the request-grant loop (0) */
    void (*shaper)(void *user, sjq_shaper *shaper);       /* fills in the shaper (zeros) */
    uint64_t (*rate_bps)(void *user, uint8_t queue);      /* rate of the service flow behind a queue alone (0) */
    /* an arrival is kept: in this queue, or -1 if the manager has one; sanctioned is 1 if Queue Protection put it there */
    void (*kept)(void *user, uint64_t item, int32_t queue, uint8_t sanctioned);
} sjq_context;

#ifdef __cplusplus
extern "C" {
#endif

/* SJQ_ABI of the library. */
uint32_t sjq_abi(void);

/* Makes an empty queue of a manager line, such as codel target=5ms limit="84 packets", for a link of rate_bps, or 0 if no
 * limit is a time. An error of the line is written into message, ended by a zero and cut at room bytes. */
int32_t sjq_new(const char *config, size_t length, uint64_t rate_bps, sjq_queue **out, char *message, size_t room);

/* Offers a packet: SJQ_KEPT or SJQ_REFUSED. */
int32_t sjq_enqueue(const sjq_queue *queue, uint64_t now_ns, const sjq_meta *meta, uint64_t item, const sjq_context *context);

/* Takes the next packet to send: 1 and its item, or 0 if nothing waits. from is the number of a queue, or -1 for any. sent and
 * marked may be null; marked becomes 1 if the packet carries CE. */
int32_t sjq_dequeue(const sjq_queue *queue, uint64_t now_ns, int32_t from, const sjq_context *context, uint64_t *item, sjq_meta *sent, uint8_t *marked);

/* When sjq_on_timer wants to be called; UINT64_MAX if never, and for a queue that is busy or poisoned. Ask at first and after each
 * sjq_on_timer. */
uint64_t sjq_next_timer(const sjq_queue *queue);

/* Does the update that was due at sjq_next_timer, which is not after now_ns: 1 if another one is due by then, else 0.
 * SJQ_TIME if none is due, or time went back. */
int32_t sjq_on_timer(const sjq_queue *queue, uint64_t now_ns, const sjq_context *context);

/* Length of the packet that a dequeue would look at first; -1 if nothing waits or the manager cannot tell. */
int64_t sjq_head_length(const sjq_queue *queue);

/* Writes the bytes and packets that wait in a queue, or in all for -1. Either pointer may be null. */
void sjq_backlog(const sjq_queue *queue, int32_t of, uint64_t *bytes, uint64_t *packets);

/* Makes sjq_free report the packets that wait then to dropped of this context, which is copied; null for no report.
 * Packets in a poisoned queue are lost. */
int32_t sjq_set_context(const sjq_queue *queue, const sjq_context *context);

/* Frees a queue; null is left alone. */
void sjq_free(sjq_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
