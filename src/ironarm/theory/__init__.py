"""The paper's theory as numbers: assumptions, guarantees, sharp conditions and limits.

`ia.certify` puts them on a page; here are the pieces.
"""

from typing import TYPE_CHECKING

from ..lazy import Names

if TYPE_CHECKING:
    from .arms import Arms, Normal
    from .assumptions import (
        Separation,
        density_floor,
        quantile_gaps,
        separation,
    )
    from .bounded import Bounded, attacked_rates, bounded_rewards, limit_on_rho, rate_floor
    from .certificate import Certificate, plain
    from .certification import certify
    from .corollaries import corollary_1, corollary_2
    from .finite_time import FiniteTimeBound, med_e_ucb_bound, med_epsilon_greedy_bound
    from .from_log.fit import Fit, Resampled, fit
    from .growth import expected_wrong_rounds, local_exponents
    from .lemma_rows import LEMMA_HEAD, LEMMA_NOTES, LemmaRow, lemma_table, lemma_text
    from .lemmas import attacked_share_rounds, quantile_concentration
    from .limits import (
        corrupted_kl,
        corrupted_kl_limit,
        median_threshold,
        observed_kl,
        regret_floor,
        smallest_gap,
        thresholds,
        unknown_share_floor,
    )
    from .paper import PAPER_NOTES, PaperRow, paper_table, paper_text
    from .sharp import (
        clean_majority,
        exponent_on,
        growth_exponent,
        kl,
        needed_b,
        needed_c,
        sharp_b,
        sharp_c,
    )
    from .sources import sources_limit, tolerated_share, unnoticed_lie
    from .suited import Suitability, suitability
    from .theorems_greedy import GreedyGuarantee, theorem_3, theorem_4
    from .theorems_ucb import UcbGuarantee, theorem_1, theorem_2
    from .unmet import Unmet
else:
    NAMES = Names(__name__, __file__)
    __getattr__, __dir__ = NAMES.get, NAMES.all

__all__ = [
    "LEMMA_HEAD",
    "LEMMA_NOTES",
    "PAPER_NOTES",
    "Arms",
    "Bounded",
    "Certificate",
    "FiniteTimeBound",
    "Fit",
    "GreedyGuarantee",
    "LemmaRow",
    "Normal",
    "PaperRow",
    "Resampled",
    "Separation",
    "Suitability",
    "UcbGuarantee",
    "Unmet",
    "attacked_rates",
    "attacked_share_rounds",
    "bounded_rewards",
    "certify",
    "clean_majority",
    "corollary_1",
    "corollary_2",
    "corrupted_kl",
    "corrupted_kl_limit",
    "density_floor",
    "expected_wrong_rounds",
    "exponent_on",
    "fit",
    "growth_exponent",
    "kl",
    "lemma_table",
    "lemma_text",
    "limit_on_rho",
    "local_exponents",
    "med_e_ucb_bound",
    "med_epsilon_greedy_bound",
    "median_threshold",
    "needed_b",
    "needed_c",
    "observed_kl",
    "paper_table",
    "paper_text",
    "plain",
    "quantile_concentration",
    "quantile_gaps",
    "rate_floor",
    "regret_floor",
    "separation",
    "sharp_b",
    "sharp_c",
    "smallest_gap",
    "sources_limit",
    "suitability",
    "theorem_1",
    "theorem_2",
    "theorem_3",
    "theorem_4",
    "thresholds",
    "tolerated_share",
    "unknown_share_floor",
    "unnoticed_lie",
]
