"""What the rooms of the lab share: the page, statistics, tables, figures, evidence."""
