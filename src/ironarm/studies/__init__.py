"""Studies: simulations with the claims they check, the figures and the report.

A new study is one folder, and one line in `STUDIES`.
"""

STUDIES = {
    "synthetic": "the paper's synthetic experiment (section 5.1), its tuning, tails and growth",
    "radio": (
        "the paper's experiment over a radio testbed (section 5.2), at signal level, with its "
        "figures"
    ),
}
