/* med-E-UCB on a Gaussian bandit under the paper's attack, written by hand in C: the yardstick for ironarm's compiled loop.

   The algorithm, data structures and random streams are ironarm's: a sorted window of 32 values between two 8-ary heaps for the lower median, the lazy leader for the
   argmax (above 64 arms a kinetic tree, unless `lazy` asks for the leader there too), the forced schedule in blocks, xoshiro256++ with one noise and three attack numbers
   per round, AS 241 for the normal law. So the trajectory is the same, bit for bit. What is C's own: structs, pointers, memory that grows by realloc, numbers drawn in
   small blocks that stay in the first-level cache.
   Build: gcc -O3 -march=native -ffp-contract=off -shared -fPIC yardstick.c -lm */
#include "yardstick_draws.h"
#include "yardstick_median.h"

enum { SCAN_UP_TO = 64 };

/* ---- the highest index ---- */
typedef struct { double threat, scale, leader_scale; int64_t until, leader; } Lead;

static __attribute__((noinline)) int64_t scan(const Arm *arm, int64_t arms, Lead *lead, int64_t t, double omega) {
    double c = sqrt(omega * log((double)t));
    lead->leader_scale = c;
    if (t <= lead->until && arm[lead->leader].estimate + c * arm[lead->leader].spread > lead->threat) return lead->leader;
    int64_t until = t + t / 16 + 8, best = 0;
    double later = sqrt(omega * log((double)until));
    double highest = arm[0].estimate + c * arm[0].spread, reach = arm[0].estimate + later * arm[0].spread, runner_up = -INFINITY;
    for (int64_t a = 1; a < arms; a++) {
        double index = arm[a].estimate + c * arm[a].spread, its_reach = arm[a].estimate + later * arm[a].spread;
        if (index > highest) {
            runner_up = fmax(runner_up, reach);
            best = a; highest = index; reach = its_reach;
        } else runner_up = fmax(runner_up, its_reach);
    }
    *lead = (Lead){runner_up, later, c, until, best};
    return best;
}

typedef struct { int64_t *winner, size; double *until, at; int ready; } Tree;

static inline void play(const Arm *arm, Tree *tree, double c, int64_t node) {
    int64_t left = tree->winner[2 * node], right = tree->winner[2 * node + 1], best = left, other = right;
    double valid = fmin(tree->until[2 * node], tree->until[2 * node + 1]);
    if (right >= 0) {
        if (arm[right].estimate + c * arm[right].spread > arm[left].estimate + c * arm[left].spread) { best = right; other = left; }
        if (arm[other].spread > arm[best].spread) {
            double crossing = (1.0 - 1e-12) * (arm[best].estimate - arm[other].estimate) / (arm[other].spread - arm[best].spread);
            if (crossing == crossing) valid = fmin(valid, fmax(c, crossing));
        }
    }
    tree->winner[node] = best;
    tree->until[node] = valid;
}
static void build(const Arm *arm, int64_t arms, Tree *tree, double c) {
    for (int64_t a = 0; a < tree->size; a++) { tree->winner[tree->size + a] = a < arms ? a : -1; tree->until[tree->size + a] = INFINITY; }
    for (int64_t node = tree->size - 1; node > 0; node--) play(arm, tree, c, node);
}
static inline int64_t top(const Arm *arm, int64_t arms, Tree *tree, double c) {
    if (!tree->ready || c < tree->at) { build(arm, arms, tree, c); tree->ready = 1; }
    tree->at = c;
    for (int64_t node = 1; tree->until[1] < c;) {
        if (2 * node < tree->size && tree->until[2 * node] < c) node = 2 * node;
        else if (2 * node + 1 < tree->size && tree->until[2 * node + 1] < c) node = 2 * node + 1;
        else { play(arm, tree, c, node); if (node == 1) break; node /= 2; }
    }
    return tree->winner[1];
}
static inline void touch(const Arm *arm, Tree *tree, int64_t a) {
    for (int64_t node = (tree->size + a) / 2; node > 0; node /= 2) {
        int64_t before = tree->winner[node];
        double valid = tree->until[node];
        play(arm, tree, tree->at, node);
        if (before != a && tree->winner[node] == before && tree->until[node] == valid) return;
    }
}

/* ---- the loop ---- */
static int64_t forced_total(double b, int64_t block, int64_t k) { return (int64_t)ceil(b * log((double)((k + 1) * block))); }

