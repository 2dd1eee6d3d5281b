/* Replays a golden trace into a queue manager behind the C interface, and names the first line that is another.
 *
 *     cargo build --release -p sojourn-queue-c
 *     cc -std=c11 -Icrates/sojourn-queue-c/include -o replay examples/c-queue/replay.c target/release/libsojourn_queue.a -lpthread -ldl -lm
 *     xz -dc python/sojourn/aqm/golden/codel.sjt.xz | ./replay
 *
 * To try a queue manager of your own, put its calls in place of those that begin with sjq_.
 */
#include "sojourn_queue.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 16384, WAITING = 4096, DRAWS = 64 };

static const char *const REASONS[] = {"overlimit", "fat_flow", "early", "forced", "target",
                                      "overload", "blue", "disturbed", "policed", "unheard"};
static const char *const QUEUES = "cla";

/* What came of the last call and was not compared yet, one line each. */
static char found[WAITING][64];
static size_t first, count;
static double draws[DRAWS];
static size_t drawn, known;
static int overdrawn;
static sjq_shaper line_shaper;

static char *next_line(void) {
    if (count == WAITING) {
        fputs("error: more came of a call than there is room for\n", stderr);
        exit(2);
    }
    return found[(first + count++) % WAITING];
}

static void dropped(void *user, uint64_t item, const sjq_meta *meta, uint8_t reason) {
    (void)user, (void)meta;
    snprintf(next_line(), sizeof found[0], "d %" PRIu64 " %s", item, REASONS[reason]);
}

static void marked(void *user, uint64_t item, const sjq_meta *meta, uint8_t reason) {
    (void)user, (void)meta;
    snprintf(next_line(), sizeof found[0], "m %" PRIu64 " %s", item, REASONS[reason]);
}

static void kept(void *user, uint64_t item, int32_t queue, uint8_t sanctioned) {
    (void)user;
    if (queue < 0)
        snprintf(next_line(), sizeof found[0], "e %" PRIu64, item);
    else
        snprintf(next_line(), sizeof found[0], "e %" PRIu64 " %c%s", item, QUEUES[queue], sanctioned ? "!" : "");
}

static double unit(void *user) {
    (void)user;
    if (drawn < known) return draws[drawn++];
    overdrawn = 1;
    return 0.5;
}

static void shaper(void *user, sjq_shaper *told) {
    (void)user;
    *told = line_shaper;
}

static void wrong(unsigned long at, const char *what, const char *more) {
    fprintf(stderr, "line %lu: %s%s\n", at, what, more);
    exit(1);
}

/* The field behind one space; the line ends there if there is none. */
static char *field(char **rest) {
    char *begin = *rest, *end = strchr(begin, ' ');
    if (end == NULL) {
        *rest = begin + strlen(begin);
    } else {
        *end = '\0';
        *rest = end + 1;
    }
    return begin;
}

static uint64_t number(char **rest) { return strtoull(field(rest), NULL, 10); }

static void timer_line(const sjq_queue *queue) {
    uint64_t next = sjq_next_timer(queue);
    if (next == UINT64_MAX)
        snprintf(next_line(), sizeof found[0], "n -");
    else
        snprintf(next_line(), sizeof found[0], "n %" PRIu64, next);
}

