"""The check of links finds what is wrong with a site."""

import pytest
from links import faults


@pytest.mark.parametrize(
    ("tag", "fault"),
    [
        ('<a href="b.html">', None),
        ('<a href="b.html#there">', None),
        ('<a href="#here"><p id="here">', None),
        ('<a href="https://example.org/">', None),
        ('<img src="data:image/png;base64,AA">', None),
        ('<a href="c.html">', "which does not exist"),
        ('<a href="b.html#elsewhere">', "no such heading"),
        ('<a href="#nowhere">', "no such heading"),
        ('<a href="../secret.html">', "which does not exist"),
        ('<img src="gone.png">', "which does not exist"),
        ('<img src="https://example.org/a.png">', "another host"),
        ('<script src="//example.org/a.js"></script>', "another host"),
        ('<link rel="stylesheet" href="https://example.org/a.css">', "another host"),
        ('<p style="background: url(https://example.org/a.png)">', "another host"),
    ],
)
def test_links_and_files(tmp_path, tag, fault):
    """Links inside lead to pages and headings that exist; files are the site's own."""
    site = tmp_path / "site"
    site.mkdir()
    (tmp_path / "secret.html").write_text("")
    (site / "a.html").write_text(f"<body>{tag}")
    (site / "b.html").write_text('<h2 id="there">')
    found = list(faults(site))
    assert [fault] == [fault for sentence in found if fault in sentence] if fault else not found


def test_style_sheets_load_nothing_from_elsewhere(tmp_path):
    """A font of another host would tell it who reads."""
    (tmp_path / "a.css").write_text(
        '@import "https://example.org/b.css"; p { background: url(#x) }'
    )
    assert ["a.css loads https://example.org/b.css, which is on another host."] == list(
        faults(tmp_path)
    )
