/* The yardstick's random numbers: ironarm's streams (xoshiro256++), one noise and three attack numbers per round, AS 241 for the normal law; drawn in blocks that stay in the
   first-level cache, in loops that gcc vectorises. */
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { STRETCH = 512 };

typedef struct { uint64_t s0, s1, s2, s3; } Stream;

static inline uint64_t next_word(Stream *g) {
    uint64_t total = g->s0 + g->s3, word = (total << 23 | total >> 41) + g->s0, shifted = g->s1 << 17;
    g->s2 ^= g->s0; g->s3 ^= g->s1; g->s1 ^= g->s2; g->s0 ^= g->s3; g->s2 ^= shifted;
    g->s3 = g->s3 << 45 | g->s3 >> 19;
    return word;
}
static inline double open_uniform(uint64_t word) { /* ((word >> 12) + 0.5) / 2^52, by way of the bits of a number in [1, 2), which vectorises */
    uint64_t bits = word >> 12 | 0x3ff0000000000000;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x - (1.0 - 0x1p-53);
}

#define HORNER(r, a, b, c, d, e, f, g, h) ((((((((a) * r + (b)) * r + (c)) * r + (d)) * r + (e)) * r + (f)) * r + (g)) * r + (h))

static inline double central(double p) {
    double q = p - 0.5, r = 0.180625 - q * q;
    return q * HORNER(r, 2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
                      1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0)
           / HORNER(r, 5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
                    5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0);
}
static double tail(double p) {
    double r = sqrt(-log(p < 0.5 ? p : 1.0 - p)), z;
    if (r <= 5.0) {
        r -= 1.6;
        z = HORNER(r, 7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
                   3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0)
            / HORNER(r, 1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
                     6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1.0);
    } else {
        r -= 5.0;
        z = HORNER(r, 2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
                   2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0)
            / HORNER(r, 2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
                     1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0);
    }
    return p < 0.5 ? -z : z;
}

typedef struct { double noise[STRETCH], u[STRETCH]; uint8_t coin[STRETCH]; } Tape;

static void draw(Tape *tape, Stream *noise_stream, Stream *attack_stream, double rho) {
    uint64_t noise[STRETCH], coin[STRETCH], u[STRETCH];
    double p[STRETCH];
    int far[STRETCH], tails = 0;
    Stream g = *noise_stream, h = *attack_stream;
    for (int i = 0; i < STRETCH; i++) {
        noise[i] = next_word(&g);
        coin[i] = next_word(&h);
        u[i] = next_word(&h);
        next_word(&h); /* the attack's second number, which this attack does not use */
    }
    *noise_stream = g; *attack_stream = h;
    for (int i = 0; i < STRETCH; i++) {
        p[i] = open_uniform(noise[i]);
        tape->noise[i] = central(p[i]);
        tape->u[i] = open_uniform(u[i]);
        tape->coin[i] = open_uniform(coin[i]) < rho;
    }
    for (int i = 0; i < STRETCH; i++) { far[tails] = i; tails += fabs(p[i] - 0.5) > 0.425; }
    for (int k = 0; k < tails; k++) tape->noise[far[k]] = tail(p[far[k]]);
}