typedef struct {
    int64_t arms, block, horizon, lazy, trials, marks;
    double sigma, rho, attack_scale, b, omega;
    const double *means;
    const uint64_t *states;     /* trials x 8: the noise stream's state, then the attack stream's */
    const int64_t *checkpoints; /* marks of them, and one that is never reached */
    int64_t *pulls;             /* trials x arms */
    double *regret;             /* trials x marks */
} Game;

static void play_trial(const Game *game, int64_t trial, Arm *arm, Tree *tree) {
    const uint64_t *s = game->states + 8 * trial;
    Stream noise_stream = {s[0], s[1], s[2], s[3]}, attack_stream = {s[4], s[5], s[6], s[7]};
    const double *means = game->means, sigma = game->sigma, omega = game->omega, attack_scale = game->attack_scale;
    const int64_t arms = game->arms, block = game->block, horizon = game->horizon;
    const int use_tree = arms > SCAN_UP_TO && !game->lazy;
    Lead lead = {-INFINITY, 0.0, 0.0, 0, 0};
    int64_t best = 0, mark = 0, due = game->checkpoints[0];
    for (int64_t a = 0; a < arms; a++) {
        arm[a].n = arm[a].inside = arm[a].side[0].size = arm[a].side[1].size = 0;
        arm[a].estimate = -INFINITY;
        if (means[a] > means[best]) best = a;
    }
    tree->ready = 0;
    int64_t first = forced_total(game->b, block, 0), window_start = 1, each = first, window_end = arms * first, replan = window_end + 1;
    Tape tape;
    for (int64_t done = 0; done < horizon; done += STRETCH) {
        draw(&tape, &noise_stream, &attack_stream, game->rho);
        int64_t rounds = horizon - done < STRETCH ? horizon - done : STRETCH;
        for (int64_t i = 0; i < rounds; i++) {
            int64_t t = done + i + 1, a;
            if (t >= replan) {
                int64_t k = (t - 1) / block;
                each = k ? forced_total(game->b, block, k) - forced_total(game->b, block, k - 1) : 0;
                window_start = k * block + 1; window_end = k * block + arms * each; replan = (k + 1) * block + 1;
            }
            if (t <= window_end) a = (t - window_start) / each;
            else if (use_tree) a = top(arm, arms, tree, sqrt(omega * log((double)t)));
            else if (t <= lead.until && (arm[lead.leader].estimate > lead.threat
                                         || arm[lead.leader].estimate + lead.leader_scale * arm[lead.leader].spread > lead.threat)) a = lead.leader;
            else a = scan(arm, arms, &lead, t, omega);

            double x = means[a] + sigma * tape.noise[i];
            if (tape.coin[i]) x += (a == best ? -attack_scale : attack_scale) * tape.u[i];
            Arm *one = &arm[a];
            one->n++;
            one->estimate = lower_median(one, x);
            one->spread = 1.0 / sqrt((double)one->n);
            if (use_tree) { if (tree->ready) touch(arm, tree, a); }
            else if (a != lead.leader) lead.threat = fmax(lead.threat, one->estimate + lead.scale * one->spread);

            if (t == due) {
                double total = 0.0;
                for (int64_t k = 0; k < arms; k++) total += (means[best] - means[k]) * arm[k].n;
                game->regret[trial * game->marks + mark++] = total;
                due = game->checkpoints[mark];
            }
        }
    }
    for (int64_t a = 0; a < arms; a++) game->pulls[trial * arms + a] = arm[a].n;
}

void play_trials(const Game *game) { /* memory is kept from one trial to the next, as in ironarm */
    Arm *arm = calloc(game->arms, sizeof(Arm));
    Tree tree = {.size = 1};
    while (tree.size < game->arms) tree.size *= 2;
    tree.winner = malloc(2 * tree.size * sizeof(int64_t));
    tree.until = malloc(2 * tree.size * sizeof(double));
    if (!arm || !tree.winner || !tree.until) abort();
    for (int64_t trial = 0; trial < game->trials; trial++) play_trial(game, trial, arm, &tree);
    for (int64_t a = 0; a < game->arms; a++) { free(arm[a].side[0].v); free(arm[a].side[1].v); }
    free(arm); free(tree.winner); free(tree.until);
}
