"""The table of what the theory says for the paper's own settings."""

from ironarm.theory import paper_table, paper_text


def test_the_table_has_every_quantity_in_four_columns():
    """Plain rows that a report can use, and the same as text."""
    rows = {row.quantity: row.values for row in paper_table()}
    assert set(rows["Theorem 1 bound"]) == {
        "synthetic 0.125",
        "synthetic 0.3",
        "radio 0.125",
        "radio 0.3",
    }
    assert rows["largest possible regret"]["radio 0.3"] == 26_000
    # every parameter of the experiments is far below what the theorems ask for
    assert rows["Theorem 3 needs c"]["radio 0.125"] > 6 * 10
    assert rows["Theorem 1 needs b"]["synthetic 0.3"] > 500 * 4
    # and the bounds are vacuous or nearly so, all but ironarm's
    assert rows["Theorem 1 bound"]["radio 0.125"] > rows["largest possible regret"]["radio 0.125"]
    assert rows["ironarm's bound at b = 4, omega = 4"]["radio 0.125"] < 1030
    text = paper_text()
    assert all(quantity in text for quantity in rows)
