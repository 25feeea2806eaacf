"""`ironarm radio`, all of its verbs: what they do, print and refuse.

It covers the modules of `commands/radio/`; a mistake gets a sentence and exit code 2.
"""

import io
import json
import os
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress

import pytest

from ironarm.cli import main
from ironarm.commands.radio import SUBVERBS, virtual
from ironarm.commands.radio.results import table
from ironarm.errors import NodeLost
from ironarm.radio.testbed.closed_loop import run
from ironarm.radio.testbed.config import RadioConfig
from ironarm.radio.testbed.live_view import LiveView
from ironarm.radio.testbed.records import Round, RunRecord

SHORT = [
    "radio",
    "run",
    "--rounds",
    "200",
    "--seed",
    "7",
    "--policy",
    "MedEUCB(block=90)",
    "--jammer",
    "best",
    "--rho",
    "0.3",
]


def test_a_run_prints_lines_and_a_summary(tmp_path, capsys):
    """The summary goes to standard output, lines to standard error."""
    assert main([*SHORT, "--save", str(tmp_path / "run.json")]) == 0
    captured = capsys.readouterr()
    result = RunRecord.load(tmp_path / "run.json")
    lines = [line for line in captured.err.splitlines() if not line.startswith("compiling")]
    assert len(lines) == 10
    assert captured.err.splitlines()[-1].startswith("round   200  ")
    assert f"regret {result.rounds[-1].regret:.0f} dB" in captured.out
    assert (
        "200 rounds of MedEUCB(b=4.0, omega=4.0, block=90), jammer 'best' with rho = 0.3, seed 7"
        in captured.out
    )
    assert f"wrote {tmp_path / 'run.json'}" in captured.out
    assert (
        "\nmeasured dB: the mean of the packets that were neither jammed nor missed\n"
        in captured.out
    )


def test_the_summary_says_what_the_jammer_leaves(capsys):
    """Jammed packets have a column; with --same-power the heading says so.

    Channel 0 is left at 10 dB by default, at 7.5 dB by a jammer of the same power: 27
    jammed packets, spread 1 dB, five standard errors.
    """
    for more, left in (([], 10), (["--same-power"], 7.5)):
        assert main([*SHORT, *more]) == 0
        printed = capsys.readouterr().out
        assert ("0.3, the same power in all channels, seed" in printed) == bool(more)
        row = next(line for line in printed.splitlines() if line.startswith("      0  1200.0"))
        assert float(row.split()[4]) == pytest.approx(left, abs=1)


def test_the_summary_names_rho_only_where_it_has_an_effect_and_counts_in_english(capsys):
    """A list with a probability for each channel has no rho; "1 packet" is singular."""
    assert (
        main(
            [
                "radio",
                "run",
                "--rounds",
                "90",
                "--policy",
                "MedEUCB(block=90)",
                "--jammer",
                "0,0,0,0,0",
            ]
        )
        == 0
    )
    assert ", jammer 0,0,0,0,0, seed 1, " in capsys.readouterr().out
    assert (
        table(RunRecord(RadioConfig(), [Round(0, 0, 1.0, True, False, 1.0, 0.0, 1)], 1.0))
        .splitlines()[-1]
        .startswith("1 packet jammed, 0 missed, 1 round repeated; ")
    )


