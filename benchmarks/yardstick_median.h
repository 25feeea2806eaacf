/* The yardstick's running lower median: a sorted window of at most 32 values between two 8-ary heaps, as in ironarm's estimators/structures/rank.py. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { W = 32, HALF = 16 };

typedef struct { double *v; int64_t size, room; } Heap; /* 8-ary max-heap; the upper side holds negated values */
typedef struct { double estimate, spread; int64_t n, inside; Heap side[2]; double window[W]; } Arm;

static __attribute__((noinline, cold)) void widen(Heap *h) {
    h->room = h->room ? 2 * h->room : 2 * W;
    h->v = realloc(h->v, h->room * sizeof(double));
    if (!h->v) abort();
}
static inline void push(Heap *h, double x) {
    if (h->size == h->room) widen(h);
    double *v = h->v;
    int64_t i = h->size++;
    while (i > 0) {
        int64_t parent = (i - 1) >> 3;
        if (v[parent] >= x) break;
        v[i] = v[parent];
        i = parent;
    }
    v[i] = x;
}
static double pop(Heap *h) {
    double *v = h->v, top = v[0];
    int64_t size = --h->size, i = 0;
    double last = v[size];
    for (int64_t first = 1; first < size; first = 8 * i + 1) {
        int64_t best = first, end = first + 8 < size ? first + 8 : size;
        for (int64_t j = first + 1; j < end; j++) if (v[j] > v[best]) best = j;
        if (v[best] <= last) break;
        v[i] = v[best];
        i = best;
    }
    v[i] = last;
    return top;
}
static __attribute__((noinline)) void insert(Arm *arm, double x, int64_t rank) {
    double *w = arm->window;
    int64_t m = arm->inside;
    if (m == W) {
        m--;
        if (rank - arm->side[0].size >= HALF) {
            push(&arm->side[0], w[0]);
            memmove(w, w + 1, m * sizeof(double));
        } else push(&arm->side[1], -w[m]);
    }
    int64_t i = m;
    while (i > 0 && w[i - 1] > x) { w[i] = w[i - 1]; i--; }
    w[i] = x;
    arm->inside = m + 1;
}
static __attribute__((noinline, cold)) int64_t refill(Arm *arm, int64_t rank) {
    double *w = arm->window;
    for (;;) {
        int64_t i = rank - arm->side[0].size, m = arm->inside;
        if (i >= 0 && i < m) return i;
        int up = i >= m;
        Heap *source = &arm->side[up], *target = &arm->side[!up];
        int64_t count = source->size < HALF ? source->size : HALF, surplus = m + count > W ? m + count - W : 0;
        m -= surplus;
        for (int64_t k = 0; k < surplus; k++) push(target, up ? w[k] : -w[m + k]);
        memmove(up ? w : w + count, up ? w + surplus : w, m * sizeof(double));
        for (int64_t k = 0; k < count; k++) {
            double x = pop(source);
            if (up) w[m + k] = -x; else w[count - 1 - k] = x;
        }
        arm->inside = m + count;
    }
}
static inline double lower_median(Arm *arm, double x) {
    int64_t rank = (arm->n - 1) >> 1;
    if (arm->n <= W) insert(arm, x, rank);
    else {
        int below = x < arm->window[0], above = x > arm->window[arm->inside - 1];
        if (below | above) push(&arm->side[above], below ? x : -x);
        else insert(arm, x, rank);
    }
    int64_t i = rank - arm->side[0].size;
    if (__builtin_expect((uint64_t)i >= (uint64_t)arm->inside, 0)) i = refill(arm, rank);
    return arm->window[i];
}
