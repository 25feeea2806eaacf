"""In a notebook results are tables, and progress is a bar; names are only names."""

import sys
import time
from html.parser import HTMLParser
from types import ModuleType, SimpleNamespace

import pytest

import ironarm as ia
from ironarm.show.notebook import in_notebook
from ironarm.simulation import progress

BAD = "<script>alert('$x$')</script>"


class Table(HTMLParser):
    """The cells of a page, and its elements; every element must be closed."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.open, self.cells = set(), [], []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.cells.append(data)


def test_a_result_is_a_table():
    """With the numbers of the summary; a name is text, whatever it looks like."""
    result = ia.simulate(
        {BAD: ia.UCB(), "b": ia.RUCB()}, ia.GaussianBandit([0, 1]), horizon=50, trials=2, seed=1
    )
    table = Table(result._repr_html_())
    assert "script" not in table.tags
    assert {BAD, "b", "mean regret", "2 trials of 50 rounds, seed 1"} <= set(table.cells)
    single = ia.simulate(ia.UCB(), ia.GaussianBandit([0, 1]), horizon=50, trials=1, seed=1)
    assert "1 trial of 50 rounds, seed 1" in Table(single._repr_html_()).cells
    assert Table(result.summary()._repr_html_()).cells[:3] == [
        "policy",
        "mean regret",
        "95 % interval",
    ]


def test_an_agent_is_a_table():
    """Its best arm is bold."""
    agent = ia.Agent(ia.RUCB(), arms=[BAD, "b"], seed=1)
    agent.warm_start([(BAD, 1.0), ("b", 2.5)])
    page = agent._repr_html_()
    table = Table(page)
    assert "script" not in table.tags
    assert table.cells[-4:] == ["b", "1", "0", "2.5"]
    assert page.count("font-weight: bold") == 1
    assert page.index("font-weight: bold") < page.index(">b<")


def test_a_certificate_is_a_table():
    """The same words as in print; from data, with a table of the arms."""
    certificate = ia.certify(ia.GaussianBandit([0, 2]), rho=0.1)
    table = Table(certificate._repr_html_())
    assert {"promise", "limit on rho", certificate.advice} <= set(table.cells)
    log = [(name, float(i + 40 * k)) for k, name in enumerate((BAD, "b")) for i in range(30)]
    table = Table(ia.certify(ia.ReplayBandit(log), rho=0.1)._repr_html_())
    assert "script" not in table.tags
    assert {BAD, "median", "sigma"} <= set(table.cells)


@pytest.fixture
def kernel(monkeypatch):
    """A notebook's kernel, as far as ironarm looks at it, and what it shows."""
    shown = []

    class Output:
        def update(self, page):
            shown.append(page)

    def display(page, display_id):
        assert display_id
        return Output()

    ipython, displayed = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())
    displayed.HTML, displayed.display = str, display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", displayed)
    return shown


def test_progress_is_a_bar_in_a_notebook(kernel, monkeypatch, capsys):
    """Nothing on standard error; it goes away at the end; its words are escaped."""
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(progress, "NOTEBOOK_EVERY", 0.0)
    assert in_notebook()
    with progress.Progress("a <b>", 4) as bar:
        bar.advance()
        bar.refresh()
        bar.advance(3)
        time.sleep(0.01)
        bar.refresh()
    first, last, end = kernel
    assert 'value="0.2500"' in first
    assert "25 %, about" in first
    assert "a &lt;b&gt;" in first
    assert "100 %" in last
    assert end == ""
    assert capsys.readouterr().err == ""


def test_short_work_is_silent_in_a_notebook(kernel):
    with progress.Progress("work", 4) as bar:
        bar.advance()
        bar.refresh()
    assert kernel == []


def test_a_terminal_of_ipython_is_no_notebook(monkeypatch):
    """Nor is Python alone."""
    ipython = ModuleType("IPython")
    ipython.get_ipython = lambda: SimpleNamespace()
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    assert not in_notebook()
    monkeypatch.delitem(sys.modules, "IPython")
    assert not in_notebook()