static void input(sjq_queue *queue, const sjq_context *context, char *rest, unsigned long at) {
    const char kind = *field(&rest);
    if (kind == 'u') {
        if (known == DRAWS) wrong(at, "too many draws", "");
        draws[known++] = strtod(rest, NULL);
        return;
    }
    const uint64_t now = number(&rest);
    if (kind == 'k') {
        const char *name = field(&rest);
        const uint64_t value = number(&rest);
        if (strcmp(name, "tokens") == 0)
            line_shaper.tokens = value;
        else if (strcmp(name, "sustained") == 0)
            line_shaper.sustained_bps = value;
        else if (strcmp(name, "peak") == 0)
            line_shaper.peak_bps = value;
        else
            wrong(at, "this program has no answer to ", name);
        return;
    }
    int32_t code = 0;
    if (kind == 'a') {
        const uint64_t item = number(&rest);
        sjq_meta meta = {0};
        meta.length = (uint32_t)number(&rest);
        meta.flow_hash = (uint32_t)strtoul(field(&rest), NULL, 16);
        meta.dscp = (uint8_t)number(&rest);
        meta.ecn = (uint8_t)number(&rest);
        const char *place = strchr(QUEUES, *field(&rest));
        meta.queue = place == NULL ? 0 : (uint8_t)(place - QUEUES);
        meta.pure_ack = (uint8_t)number(&rest);
        meta.host = (uint16_t)number(&rest);
        code = sjq_enqueue(queue, now, &meta, item, context);
    } else if (kind == 'o') {
        const char *place = *rest == '\0' ? NULL : strchr(QUEUES, *rest);
        uint64_t item = 0;
        code = sjq_dequeue(queue, now, place == NULL ? -1 : (int32_t)(place - QUEUES), context, &item, NULL, NULL);
        if (code == 1)
            snprintf(next_line(), sizeof found[0], "s %" PRIu64, item);
        else
            snprintf(next_line(), sizeof found[0], "s -");
    } else if (kind == 't') {
        code = sjq_on_timer(queue, now, context);
        timer_line(queue);
    }
    if (code < 0) wrong(at, "the call was refused", "");
    if (overdrawn) wrong(at, "the manager draws more numbers than the trace has", "");
    drawn = known = 0;
}

static void output(const sjq_queue *queue, const char *wanted, unsigned long at) {
    char backlog[64];
    const char *have = "nothing came";
    if (*wanted == 'p') return;
    if (*wanted == 'q') {
        uint64_t bytes, packets, bytes_l, packets_l;
        sjq_backlog(queue, -1, &bytes, &packets);
        sjq_backlog(queue, 1, &bytes_l, &packets_l);
        int length = snprintf(backlog, sizeof backlog, "q %" PRIu64 " %" PRIu64, bytes, packets);
        int spaces = 0;
        for (const char *sign = wanted; *sign != '\0'; sign++) spaces += *sign == ' ';
        if (spaces > 2)
            snprintf(backlog + length, sizeof backlog - (size_t)length, " %" PRIu64 " %" PRIu64, bytes_l, packets_l);
        have = backlog;
    } else if (count > 0) {
        have = found[first];
        first = (first + 1) % WAITING;
        count--;
    }
    if (strcmp(have, wanted) != 0) {
        fprintf(stderr, "line %lu: the trace says \"< %s\", and it is \"< %s\"\n", at, wanted, have);
        exit(1);
    }
}

int main(void) {
    static char line[LINE], manager[LINE];
    const sjq_context context = {
        .size = sizeof context, .dropped = dropped, .marked = marked, .unit = unit, .shaper = shaper, .kept = kept};
    sjq_queue *queue = NULL;
    uint64_t rate = 0;
    unsigned long at = 0, calls = 0;
    while (fgets(line, sizeof line, stdin) != NULL) {
        at++;
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "= manager ", 10) == 0) strcpy(manager, line + 10);
        if (strncmp(line, "= rate ", 7) == 0) rate = strtoull(line + 7, NULL, 10);
        if ((*line != '<' && *line != '>') || line[1] != ' ') continue;
        if (queue == NULL) {
            char message[512];
            if (sjq_new(manager, strlen(manager), rate, &queue, message, sizeof message) != SJQ_KEPT)
                wrong(at, "the manager: ", message);
            timer_line(queue);
            if (strncmp(line, "< n", 3) != 0) count = 0; /* the trace leaves timers out */
        }
        if (*line == '>') {
            if (line[2] != 'k' && line[2] != 'u') calls++;
            if (count == 1 && *found[first] == 'n') count = 0; /* so it does here */
            if (count > 0) wrong(at, "before it came what is not in the trace: < ", found[first]);
            input(queue, &context, line + 2, at);
        } else {
            output(queue, line + 2, at);
        }
    }
    if (count > 0) wrong(at, "at the end came what is not in the trace: < ", found[first]);
    sjq_free(queue);
    printf("the same over %lu calls\n", calls);
    return 0;
}
