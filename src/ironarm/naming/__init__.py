"""From text to objects: by name, in Python's notation, in one's own files, in TOML."""
