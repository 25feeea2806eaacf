"""Studies: simulations with the claims they check, the figures and the report.

A new study is one folder, and one line in `STUDIES`.
"""

STUDIES = {
    "synthetic": "the paper's synthetic experiment (section 5.1), its tuning, tails and growth",
    "radio": (
        "the paper's experiment over a radio testbed (section 5.2), at signal level, with its "
        "figures"
    ),
    "drift": "arms that change under attack: who follows, what watching costs, faked changes",
    "clicks": "rewards of 0 and 1 just below and above the limit for any policy; not from a paper",
    "sources": "clicks, some of them from hostile sources; not from a paper",
}
