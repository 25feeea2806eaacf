"""What holds for every figure that ironarm writes."""

import re

import ironarm as ia
from ironarm.figures import pyplot, write_figure


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
