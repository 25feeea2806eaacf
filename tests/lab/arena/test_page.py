"""The arena's page can be read: on a phone, in grey, column by column."""

import re
from dataclasses import replace

import numpy as np
import pytest

from ironarm.lab.arena import report
from ironarm.lab.arena.figures import in_setting, overview
from ironarm.lab.arena.read import read_arena
from ironarm.lab.arena.runner import ArenaFindings, PolicyScore
from ironarm.lab.kit.statistics import Estimate
from ironarm.show.figures import pyplot
from tests.browser import opened


@pytest.fixture(scope="module")
def findings():
    """The whole arena in two of its settings, with invented scores.

    Regrets go from 0.6 to a million, as real ones do.
    """
    arena = read_arena()
    arena = replace(arena, settings=(arena.settings[0], arena.settings[3]))
    made = ArenaFindings(
        arena,
        nanoseconds={name: 20.0 * (i + 1) for i, name in enumerate(arena.policies)},
        seconds=1.0,
    )
    draw = np.random.default_rng(1)
    for setting, rho in arena.places:
        made.worst_floor[setting.name, rho] = 740.0
        made.unknown_floor[setting.name, rho] = 1170.0
        for attack in arena.attacks_in(setting):
            made.within_model[attack] = arena.attack(attack, setting, rho).within_model
            made.attack_floor[setting.name, rho, attack] = 510.0
            made.scores[setting.name, rho, attack] = {
                policy: score(10 ** draw.uniform(-0.2, 6), draw.random())
                for policy in arena.policies
            }
    return made


def score(regret, stuck):
    """Return a score with intervals."""
    return PolicyScore(
        Estimate(regret, 0.8 * regret, 1.3 * regret),
        regret,
        Estimate(stuck, 0.9 * stuck, min(1.0, 1.1 * stuck)),
        1 - stuck,
    )


@pytest.fixture(scope="module")
def page(findings, tmp_path_factory):
    """The page of these findings."""
    out = tmp_path_factory.mktemp("arena")
    report._write(findings, out, "ironarm arena", "")
    return (out / "report.html").read_text()


def test_it_opens_in_a_browser(page, findings, tmp_path):
    """With all its names, from a phone to a large screen, in several fonts.

    No page is wider than its window, no table wider than its box, no cell cut or
    hidden, no word of a heading split. Every panel keeps its title in sight, also where
    its picture is scrolled to the end.
    """
    for width, lines in opened(page, tmp_path).items():
        assert (width, lines["tables"], lines["cut"]) == (width, str(page.count("<table")), "0")
        assert (width, lines["broken"]) == (width, "0")
        assert (width, lines["titles"]) == (width, str(len(findings.arena.places)))
        assert float(lines["smallest"]) >= 7


def lightness(colour):
    """Return CIE L* of a colour: 0 is black, 100 is white."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    luminance = float(np.dot(linear, (0.2126, 0.7152, 0.0722)))
    return 116 * np.cbrt(luminance) - 16 if luminance > 0.008856 else 903.3 * luminance


def shades(figure, values):
    """Return how light these values are in a heat map."""
    image = figure.axes[0].images[0]
    pyplot().close(figure)
    return [lightness(image.cmap(image.norm(value))) for value in values]


def test_the_heat_map_separates_4_from_60_from_1000(findings):
    """In grey too: they are 25 steps of lightness apart, of the 100 that there are.

    Equal ratios are equal steps, to a quarter; and the more regret, the darker.
    """
    setting, rho = findings.arena.places[0]
    for figure in (overview(findings), in_setting(findings, setting, rho)):
        one, four, sixty, thousand = shades(figure, [1, 4, 60, 1000])
        assert one - 20 > four
        assert four - 25 > sixty
        assert sixty - 25 > thousand
    steps = -np.diff(shades(overview(findings), 10 ** np.linspace(0, 3, 13)))
    assert steps.min() > 0.75 * steps.mean()
    assert steps.max() < 1.25 * steps.mean()


def test_every_number_can_be_read_on_its_shade(findings):
    """The contrast of text and background is at least 4.5, as WCAG asks for."""
    setting, rho = findings.arena.places[0]
    figure = in_setting(findings, setting, rho)
    axes = figure.axes[0]
    image = axes.images[0]

    def luminance(colour):
        light = lightness(colour)
        return ((light + 16) / 116) ** 3 if light > 8 else light / 903.3

    from matplotlib.colors import to_rgb

    assert len(axes.texts) == image.get_array().size
    for text in axes.texts:
        column, row = (int(place) for place in text.get_position())
        behind = luminance(image.cmap(image.norm(image.get_array()[row, column])))
        ink = luminance(to_rgb(text.get_color()))
        assert (max(ink, behind) + 0.05) / (min(ink, behind) + 0.05) >= 4.5
    pyplot().close(figure)


def test_numbers_of_one_table_have_one_format(findings):
    """In each column all numbers have as many decimals; all regrets of a table have."""
    setting, rho = findings.arena.places[0]
    standings, cases = (
        report.standings_table(findings),
        report._setting_table(findings, setting, rho),
    )
    for table in (standings, cases):
        for column in range(1, len(table.head)):
            # not the rho of a place, nor the numbers in names
            cells = [re.sub(r"ρ\s=\s[\d.]+|[A-Za-z]\w*", "", row[column]) for row in table.body]
            assert len({decimals(cell) for cell in cells if re.search(r"\d", cell)}) <= 1
    regrets = [
        row[table.head.index(name)]
        for name in ("worst case", "without attack", "outside the model")
        for row in cases.body
    ]
    assert len({each for cell in regrets for each in decimals(cell)}) == 1


def decimals(cell):
    """Return the numbers of decimals that occur in a cell, in the order they do."""
    return tuple(
        len(number.partition(".")[2]) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", cell)
    )


def test_small_regrets_keep_a_decimal(findings):
    """Where the smallest worst case has one digit before the point."""
    setting, rho = findings.arena.places[0]
    small = ArenaFindings(**vars(findings))
    small.scores = {
        group: {
            policy: replace(one, regret=Estimate(*(x / 1e6 for x in vars(one.regret).values())))
            for policy, one in scores.items()
        }
        for group, scores in findings.scores.items()
    }
    table = report._setting_table(small, setting, rho)
    assert {len(row[7].partition(".")[2]) for row in table.body} == {1}


def test_the_page_says_rho_in_one_way(page):
    """As the letter, in all that is read; what is typed has its name."""
    words = re.sub(r"<(svg|style|code|script)\b.*?</\1>|<[^>]+>", " ", page, flags=re.DOTALL)
    assert not re.search(r"\brho = ", words)
    assert "ρ = " in words
