"""Who sent what: the rewards of each arm, counted by source.

`s.source[0]` says who sent a reward: a whole number >= 0, or -1 if nobody said; all
rewards of the second kind count as one source. Each of the first `slots` sources has a
row of its own, in the order in which they came. Later ones share the rows that there
are, by their number, which live is a salted hash: nobody can choose with whom.

A source's row is found by linear probing in a table of `places` places, twice the rows.
So a reward costs O(1), and a look at all sources goes through the rows in use alone.
"""

from __future__ import annotations

import numpy as np

from ..marks import cold, hot

FIELDS = {
    "place_row": "int[places]",  # the row of the source that is looked up there, plus 1
    "row_source": "int[slots]",
    "rows": "int[1]",  # how many are in use
    "row_rewards": "float[arms*slots]",
    "row_sum": "float[arms*slots]",
    "row_squares": "float[arms*slots]",  # the sum of squared rewards
}
LARGEST = 1e100  # rewards are clipped to it, so that squares and their sums are finite


def check_saved(fields: dict[str, np.ndarray]) -> None:
    """Refuse rows and places at which compiled code must not look."""
    rows, slots = int(fields["rows"][0]), len(fields["row_source"])
    place_row = fields["place_row"]
    pointing = place_row[place_row != 0]
    fits = 0 <= rows <= slots and len(pointing) <= slots
    if not fits or (pointing < 1).any() or (pointing > rows).any():
        raise ValueError("its rows of sources are not valid")


@hot
def row_of(s, source):
    """Return the row of a source; a new one gets the next that is free, if any is."""
    place = source % len(s.place_row)
    while s.place_row[place] != 0:
        row = s.place_row[place] - 1
        if s.row_source[row] == source:
            return row
        place += 1
        if place == len(s.place_row):
            place = 0
    if s.rows[0] == len(s.row_source):
        return source % len(s.row_source)
    row = s.rows[0]
    s.row_source[row] = source
    s.place_row[place] = row + 1
    s.rows[0] = row + 1
    return row


@hot
def count_reward(s, a, row, x):
    """Count the reward x, already clipped, of arm a in a row."""
    at = a * len(s.row_source) + row
    s.row_rewards[at] += 1.0
    s.row_sum[at] += x
    s.row_squares[at] += x * x


@cold
def nth_smallest(values, count, nth):
    """Return the nth smallest, from 0, of the first `count` values; reorders them."""
    low = 0
    high = count - 1
    while low < high:
        pivot = values[(low + high) >> 1]
        i = low
        j = high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if nth <= j:
            high = j
        elif nth >= i:
            low = i
        else:
            break
    return values[nth]
