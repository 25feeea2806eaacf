"""Two sweeps that the tests run, and what they wrote."""

SMALL = """
policies = ["UCB(alpha=[1, 2])", "MedEUCB", "EXP3(reward_range=(0, 4))"]
attacks = ["Constant(value=rho)", "Infinite", "NoAttack"]
rho = [0.1, 0.3]
arms = 3
gap = [0.5, 1]
horizon = 500
trials = 4
seed = 3
"""

LONGER = """
policies = "UCB(alpha=[1, 2, 3, 4, 5, 6, 7, 8])"
attacks = "OppositeUniform"
rho = 0.2
means = [0, 1, 2]
horizon = 100_000
trials = 50
seed = 3
"""
"""Eight cells of some tenths of a second."""


def written(folder, text):
    path = folder / "sweep.toml"
    path.write_text(text)
    return path


def contents(out):
    """All that a sweep has written, by name; no file is left over."""
    return {
        str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()
    }
