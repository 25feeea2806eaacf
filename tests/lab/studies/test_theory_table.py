"""The report's table of the theory: what does not apply is no number there."""

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
