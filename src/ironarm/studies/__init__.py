"""The paper's experiments: what is run and how it is shown."""
