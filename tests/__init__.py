"""The tests; their tree mirrors that of src/ironarm."""
