"""The look of each policy: the same colour and line style in all figures.

Colours are Okabe and Ito's and Tol's muted ones, which colour-blind readers can tell
apart; dashes and markers tell them apart in print, and relatives that share a colour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PURPLE, BLACK = (
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#F0E442",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
    "#000000",
)
SOLID, DASHED, DOTTED, DASH_DOT = "-", "--", ":", "-."

CHOSEN: dict[str, tuple[str, str]] = {
    "MedEUCB": (BLUE, SOLID),
    "MedEpsilonGreedy": (SKY, DASHED),
    "UCB": (RED, SOLID),
    "EpsilonGreedy": (ORANGE, DASHED),
    "RUCB": (GREEN, SOLID),
    "EXP3": (PURPLE, DOTTED),
    "CatoniUCB": (BLACK, DASH_DOT),
    "TrimmedUCB": ("#8C564B", SOLID),
    "TrimmedEpsilonGreedy": ("#999933", DASHED),
    "CRUCB": ("#CC6677", DASHED),
    "HuberUCB": ("#88CCEE", DASH_DOT),
    "MedianOfMeansUCB": ("#DDCC77", DASH_DOT),
    "TruncatedMeanUCB": ("#AA4499", DOTTED),
    "IMED": ("#882255", SOLID),
    "CRIMED": ("#44AA99", DASHED),
    "CRIMEDStar": ("#44AA99", SOLID),
    "CountIMED": ("#117733", DASHED),
    "CoherentIMED": ("#332288", DASH_DOT),
    "ThompsonGaussian": ("#CC6677", DASH_DOT),
    "KLUCB": ("#661100", SOLID),
    "BernoulliIMED": ("#6699CC", DASHED),
    "ThompsonBeta": ("#888888", DASH_DOT),
    "TsallisINF": ("#AA4499", DASHED),
    "EXP3PlusPlus": (PURPLE, DASH_DOT),
    "BARBAR": ("#DDCC77", DOTTED),
    "TrustThompson": ("#117733", SOLID),
    "RestartingIMED": ("#332288", SOLID),
    "SlidingMedUCB": (BLUE, DASHED),
    "SlidingWindowUCB": (RED, DOTTED),
    "DiscountedUCB": (ORANGE, DOTTED),
    "GLRKLUCB": ("#882255", DOTTED),
    "MUCB": ("#999933", DASH_DOT),
}
"""Looks that were chosen. The other built-in policies get theirs from `styles`."""
OWN = (
    "#FF0055",
    "#AA00FF",
    "#2DB22D",
    "#00758C",
    "#B21E00",
    "#B200B2",
    BLUE,
    ORANGE,
    GREEN,
    PURPLE,
    BLACK,
    SKY,
    RED,
    "#882255",
    "#999933",
    "#332288",
    "#44AA99",
    "#DDCC77",
)
"""Colours of policies that are not built in, in the order in which they are used.

The first six are no built-in policy's.
"""

DARK = {
    BLUE: "#1E88C8",
    "#332288": "#8F7FFF",
    "#117733": "#39A845",
    "#8C564B": "#C08A7C",
    "#882255": "#D1558F",
    "#AA00FF": "#BF4DFF",
    "#B21E00": "#E04A2E",
    "#661100": "#C9572B",
}
"""What pages show on a dark ground in the place of colours that would vanish there."""

LINES = (SOLID, DASHED, DASH_DOT, DOTTED)
MARKERS = ("", "o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h", "p", "d", "8", "H")


Look = tuple[str, str, str]
"""Colour, line and marker."""


_built_in: list[Callable[[], Iterable[str]]] = []  # set by the package itself


def built_in_are(policies: Callable[[], Iterable[str]]) -> None:
    """Say how the names of all built-in policies are found, when a figure is drawn."""
    _built_in.append(policies)


@cache
def styles() -> dict[str, tuple[str, str]]:
    """Return the looks of all built-in policies."""
    return looks_for([name for names in _built_in for name in names()])


def looks_for(policies: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return the chosen looks, and one for each of these policies that has none.

    That is a pair of a colour and a line that no other policy has. It depends on
    nothing but the order of the policies, so it is the same in every figure and in
    every process. A line in `CHOSEN` keeps a policy's look also when another one is
    added above it.
    """
    without = [name for name in policies if name not in CHOSEN]
    taken = set(CHOSEN.values())
    colours = dict.fromkeys(colour for colour, _ in CHOSEN.values())
    pairs = ((colour, line) for line in LINES for colour in colours)
    free = (pair for pair in pairs if pair not in taken)
    return {**CHOSEN, **dict(zip(without, free, strict=False))}
