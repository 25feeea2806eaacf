"""The report's tables of the theory: what does not apply is no number there."""

from ironarm.lab.studies.read import read_study
from ironarm.lab.studies.tables import TABLES


def test_cells_of_the_report_say_where_a_theorem_does_not_apply():
    """In words for readers, as nothing with a remark for machines."""
    (table,) = TABLES["theory"](None, {"title": "The theory"})
    column = table.head.index("radio 0.3")
    shown = {row[0]: row[column] for row in table.body}
    data = {row["quantity"]: row for row in table.data}
    for quantity in ("Theorem 1 bound", "Theorem 2 bound"):
        assert shown[quantity] == "does not apply: T ≤ G"
        assert data[quantity]["radio 0.3"] is None
    assert shown["Corollary 2 needs c above"] == "585.00"
    assert "longer than a block" in table.note


def test_the_report_has_the_lemmas_after_the_theorems():
    """Bound, measured and ratio: as text for readers, as numbers for machines."""
    kinds = [table["kind"] for table in read_study("synthetic").show["tables"]]
    assert kinds[kinds.index("theory") + 1] == "lemmas"
    (table,) = TABLES["lemmas"](None, {"title": "The lemmas"})
    assert table.head[-3:] == ("bound", "measured", "bound / measured")
    (row,) = (row for row in table.body if row[0] == "1, low")
    assert row[2:6] == ("40", "0.2", "0.3", "0.4848")
    assert row[6].startswith("0.10 ± ")
    assert row[7] == "4.8"
    assert {data["lemma"] for data in table.data} == {1, 2, 3}
    assert all(data["ratio"] == data["bound"] / data["measured"] for data in table.data)
    assert "malicious adversary" in table.note
    assert "ρ" in table.note
    assert "rho" not in table.note
