"""A deprecated name says what to use, at the line that uses it."""

import pytest

from ironarm.deprecation import deprecated


def old():
    deprecated("old()", "new()", removed_in="0.3")
    return 1


def test_the_warning_names_the_callers_line():
    """Not the line inside ironarm."""
    message = r"old\(\) is deprecated and will be removed in ironarm 0\.3; use new\(\) instead\."
    with pytest.warns(DeprecationWarning, match=message) as caught:
        assert old() == 1
    assert caught[0].filename == __file__
