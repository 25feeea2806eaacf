"""The compiled chain gives the NumPy chain's SINRs, in batches of any size."""

import numpy as np
import pytest

from ironarm.normal import inverse_normal
from ironarm.radio.signal.compiled_chain import CompiledChain
from ironarm.radio.signal.kernel_parts import draw_normals, normals_of
from ironarm.radio.signal.medium import (
    Emission,
    Medium,
    Noise,
    Packet,
)
from ironarm.radio.signal.randomness import (
    STEP,
    complex_normals,
    key,
    mix,
    words,
)
from ironarm.radio.signal.receiver import Receiver


@pytest.mark.parametrize("sps", [2, 3])
@pytest.mark.parametrize("sinr_db", [60, 41, 10, 0, -6])
def test_compiled_is_numpy(sps, sinr_db):
    """Packet by packet within 0.002 dB, clean and jammed, missed ones included.

    Single precision costs up to 0.0008 dB at 60 dB; N - 1 for N - 2 in one of the
    chains would be 0.014 dB.
    """
    medium = Medium(noise=[10 ** (-sinr_db / 10)] * 5, seed=21, wander_db=1.0)
    chain = CompiledChain(Receiver(sps=sps))
    rounds = np.arange(12)
    keys = np.array([key(21, 4, i) for i in rounds])
    for jam in (0.0, 0.05):
        noise = [Emission(Noise(450), 0, "jammer", 10 * np.log10(jam), moving=False)] if jam else []
        heard = [
            medium.narrowband(
                0,
                [Emission(Packet(medium.format.symbols(i)), 0), *noise],
                sps=sps,
                trial=4,
                round_number=i,
            )
            for i in rounds
        ]
        expected = [chain.receiver.receive(samples).sinr_db for samples in heard]
        assert chain.sinr(keys, 10 ** (-sinr_db / 10), jam, 1.0, rounds) == pytest.approx(
            expected, abs=0.002
        )
        assert chain.receive(np.array(heard)) == pytest.approx(expected, abs=0.002)


def test_batch_of_one_is_batch_of_n():
    """Bit for bit, in any order and any split."""
    keys = np.array([key(3, 1, i) for i in range(40)])
    n0 = np.linspace(1e-4, 1e-2, 40)
    chain = CompiledChain()
    together = chain.sinr(keys, n0, 0.01, 1.0)
    assert np.array_equal(
        together, [chain.sinr(keys[i : i + 1], n0[i : i + 1], 0.01, 1.0)[0] for i in range(40)]
    )
    assert np.array_equal(together[::-1], chain.sinr(keys[::-1], n0[::-1], 0.01, 1.0))


def test_random_numbers_are_the_same():
    """Words bit for bit, normal numbers to 5e-5."""
    first, second = np.empty(5000, np.float32), np.empty(5000, np.float32)
    with np.errstate(over="ignore"):
        assert mix(key(9) + STEP) == words(key(9), 1)[0]
        draw_normals(
            key(9) + STEP, STEP, first, second, np.empty(5000, np.int64), np.empty(5000, np.float32)
        )
    expected = complex_normals(key(9), 5000) * np.sqrt(2)
    assert first == pytest.approx(expected.real, abs=5e-5)
    assert second == pytest.approx(expected.imag, abs=5e-5)


def test_the_single_precision_inverse_normal_is_the_double_one():
    """Within 2e-6 from the centre to 5 standard deviations, both tails."""
    centred = np.concatenate([np.linspace(-0.4999999, 0.4999999, 4001), [2**-24 - 0.5, 0.425]])
    drawn = centred.astype(np.float32)
    expected = [inverse_normal(float(u) + 0.5) for u in drawn]
    normals_of(drawn, np.empty(len(drawn), np.int64), np.empty(len(drawn), np.float32))
    assert drawn == pytest.approx(expected, abs=2e-6)
