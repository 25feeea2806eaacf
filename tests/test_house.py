"""How large files are, and the command that counts statements."""

from tests import house

MOST_LINES = 500


def test_a_file_above_500_lines_says_why():
    """Its docstring then has a sentence on why all of it stands in one file."""
    long = [path for path, text in house.files_now() if text.count("\n") > MOST_LINES]
    texts = dict(house.files_now())
    assert [path for path in long if "stand in one file" not in texts[path]] == []


def test_statements_are_counted_without_docstrings():
    """Nor bare strings after an attribute; nested statements count one by one."""
    text = '"""Docs."""\nx = 1\n"""What x is."""\ndef f():\n    """Docs."""\n    return x\n'
    assert house.statements(text) == 3
    rooms = house.by_room(iter([("a.py", text), ("b/c.py", "y = 2\n")]))
    assert rooms == {"(root)": (6, 3), "b": (1, 1), "all": (7, 4)}
