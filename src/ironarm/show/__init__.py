"""How things look: curves and figures, tables as text, notebooks."""
