"""Lines in one figure can be told apart: by colour, when colour-blind, in print."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import ironarm as ia
from ironarm.show import figures
from ironarm.show.figures import Styles, looks_of, pyplot, save_figure, write_figure
from ironarm.show.looks import CHOSEN, DARK, OWN, looks_for, styles

plt = pytest.importorskip("matplotlib.pyplot")
from matplotlib.colors import to_rgb  # noqa: E402

# how colours look without one of the three kinds of cones: Machado et al.,
# A physiologically-based model for simulation of color vision deficiency, 2009
BLINDNESS = {
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
               [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
               [0.004733, 0.691367, 0.303900]],
    "none": np.eye(3),
}  # fmt: skip


def lab(colour, seen_by):
    """The colour in CIELAB, where distances are those that the eye sees."""
    part = np.array(to_rgb(colour))
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.array(BLINDNESS[seen_by]) @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(xyz @ linear / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("seen_by", BLINDNESS)
def test_the_first_six_own_colours_are_far_apart_for_everybody(seen_by):
    """At least ten in CIELAB, where two is just visible."""
    for one, other in combinations(OWN[:6], 2):
        assert np.linalg.norm(lab(one, seen_by) - lab(other, seen_by)) > 10, (one, other)


def test_the_first_six_own_colours_are_no_built_in_policy_s():
    """A reader knows those from other figures."""
    assert not {colour for colour, _ in styles().values()} & set(OWN[:6])


def test_a_policy_under_its_own_name_has_its_own_line():
    """Also after one with other parameters, and after policies of one's own."""
    looks = looks_of({"Mine": "Mine", "UCB.for_rho": "UCB", "a": "MedEUCB", "UCB": "UCB"})
    assert looks["UCB"][:2] == styles()["UCB"]
    assert looks["a"][:2] == styles()["MedEUCB"]
    assert looks["UCB.for_rho"][0] == styles()["UCB"][0]
    assert looks["UCB.for_rho"] != looks["UCB"]


def test_every_built_in_policy_has_a_look_of_its_own():
    """A pair of colour and line that no other one has."""
    assert set(styles()) == set(ia.policies.__all__)
    assert len(set(styles().values())) == len(styles())


def test_a_built_in_policy_without_a_chosen_look_gets_one(monkeypatch):
    """In a colour that others have too, with another line; the chosen looks stay."""
    made = looks_for([*CHOSEN, "New", "Newer"])
    assert {name: made[name] for name in CHOSEN} == CHOSEN
    assert len(set(made.values())) == len(CHOSEN) + 2
    assert made["New"][0] in {colour for colour, _ in CHOSEN.values()}
    monkeypatch.setattr(figures, "styles", lambda: made)
    looks = [looks_of({"Mine": "Mine", "UCB": "UCB", "New": "New"}), looks_of({"New": "New"})]
    assert looks[0]["New"][:2] == looks[1]["New"][:2] == made["New"]


def contrast(one, other):
    """The ratio of luminances that WCAG asks to be 3 for graphics."""
    shares = []
    for colour in (one, other):
        part = np.array(to_rgb(colour))
        linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
        shares.append(float(linear @ [0.2126, 0.7152, 0.0722]) + 0.05)
    return max(shares) / min(shares)


def test_every_line_can_be_seen_on_a_dark_page():
    """In its own colour, or in the one that the page puts there; black turns white."""
    page = (Path(ia.__file__).parent / "lab" / "kit" / "page.html").read_text()
    ground = re.search(r"dark\).*?--paper: (#\w+)", page, re.DOTALL)[1]
    for colour in {*OWN, *(colour for colour, _ in styles().values())} - {"#000000"}:
        assert contrast(DARK.get(colour, colour), ground) >= 3, colour


def test_twelve_own_policies_have_twelve_colours_and_none_is_grey():
    """The same class with other parameters too: authors compare their own variants."""
    styles = Styles()
    looks = [styles.next(name) for name in ["Mine"] * 6 + [f"Mine{i}" for i in range(6)]]
    assert len({colour for colour, _, _ in looks}) == 12
    assert "#7F7F7F" not in {colour for colour, _, _ in looks}


def test_own_policies_leave_the_colours_of_the_built_in_ones_alone():
    """Also those that come later in the figure."""
    names = ["Mine", "Yours", "UCB", "Theirs", "MedEUCB"]
    lines = Styles(names)
    colours = dict(zip(names, (lines.next(name)[0] for name in names), strict=True))
    assert colours["UCB"] == styles()["UCB"][0]
    assert colours["MedEUCB"] == styles()["MedEUCB"][0]
    assert len(set(colours.values())) == 5


def test_no_two_lines_have_the_same_dashes_and_marker():
    """In print without colours nothing else is left: all built-in ones, ten own."""
    lines = Styles()
    looks = [lines.next(name)[1:] for name in [*styles(), *(f"Mine{i}" for i in range(10))]]
    assert len(set(looks)) == len(looks) == len(styles()) + 10


def test_a_figure_is_written_whole_or_not_at_all(tmp_path):
    """An ending that nobody can write leaves no file; a PDF has TrueType fonts."""
    figure, axes = plt.subplots()
    axes.set_title("words")
    with pytest.raises(ValueError, match=r"must end with .pdf, .svg, .png"):
        save_figure(figure, tmp_path / "figure.doc")
    assert not list(tmp_path.iterdir())
    save_figure(figure, tmp_path / "figure.pdf")
    data = (tmp_path / "figure.pdf").read_bytes()
    assert b"/FontFile2" in data
    assert b"/Type3" not in data
    plt.close(figure)


def fonts(pdf: bytes) -> set[bytes]:
    """Return the kinds of the fonts in a PDF."""
    return set(re.findall(rb"/Subtype\s*/(Type3|TrueType|CIDFontType2|Type1)\b", pdf))


def test_a_pdf_embeds_truetype_fonts(tmp_path):
    """Journals refuse Type 3 fonts; Greek letters and mathematics are text, too."""
    figure, axes = pyplot().subplots(layout="constrained")
    axes.set(title="ρ = 0.3", xlabel=r"$\log_{10} T$")
    found = fonts(write_figure(figure, tmp_path, "figure")["pdf"])
    assert b"Type3" not in found
    assert found & {b"TrueType", b"CIDFontType2"}


def test_a_plot_of_a_result_does_so_too(tmp_path):
    """`Result.plot` writes its own file."""
    result = ia.simulate(
        ia.UCB(), ia.GaussianBandit([0, 1]), horizon=50, trials=2, seed=1, progress=False
    )
    pyplot().close(result.plot(tmp_path / "result.pdf"))
    assert b"Type3" not in fonts((tmp_path / "result.pdf").read_bytes())
