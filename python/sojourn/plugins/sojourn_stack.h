/* A transport library as a stack of Sojourn, in any language that speaks C: version 1 of the interface.
 *
 * Compile it into a shared library that exports sje_stack_v1, and let a scenario ask for it by its name:
 *     cc -std=c11 -O2 -shared -fPIC -o libmine.so mine.c
 *     sojourn run FILE --set 'traffic.upload.stack={ kind = "library", name = "mine" }' --plugin libmine.so
 *
 * A library is one end of a connection, or both, each opened by itself. It has no socket: datagrams come and leave with
 * the calls below, and the simulated network delays, marks and drops them. It has no clock: times are nanoseconds since
 * the start of the run, come with each call and never go back. Take random numbers from the seed only: the same input
 * gives the same bits. One process runs one simulation, on one thread.
 *
 * After a datagram, a write, and when the time of `timeout` has come, the host reads, writes, asks for datagrams until
 * there is none, and then asks for the next time. A library ends the run if it sends more than there is room for, sends as
 * a server before it has received anything, sends 16,384 datagrams at one time, or asks for a time that is not later
 * than the last call.
 */
#ifndef SOJOURN_STACK_H
#define SOJOURN_STACK_H

#include <stddef.h>
#include <stdint.h>

#define SJE_STACK_ABI 1
#define SJE_NEVER UINT64_MAX

/* Options of a new end: 24 bytes and a pointer. */
typedef struct {
    uint32_t size;          /* of this struct; later versions have more at its end */
    uint8_t is_server;      /* 1 for the end that waits for the connection */
    uint8_t ecn;            /* 1 if packets may be ECN-capable; otherwise the host clears the field */
    uint8_t pad[2];
    uint64_t seed;          /* origin of all random numbers of this end */
    const char *controller; /* a word of `controllers`; empty for the library's default */
} sje_options;

enum sje_flag { SJE_CONNECTED = 1, SJE_FINISHED = 2, SJE_FAILED = 4 };

/* What follows the bytes that were read. */
enum sje_then {
    SJE_MORE = 0,        /* more of the same stream, perhaps later */
    SJE_NEXT_STREAM = 1, /* the next stream */
    SJE_CLOSED = 2       /* the peer has closed: no stream follows */
};

/* One end now: zero stands for a quantity that the library does not tell. */
typedef struct {
    uint32_t size;         /* of this struct */
    uint32_t flags;        /* of sje_flag: connected; closed, and all of it acknowledged; failed */
    uint64_t window;       /* bytes that may be in flight */
    uint64_t threshold;    /* slow-start threshold, bytes */
    uint64_t in_flight;    /* bytes in flight */
    uint64_t smoothed_ns;  /* smoothed round trip */
    uint64_t pacing_bps;   /* rate of pacing, b/s */
    uint64_t lost;         /* packets that the sender has found lost */
    uint64_t acknowledged; /* bytes of the application that the peer has acknowledged, whole streams if need be */
    uint8_t phase[32];     /* a word of ASCII for the controller's state */
} sje_state;

/* What the library exports. */
typedef struct {
    uint32_t size;           /* of this struct: sizeof(sje_stack) */
    uint32_t abi;            /* SJE_STACK_ABI */
    uint32_t headers;        /* bytes that the network adds to a datagram: 28 for UDP over IPv4, 0 for IP packets */
    uint32_t pad;
    const char *controllers; /* words of its controllers, by spaces; the first is the default */
    /* A new end; the client begins to connect. NULL if that cannot be. */
    void *(*open)(const sje_options *options, uint64_t now);
    /* A datagram arrives. ecn as on the wire: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE. */
    void (*datagram)(void *end, uint64_t now, const uint8_t *bytes, size_t length, uint8_t ecn);
    /* The next datagram to send now, and its ECN field: its length, or 0 if there is none. */
    size_t (*transmit)(void *end, uint64_t now, uint8_t *buffer, size_t room, uint8_t *ecn);
    /* When to call transmit even if no datagram arrives; SJE_NEVER if never. */
    uint64_t (*timeout)(void *end);
    /* Bytes of a stream, and with fin its end: how many were taken. Streams count from 0 and follow each other; a
     * library with one stream ignores number and end. */
    size_t (*write)(void *end, uint64_t now, uint32_t stream, const uint8_t *bytes, size_t length, uint8_t fin);
    /* Bytes of a stream of the peer, in order: how many; `then` is one of sje_then. */
    size_t (*read)(void *end, uint64_t now, uint32_t stream, uint8_t *buffer, size_t room, uint8_t *then);
    /* No further stream will be written. */
    void (*close)(void *end, uint64_t now);
    void (*state)(const void *end, sje_state *told);
    void (*destroy)(void *end);
} sje_stack;

#ifdef __cplusplus
extern "C" {
#endif
const sje_stack *sje_stack_v1(void);
#ifdef __cplusplus
}
#endif

#endif