def test_json_has_the_rounds_of_the_library(capsys):
    """The same call in Python gives the same rounds."""
    assert main([*SHORT, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    result = run(
        RadioConfig.of(
            {
                "rounds": 200,
                "seed": 7,
                "agent": {"policy": "MedEUCB(block=90)"},
                "jammer": {"strategy": "best", "rho": 0.3},
            }
        )
    )
    assert data["rounds"]["sinr_db"] == [record.sinr_db for record in result.rounds]
    assert data["summary"]["regret"] == result.rounds[-1].regret


def test_calibrate_then_run(tmp_path, capsys):
    """The calibration's levels put the channels where they belong."""
    assert main(["radio", "calibrate", "--out", str(tmp_path / "c.json"), "--note", "bench 1"]) == 0
    assert "wrote" in capsys.readouterr().out
    assert json.loads((tmp_path / "c.json").read_text())["note"] == "bench 1"
    assert (
        main(
            [
                "radio",
                "run",
                "--rounds",
                "90",
                "--policy",
                "MedEUCB(block=90)",
                "--rho",
                "0",
                "--calibration",
                str(tmp_path / "c.json"),
                "--json",
            ]
        )
        == 0
    )
    measured = json.loads(capsys.readouterr().out)["summary"]["clean_sinr_db"]
    # 18 packets each with a spread of 1 dB: four standard errors, and 0.2 dB
    assert measured == pytest.approx([41, 37, 35, 31, 28], abs=1.2)


HARDWARE = """
round_seconds = 1
[hardware]
bands_mhz = [[1199.5, 1202.5]]
max_gain_db = 30
setup = "conducted"
[hardware.devices]
tx = "driver=null"
rx = "driver=null"
jammer = "driver=null,serial=1"
noise = "driver=null,serial=2"
"""
TRANSLATED = HARDWARE.replace('"conducted"', '"conducted"\nfrequency_translation_hz = -1.18e9')


@pytest.mark.parametrize(
    ("arguments", "config", "message"),
    [
        (["run", "--policy", "MedUCB"], None, "Did you mean 'MedEUCB'"),
        (["run", "--jammer", "bset"], None, "the jammer's strategy must be"),
        (["run", "--jammer", "0,3"], None, "one probability for each of the 5 channels"),
        (
            ["run", "--jammer", "0.5,0,0,0,0", "--rho", "0.3"],
            None,
            "--rho has no effect with the jammer 0.5,0,0,0,0",
        ),
        (
            ["run", "--rho", "0.3"],
            "[jammer]\nstrategy = 'trace:f'",
            "--rho has no effect with the jammer 'trace:f'",
        ),
        (["run", "--rounds", "0"], None, "rounds must be"),
        (["run", "--config", "no-such-file.toml"], None, "cannot be read"),
        (["run", "--calibration", "no-such-file.json"], None, "cannot be read"),
        (["run"], "roundz = 5", "Did you mean 'rounds'"),
        (["calibrate"], "[channels]\nmeans = [60, 37, 35, 31, 28]", "channel 0 cannot reach 60 dB"),
        (["calibrate"], HARDWARE, "the transmitter transmits on hardware"),
        (
            ["calibrate"],
            HARDWARE.replace('noise = "driver=null,serial=2"', "[processes]\nnoise_node = false"),
            "needs one for the noise source",
        ),
        (["calibrate", "--out", "no/such/folder.json"], None, "there is no folder"),
        (
            ["node", "tx", "--acknowledge-transmitting", "conducted"],
            HARDWARE + "[channels]\nbase_mhz = 1200.5\n",
            "from 1202.25 to 1202.75 MHz, outside",
        ),
        (
            ["node", "noise", "--acknowledge-transmitting", "conducted"],
            TRANSLATED,
            "device itself (frequency_translation_hz = -1.18e+09) would transmit from 19.75 to "
            "20.25 MHz",
        ),
        (["node", "txx"], None, "Did you mean 'tx'"),
        (["run"], HARDWARE, "add --processes"),
        (["run", "--processes"], HARDWARE, "ironarm: the transmitter transmits on hardware"),
        (["node", "rx"], HARDWARE.replace("jammer =", "noise_ ="), "Did you mean 'noise'"),
        (
            ["node", "rx"],
            HARDWARE.replace('jammer = "driver=null,serial=1"', ""),
            "but none for jammer",
        ),
        (["node", "tx"], HARDWARE, "add --acknowledge-transmitting conducted"),
        (["node", "jammer"], HARDWARE, "the jammer transmits on hardware"),
        (["node", "noise"], HARDWARE, "the noise source transmits on hardware"),
        (
            ["node", "jammer", "--acknowledge-transmitting", "licensed"],
            HARDWARE,
            "says 'licensed', but the configuration says setup = 'conducted'",
        ),
        (
            ["node", "tx", "--acknowledge-transmitting", "conducted"],
            HARDWARE.replace("max_gain_db = 30\n", ""),
            "needs max_gain_db",
        ),
        (
            ["node", "tx", "--acknowledge-transmitting", "conducted"],
            HARDWARE + "[hardware.gains_db]\ntx = 31\n",
            "above the configured cap",
        ),
    ],
)
def test_mistakes_get_a_sentence_and_exit_code_2(arguments, config, message, tmp_path, capsys):
    """On standard error; hardware is refused before any device is touched."""
    if config is not None:
        path = tmp_path / "config.toml"
        path.write_text(config)
        arguments = [*arguments, "--config", str(path)]
    assert main(["radio", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.splitlines()[-1].startswith("ironarm: ")


def test_processes_get_free_ports_unless_the_file_names_them(tmp_path, monkeypatch):
    """Also when there is a file, so that two runs at once do not collide."""
    seen = []
    monkeypatch.setattr(
        "ironarm.radio.network.processes.run_processes",
        lambda configured, *_, **__: (
            seen.append(configured.processes)
            or RunRecord(configured, [Round(0, 0, 1.0, False, False, 1.0, 0.0)], 1.0)
        ),
    )
    path = tmp_path / "bench.toml"
    for text in ("rounds = 100", "[processes]\nport = 6000"):
        path.write_text(text)
        assert main(["radio", "run", "--processes", "--rounds", "200", "--config", str(path)]) == 0
    assert [(times.port, times.ack_port) for times in seen] == [(0, 0), (6000, 0)]


@pytest.mark.parametrize("ports", ["1.5,0,0", "0,65536,0", "-1,0,0", "0,0,inf"])
def test_ports_of_virtual_radios_are_whole_numbers(ports, capsys):
    """1.5 is not port 1."""
    assert main(["radio", "virtual", f"--ports={ports}"]) == 2
    assert "ironarm: a port must be a whole number" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--devices=a,,b", "a name of its own, got 'a', '', 'b'"),
        ("--sinr=1,2", "--sinr must have one"),
        ("--sinr=-4000*5", "(--sinr)"),
    ],
)
def test_mistakes_in_the_virtual_radios_options_name_the_option(option, message, capsys):
    """Not what is made of it."""
    assert main(["radio", "virtual", option]) == 2
    assert message in capsys.readouterr().err


def test_virtual_radios_that_run_out_of_file_descriptors_say_so():
    """And end: before, the command went on without its server."""
    resource = pytest.importorskip(
        "resource", reason="NOT TESTED: this system has no limit on open files"
    )
    code = (
        "import resource, sys; from ironarm.cli import main; "
        "resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)); raise "
        "SystemExit(main(sys.argv[1:]))"
    )
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 60
    with (
        subprocess.Popen(
            [sys.executable, "-c", code, "radio", "virtual", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
        ExitStack() as links,
    ):
        port = int(json.loads(process.stdout.readline())["devices"]["jammer"].rpartition("=")[2])
        with suppress(OSError):  # it may have ended before the last
            for _ in range(45):
                links.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
        try:
            _, errors = process.communicate(timeout=120)
        finally:
            process.kill()
    assert (process.returncode, "Too many open files. Allow more open files" in errors) == (2, True)


@pytest.mark.parametrize(
    ("error", "code"), [(NodeLost("the jammer did not return."), 2), (KeyboardInterrupt(), 130)]
)
def test_a_run_that_ends_early_saves_what_was_played(error, code, tmp_path, monkeypatch, capsys):
    """And says so; the exit code is that of the reason."""

    def cut_off(configured, on_round, *_, **__):
        for number in (1, 0):
            on_round(Round(number, 0, 1.0, False, False, 1.0, 0.0))
        raise error

    monkeypatch.setattr("ironarm.radio.network.processes.run_processes", cut_off)
    path = tmp_path / "run.json"
    assert main([*SHORT, "--processes", "--save", str(path)]) == code
    assert [record.round for record in RunRecord.load(path).rounds] == [0, 1]
    assert f"wrote the 2 rounds played so far to {path}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "message"), [("none/run.json", "there is no folder"), (".", "is a folder")]
)
def test_where_to_save_is_checked_before_the_run(name, message, tmp_path, capsys):
    """No round is played."""
    assert main([*SHORT, "--save", str(tmp_path / name)]) == 2
    assert message in capsys.readouterr().err.splitlines()[0]


def test_help_shows_examples_without_the_compiler():
    """Each subverb's own; for `ironarm radio` one of each."""
    code = (
        "import sys\nfrom ironarm.cli import main\ntry: main(sys.argv[1:])\nexcept SystemExit: "
        "pass\nassert 'numba' not in sys.modules"
    )
    for arguments, shown in (
        ([], list(SUBVERBS)),
        (["run", "--help"], ["run"] * 3),
        (["node", "--help"], ["node"] * 2),
        (["probe", "--help"], ["probe"] * 2),
    ):
        output = subprocess.run(
            [sys.executable, "-c", code, "radio", *arguments],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert [
            line.split()[2] for line in output.split("examples:")[1].strip().splitlines()
        ] == shown


def test_help_and_tuning_are_in_plain_words(capsys):
    """Commands are called so, and a shift of the frequency is said and shown."""
    assert main(["radio"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "COMMAND" in shown
    assert "SUBVERB" not in shown
    assert "it only observes, and can join a running run" in shown
    assert "what is received on all five channels" in shown
    assert "minus 1180 MHz (1200 MHz: 20 MHz), at 1.25 MS/s" in virtual.tuning(-1180e6)
    assert "plus 10 MHz (1200 MHz: 1210 MHz)" in virtual.tuning(10e6)


COMPILED_FOR_A_RUN = [
    "compiling MedEUCB",
    "compiling measure",
]


def test_a_run_says_what_it_compiles_and_counts_it_not(tmp_path):
    """At once, before the first round; in the next process there is nothing to say."""
    said = []
    for _ in range(2):
        run = subprocess.run(
            [sys.executable, "-m", "ironarm", "radio", "run", "--rounds", "10", "--json"],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "IRONARM_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"},
        )
        assert json.loads(run.stdout)["summary"]["seconds"] < 2
        said.append([line for line in run.stderr.splitlines() if not line.startswith("round")])
    begun = [line for line in said[0] if line.startswith("compiling ")]
    compiled = [line.split(" (")[0] for line in begun]
    assert compiled in ([], COMPILED_FOR_A_RUN)  # nothing, if it comes with this install
    assert all(line.endswith("; kept for the next time)") for line in begun)
    others = [line for line in said[0] if line not in begun]
    assert all(line.startswith(("still compiling ", "compiled in ")) for line in others)
    assert said[1] == []


def test_the_terminal_shows_nothing_but_text_before_the_first_round():
    """A table would hide the cursor while policies are compiled or nodes start."""
    screen = io.StringIO()
    with LiveView(RadioConfig.of({"rounds": 3}), terminal=True, stream=screen) as view:
        view.say("compiling MedEUCB")
        assert screen.getvalue() == "compiling MedEUCB\n"
    assert screen.getvalue() == "compiling MedEUCB\n"


def test_the_terminal_shows_atable():
    """With the channel in use, its SINR, jammed or missed, pulls and regret."""
    screen = io.StringIO()
    with LiveView(RadioConfig.of({"rounds": 3}), terminal=True, stream=screen) as view:
        view.show(Round(0, 2, 34.8, False, False, 34.8, 6.0))
        view.say("the jammer is back")
        view.show(Round(1, 4, 5.2, True, False, 5.2, 19.0))
        view.show(Round(2, 4, -20.0, True, True, -20.0, 32.0))
    shown = screen.getvalue()
    assert "the jammer is back" in shown
    assert "round 3 of 3   regret 32 dB" in shown
    assert "<- missed" in shown
    assert "34.8" in shown


def test_a_terminal_that_is_gone_does_not_hide_why_the_run_ended():
    """Before, rounds were not saved when a terminal was closed."""

    class Screen(io.StringIO):
        gone = False

        def write(self, text):
            if self.gone:
                raise OSError("Input/output error")
            return super().write(text)

    def close(view):
        view.show(Round(0, 2, 34.8, False, False, 34.8, 6.0))
        screen.gone = True
        raise KeyboardInterrupt

    screen = Screen()
    with (
        pytest.raises(KeyboardInterrupt),
        LiveView(RadioConfig.of({"rounds": 3}), terminal=True, stream=screen) as view,
    ):
        close(view)
