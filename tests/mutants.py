"""Does the test suite notice wrong code? Change the code in small ways, and look.

    python tests/mutants.py                 all mutants, two at a time
    python tests/mutants.py NAME ...        these only

A mutant is one small change that a tired developer could make: a comparison the wrong
way round, a lock or a check that is gone. The tests that it names must fail then. First
they run once on unchanged code, where they must pass.

Each mutant has its own copy of `src`, so the checkout is never changed. Compiled code
of mutants goes to the folder that tests share; it does no harm there, because it is
named by the hash of the code it was made from. The exit code is 1 if a mutant survives.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from run_all import CHECKED, ROOT, compiled_code

PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
AT_ONCE = 2
PATIENCE = 300.0
"""Seconds after which a test that hangs is given up."""
PASSED, FAILED = 0, 1
"""Exit codes of pytest; all others say that the tests could not be run."""


class Mutant(NamedTuple):
    """One change of the code, and the tests that must fail because of it."""

    name: str
    file: str
    """Under src/ironarm."""
    old: str
    """It occurs once in the file."""
    new: str
    tests: tuple[str, ...]
    """Files or node ids, under tests."""

    @property
    def room(self) -> str:
        """The folder under src/ironarm."""
        return self.file.partition("/")[0]

    def applied(self, text: str) -> str:
        """Return the file's text with the change."""
        found = text.count(self.old)
        if found != 1:
            raise ValueError(f"{self.name}: its text is {found} times in {self.file}, not once.")
        return text.replace(self.old, self.new)


MUTANTS = (
    # agent
    Mutant(
        "another-reward-passes-for-the-same",
        "agent/logged.py",
        "if last.kind == kind and last.value == x:",
        "if last.kind == kind:",
        ("agent/test_durable.py::test_a_reward_twice_is_the_same_as_once",),
    ),
    Mutant(
        "hash-not-compared",
        "agent/log.py",
        "if digest != expected:",
        "if digest is None:",
        ("agent/test_durable.py::test_an_altered_log_is_found",),
    ),
    Mutant(
        "last-entry-may-be-missing",
        "agent/log.py",
        "if noted is not None and self.last < noted[0]:",
        "if noted is not None and self.last + 1 < noted[0]:",
        ("agent/test_damage.py::test_entries_missing_at_the_end_are_found",),
    ),
    Mutant(
        "repeated-request-not-found",
        "agent/log.py",
        """        if entry.decision in self._looked_up:
            self._looked_up[entry.decision].append(entry)
""",
        "",
        ("service/test_writer.py::test_the_same_request_twice_in_one_transaction_is_done_once",),
    ),
    Mutant(
        "what-was-cut-off-is-found",
        "agent/log.py",
        "        self.last, self.last_hash = mark\n        self._looked_up = {}\n",
        "        self.last, self.last_hash = mark\n",
        ("agent/test_verify.py::test_what_was_looked_up_follows_the_log",),
    ),
    Mutant(
        "prune-beyond-the-snapshot",
        "agent/log.py",
        "or found.number < number",
        "or found.number < 1",
        ("agent/test_verify.py::test_what_no_snapshot_replaces_is_not_pruned",),
    ),
    Mutant(
        "rolled-back-rows-wait-on",
        "agent/log.py",
        'nothing was appended."""\n        self.take_waiting()\n',
        'nothing was appended."""\n',
        ("agent/test_durable.py::test_a_failure_behind_the_caller_reaches_the_next_call",),
    ),
    Mutant(
        "changed-snapshot-fits",
        "agent/snapshot.py",
        "return self.whole and entry is not None and self.entry == entry",
        "return entry is not None and self.entry == entry",
        ("agent/test_verify.py::test_a_changed_snapshot_is_not_used",),
    ),
    Mutant(
        "snapshot-of-another-log-fits",
        "agent/snapshot.py",
        "return self.whole and entry is not None and self.entry == entry",
        "return self.whole and entry is not None",
        ("agent/test_verify.py::test_a_snapshot_of_another_log_is_not_used",),
    ),
    Mutant(
        "prune-does-not-seal-the-state",
        "agent/verify.py",
        "if base is None or not base.fits(prune.entry) or base.content != prune.content:",
        "if base is None or not base.fits(prune.entry):",
        ("agent/test_verify.py::test_a_changed_snapshot_of_a_pruned_log_is_refused",),
    ),
    Mutant(
        "prunes-in-the-chain-not-compared",
        "agent/verify.py",
        "if proved != self._proof:",
        "if proved is None and self._proof is not None:",
        ("agent/test_verify.py::test_a_prune_that_was_only_written_down_is_found",),
    ),
    Mutant(
        "entries-not-counted",
        "agent/verify.py",
        "if log.store.count(log.agent, last) != count:",
        "if log.store.count(log.agent, last) < count:",
        ("agent/test_verify.py::test_entries_are_counted_in_two_ways",),
    ),
    Mutant(
        "failed-commit-stays-in-memory",
        "agent/shared_log.py",
        """            self.log.roll_back()
        self._began = None
        self.replay.forget()
""",
        """            self.log.roll_back()
        self._began = None
""",
        ("agent/test_durable.py::test_a_full_disk_is_reported_and_nothing_is_stored",),
    ),
    Mutant(
        "draws-without-the-seed",
        "agent/core.py",
        "digest_size=32, key=key[:64])",
        "digest_size=32)",
        (
            "agent/test_durable.py::"
            "test_what_is_opened_again_goes_on_to_the_last_bit[ThompsonGaussian]",
        ),
    ),
    Mutant(
        "costs-are-maximised",
        "agent/core.py",
        "        if self.minimize:\n            x = -x\n",
        "",
        ("agent/test_agent.py::test_minimize_holds_for_every_way_to_learn",),
    ),
    Mutant(
        "reward-twice-in-a-batch",
        "agent/agent.py",
        "if len(set(ids)) < len(ids):",
        "if not ids:",
        ("agent/test_agent.py::test_bad_input_gets_a_sentence_and_changes_nothing",),
    ),
    # service
    Mutant(
        "writer-serves-who-has-most",
        "service/writer.py",
        "share = (room - len(taken)) // (len(agents) - place)",
        "share = room - len(taken)",
        ("service/test_writer.py::test_agents_that_want_much_share_a_turn_evenly",),
    ),
    Mutant(
        "writer-serves-who-wants-least",
        "service/writer.py",
        "agents = sorted(agents[:room], key=lambda agent: len(self._queues[agent]))",
        "agents = sorted(agents, key=lambda agent: len(self._queues[agent]))[:room]",
        (
            "service/test_writer.py::"
            "test_with_more_agents_than_a_turn_holds_none_is_served_twice_while_another_waits",
        ),
    ),
    Mutant(
        "full-queue-refuses-everybody",
        "service/writer.py",
        "if self._count >= WAITING and len(queue or ()) >= WAITING // len(self._queues):",
        "if self._count >= WAITING:",
        ("service/test_writer.py::test_who_fills_the_queue_is_refused_and_not_who_comes_then",),
    ),
    Mutant(
        "failed-transaction-stays-in-memory",
        "service/writer.py",
        """                hosted.log.take_waiting()
                hosted.replay.forget()
""",
        """                hosted.log.take_waiting()
""",
        ("service/test_writer.py::test_of_a_transaction_that_fails_nothing_is_left",),
    ),
    Mutant(
        "failed-transaction-is-stored-later",
        "service/writer.py",
        """                hosted.log.take_waiting()
                hosted.replay.forget()
""",
        """                hosted.replay.forget()
""",
        ("service/test_writer.py::test_of_a_transaction_that_fails_nothing_is_left",),
    ),
    Mutant(
        "refused-in-the-middle-stays-in-the-log",
        "service/writer.py",
        "            hosted.log.cut(start)\n",
        "",
        ("service/test_api.py::test_arms_come_and_go",),
    ),
    Mutant(
        "who-waits-for-another-node-goes-last",
        "service/writer.py",
        "self._queues.setdefault(operation.agent, deque()).appendleft(operation)",
        "self._queues.setdefault(operation.agent, deque()).append(operation)",
        ("service/test_writer.py::test_what_waits_for_another_node_keeps_its_order",),
    ),
    Mutant(
        "batch-keeps-pythons-lock-from-the-writer",
        "service/batch.py",
        "await asyncio.sleep(REST if writer.working else 0)",
        "await asyncio.sleep(0)",
        ("service/test_batch.py::test_a_batch_gives_way_to_the_writer",),
    ),
    Mutant(
        "verb-counts-what-is-repeated-as-new",
        "service/app.py",
        "if kind := self._verb.counts[not found.new]:",
        "if kind := self._verb.counts[found.new]:",
        ("service/test_api.py",),
    ),
    Mutant(
        "archived-agent-goes-on",
        "service/incoming.py",
        "            if live:\n                hosted.check_live()\n",
        "",
        ("service/test_api.py",),
    ),
    Mutant(
        "batch-holds-up-the-event-loop",
        "service/batch.py",
        "        if place % SLICE == 0:\n            await _give_way(writer)\n",
        "",
        ("service/test_batch.py::test_the_event_loop_goes_on_while_a_batch_is_answered[broken]",),
    ),
    Mutant(
        "parts-of-a-batch-count-from-zero",
        "service/batch.py",
        "part = list(enumerate(lines[start : start + AT_ONCE], start))",
        "part = list(enumerate(lines[start : start + AT_ONCE]))",
        ("service/test_batch.py::test_lines_are_known_again_by_their_place_in_the_whole_batch",),
    ),
    Mutant(
        "idempotency-key-not-compared",
        "service/hosted.py",
        "same = before == asked if before is not None else among is None or arm in among",
        "same = among is None or arm in among",
        ("service/test_api.py::test_another_request_with_the_same_key_is_refused",),
    ),
    Mutant(
        "clients-share-idempotency-keys",
        "service/hosted.py",
        "text = json.dumps([key, *request]).encode()",
        "text = json.dumps(request).encode()",
        ("service/test_api.py::test_clients_do_not_share_idempotency_keys",),
    ),
    Mutant(
        "late-reward-is-taken",
        "service/hosted.py",
        "and self.core.open.tickets[id].made < self.now() - self.reward_within",
        "and self.core.open.tickets[id].made > self.now() + self.reward_within",
        ("service/test_clock.py::test_a_reward_that_is_too_late_is_refused_however_many_are",),
    ),
    Mutant(
        "key-found-by-its-id-alone",
        "service/keys.py",
        "if key is None or not hmac.compare_digest(digest, key.hash):",
        "if key is None:",
        ("service/test_keys.py::test_a_key_is_found_by_its_whole_text",),
    ),
    Mutant(
        "revoked-key-works",
        "service/keys.py",
        "return None if key is None or key.revoked is not None else key",
        "return key",
        ("service/test_keys.py::test_a_key_is_found_by_its_whole_text",),
    ),
    Mutant(
        "key-for-one-agent-rewards-all",
        "service/incoming.py",
        "if not self.may(verb.scope, self.name):",
        "if not self.may(verb.scope, None):",
        ("service/test_api.py::test_keys_say_who_may_do_what",),
    ),
    Mutant(
        "foreign-page-may-write",
        "service/app.py",
        'foreign = origin is not None and origin.partition(b"://")[2] != host',
        'foreign = origin is not None and not origin.partition(b"://")[2]',
        ("service/test_api.py::test_foreign_pages_cannot_use_a_browser",),
    ),
    Mutant(
        "quantile-bound-one-too-high",
        "theory/from_log/tolerance.py",
        "float(self._ordered[j][k - 1]) if k else -math.inf",
        "float(self._ordered[j][k]) if k else -math.inf",
        ("theory/from_log/test_tolerance.py::test_the_room_is_what_trying_every_value_finds",),
    ),
    # engine
    Mutant(
        "compiler-imports-from-the-current-folder",
        "engine/elsewhere.py",
        'return [sys.executable, "-I", "-c", START, text]',
        'return [sys.executable, "-c", START, text]',
        ("engine/test_elsewhere.py",),
    ),
    Mutant(
        "foreign-files-stay-in-the-cache",
        "engine/kept.py",
        "        Path(entry.path).unlink(missing_ok=True)\n",
        "        pass\n",
        ("engine/test_linking.py::test_files_that_others_have_put_into_the_cache_are_not_run",),
    ),
    Mutant(
        "group-may-write-to-the-cache",
        "engine/kept.py",
        'if os.name == "posix" and stat.S_IMODE(status.st_mode) & 0o022:',
        'if os.name == "posix" and stat.S_IMODE(status.st_mode) & 0o002:',
        ("engine/test_linking.py::test_a_cache_that_others_can_write_to_is_unsafe",),
    ),
    Mutant(
        "helper-not-in-the-hash",
        "engine/linking.py",
        "text, left_out = owner._key(value, callers)",
        "text, left_out = str(value.__name__), False",
        ("engine/test_linking.py::test_an_edit_in_a_helper_file_is_never_missed",),
    ),
    Mutant(
        "streams-overlap",
        "engine/streams.py",
        "return [words[4 * i : 4 * i + 4].copy() for i in range(count)]",
        "return [words[i : i + 4].copy() for i in range(count)]",
        ("engine/test_tape.py::test_streams_differ",),
    ),
    Mutant(
        "bursts-end-at-once",
        "engine/tape.py",
        "chance = rho, rho / ((1.0 - rho) * burst), 1.0 - 1.0 / burst",
        "chance = rho, rho / ((1.0 - rho) * burst), 1.0 / burst",
        ("attacks/test_bursts.py::test_the_coin_is_the_chain_written_plainly",),
    ),
    Mutant(
        "decision-counted-twice",
        "engine/loop.py",
        "    elif opened == NOTHING_OPEN:\n        s.n[a] += 1\n",
        "    s.n[a] += 1\n",
        (
            "agent/test_late_rewards.py::"
            "test_update_closes_the_oldest_open_decision_or_is_an_extra_observation",
        ),
    ),
    Mutant(
        "regret-of-earlier-means-counted-again",
        "engine/loop.py",
        "total += gaps[a] * (n[a] - since[a])",
        "total += gaps[a] * n[a]",
        ("bandits/test_drifting.py::test_regret_is_against_the_best_arm_of_the_moment",),
    ),
    Mutant(
        "reward-that-comes-in-time-expires",
        "engine/late.py",
        "if p.expire > 0 and (wait < 0 or wait > p.expire):",
        "if p.expire > 0 and (wait < 0 or wait >= p.expire):",
        ("simulation/test_late.py::test_a_reward_that_comes_at_the_last_moment_counts",),
    ),
    Mutant(
        "told-of-another-reward-after-the-pool-has-grown",
        "engine/loop.py",
        "                x = r.reply[1]\n",
        "                x = r.reply[0]\n",
        ("simulation/test_late.py::test_an_attack_is_told_of_rounds_in_which_the_pool_grows",),
    ),
    Mutant(
        "late-reward-weighed-by-another-chance",
        "engine/late.py",
        "            s.chance[0] = p.chance[slot]\n",
        "",
        (
            "simulation/test_late.py::test_choices_are_those_of_an_agent_driven_by_hand"
            "[EXP3(reward_range=(-2, 6))-late]",
        ),
    ),
    # theory
    Mutant(
        "least-b-without-its-factor",
        "theory/ucb_parameters.py",
        "return np.maximum(omega / xi**2, 2 / (s - self.rho) ** 2), omega",
        "return np.maximum(omega / xi**2, 1 / (s - self.rho) ** 2), omega",
        ("theory/test_ucb_parameters.py::test_the_least_b_is_the_least_of_a_fine_grid",),
    ),
    Mutant(
        "search-misses-the-last-point",
        "theory/ucb_parameters.py",
        "at = np.arange(first, last + 1, step)",
        "at = np.arange(first, last, step)",
        ("theory/test_ucb_parameters.py::test_the_lowest_of_a_valley_is_found",),
    ),
    Mutant(
        "block-as-long-as-the-horizon",
        "theory/ucb_parameters.py",
        "return within if choices.block(within) < T else choices.least_b",
        "return within",
        (
            "theory/test_theorems_ucb.py::"
            "test_the_smallest_bound_is_among_blocks_shorter_than_the_horizon",
        ),
    ),
    Mutant(
        "bound-without-a-factor",
        "theory/theorems_ucb.py",
        "return 4 * omega * math.log(T) * float(",
        "return 2 * omega * math.log(T) * float(",
        ("theory/test_theorems_ucb.py::test_the_papers_settings",),
    ),
    Mutant(
        "theorem-applies-without-its-conditions",
        "theory/theorems_ucb.py",
        'object.__setattr__(self, "proved", math.inf)',
        'object.__setattr__(self, "printed", math.inf)',
        ("theory/test_theorems_ucb.py::test_the_papers_settings",),
    ),
    Mutant(
        "limit-of-the-coin-for-the-malicious",
        "theory/limits.py",
        "return Thresholds(float(unit.cdf(ratio / 4)) - 0.5, half - 0.5, 1 - 1 / (2 * half))",
        "return Thresholds(float(unit.cdf(ratio / 4)) - 0.5, 1 - 1 / (2 * half), half - 0.5)",
        ("theory/test_limits.py::test_the_thresholds_table",),
    ),
    Mutant(
        "best-arm-is-not-attacked",
        "theory/bounded.py",
        "    shown[best] -= rho\n",
        "",
        ("theory/test_bounded.py::test_the_worst_attack_swaps_two_rates_exactly_beyond_the_limit",),
    ),
    Mutant(
        "one-round-too-few",
        "theory/lemmas.py",
        "/ (2 * excess**2)) + 1)",
        "/ (2 * excess**2)))",
        ("theory/test_lemmas.py::test_n_is_the_formula",),
    ),
    # studies
    Mutant(
        "claim-judged-by-the-estimate-alone",
        "lab/studies/checking.py",
        "    if estimate.high < bound:\n        return AGREE\n",
        "    if estimate.value < bound:\n        return AGREE\n",
        ("lab/studies/test_checks.py::test_checks_of_two_sides",),
    ),
    Mutant(
        "claim-of-more-holds-at-equality",
        "lab/studies/checking.py",
        "return DISAGREE if estimate.high <= bound else CANNOT_TELL",
        "return DISAGREE if estimate.high < bound else CANNOT_TELL",
        ("lab/studies/test_checks.py::test_checks_of_two_sides",),
    ),
    Mutant(
        "median-interval-one-too-narrow",
        "lab/kit/statistics.py",
        "low, high = (ordered[k - 1], ordered[n - k]) if k else (-math.inf, math.inf)",
        "low, high = (ordered[k], ordered[n - k]) if k else (-math.inf, math.inf)",
        ("lab/studies/test_checks.py::test_the_interval_of_a_median_holds_what_it_says",),
    ),
    Mutant(
        "quantile-beyond-all-trials-is-known",
        "lab/kit/statistics.py",
        "return replace(found, high=math.inf) if quantile**n > 0.05 else found",
        "return found",
        ("lab/studies/test_checks.py::test_few_trials_say_nothing_of_a_high_quantile",),
    ),
    Mutant(
        "nothing-seen-is-certain",
        "lab/kit/statistics.py",
        "math.sqrt(p * (1 - p) / n + Z95**2 / (4 * n * n))",
        "math.sqrt(p * (1 - p) / n)",
        ("lab/studies/test_checks.py::test_few_trials_cannot_see_a_rare_event",),
    ),
    Mutant(
        "grid-goes-on-at-the-wrong-end",
        "lab/studies/tuning.py",
        "if choice.best is choice.candidates[0] else",
        "if choice.best is choice.candidates[-1] else",
        ("lab/studies/test_tuning.py::test_a_grid_goes_on_beyond_the_end_where_its_best_value_is",),
    ),
    Mutant(
        "tuned-on-the-trials-of-the-study",
        "lab/studies/runner.py",
        "                tuning.seed,\n",
        "                self._study.seed,\n",
        (
            "lab/studies/test_tuning.py::test_a_policy_is_tuned_on_other_trials_than_those_of_the_study",
        ),
    ),
    # radio
    Mutant(
        "answer-to-an-earlier-attempt-counts",
        "radio/testbed/ack.py",
        """                if answer is not None and (
                    answer.fields.get("round"),
                    answer.fields.get("attempt"),
                ) == (round_number, attempt):
""",
        """                if answer is not None and answer.fields.get("round") == round_number:
""",
        ("radio/testbed/test_ack.py::test_a_late_answer_is_not_taken_for_the_next",),
    ),
    Mutant(
        "transmitter-serves-another-run",
        "radio/testbed/ack.py",
        'if (run := message.fields.get("run")) != self._run:',
        'if (run := message.fields.get("run")) is None:',
        ("radio/testbed/test_ack.py::test_a_transmitter_of_another_run_refuses",),
    ),
    Mutant(
        "packet-of-another-round-counts",
        "radio/signal/receiver.py",
        "if not report.detected or (report.round is not None and "
        "report.round != round_number % 2**32):",
        "if not report.detected:",
        ("radio/testbed/test_closed_loop.py::test_a_packet_of_another_round_is_none",),
    ),
    Mutant(
        "sinr-with-one-symbol-too-many",
        "radio/signal/receiver.py",
        "evm = math.sqrt(left / (self.format.known_count - 2))",
        "evm = math.sqrt(left / (self.format.known_count - 1))",
        ("radio/signal/test_compiled_chain.py::test_compiled_is_numpy",),
    ),
    Mutant(
        "level-in-decibels-of-power",
        "radio/signal/medium.py",
        "(emission.power_db + path.wander_db) / 20",
        "(emission.power_db + path.wander_db) / 10",
        ("radio/signal/test_medium.py::test_several_emitters_at_once",),
    ),
    Mutant(
        "repeat-asks-for-another-round",
        "radio/testbed/round_loop.py",
        "            ack, measured = try_once(number, attempt, channel)\n        sinr",
        "            ack, measured = try_once(number + 1, attempt, channel)\n        sinr",
        ("radio/testbed/test_closed_loop.py::test_a_lost_ack_repeats_the_round_and_feeds_nothing",),
    ),
    Mutant(
        "burst-of-an-earlier-attempt-counts",
        "radio/network/hub.py",
        'role == "tx" and (fields.get("round"), fields.get("attempt")) != self.packet[:2]',
        'role == "tx" and fields.get("round") != self.packet[0]',
        ("radio/network/test_hub.py::test_a_burst_of_an_earlier_packet_is_not_taken_for_this_one",),
    ),
    Mutant(
        "device-gain-not-checked",
        "radio/backends/safety.py",
        "        self.permit.check_gain(info.gain_db)\n",
        "",
        ("radio/backends/test_safety.py::test_what_the_device_says_counts",),
    ),
    Mutant(
        "band-without-the-width",
        "radio/backends/safety.py",
        "low, high = frequency_hz + shift - width_hz / 2, frequency_hz + shift + width_hz / 2",
        "low, high = frequency_hz + shift, frequency_hz + shift",
        ("radio/backends/test_safety.py::test_a_guarded_radio_stays_within_its_permit",),
    ),
    Mutant(
        "starved-watchdog-waits-for-the-end",
        "radio/backends/safety.py",
        "                self._switch_off()\n                self._on_starved()\n",
        "                self._on_starved()\n",
        ("radio/backends/test_safety.py::test_a_lost_heartbeat_switches_off",),
    ),
    # elsewhere
    Mutant(
        "last-of-equal-arms-wins",
        "rules/highest_index.py",
        "        if index > highest:\n",
        "        if index >= highest:\n",
        ("policies/test_against_naive.py::test_live_choices[UCB-ties-none]",),
    ),
    Mutant(
        "router-is-not-asked",
        "integrations/router_slot.py",
        " and not _is_asked(router):\n",
        ' and not hasattr(router, "get_available_deployment"):\n',
        (
            "integrations/test_litellm.py::"
            "test_a_router_that_would_not_ask_is_refused_and_stays_as_it_was",
        ),
    ),
    Mutant(
        "refusals-prolong-the-rest",
        "integrations/upkeep.py",
        "        if began < self._until:\n",
        "        if began < self._until:\n            self._until = began + REST\n",
        ("integrations/test_upkeep.py::test_a_refusal_does_not_prolong_the_rest",),
    ),
    Mutant(
        "end-users-fill-the-log",
        "integrations/upkeep.py",
        " and len(said) < MOST_SAID:",
        ":",
        ("integrations/test_upkeep.py::test_troubles_that_all_differ_do_not_fill_the_log",),
    ),
    Mutant(
        "flag-tells-who-sent-a-reward",
        "integrations/openfeature.py",
        "sender = user if self._sources else None",
        "sender = user",
        ("integrations/test_openfeature.py::test_who_sent_a_reward_is_told_if_asked",),
    ),
    Mutant(
        "store-may-change-kinds",
        "testing/store.py",
        "    if repr(expected) != repr(got):\n",
        "    if expected != got:\n",
        ("agent/test_store.py::test_a_store_that_does_not_is_found_out",),
    ),
)
"""All mutants, by room."""


class Outcome(NamedTuple):
    """How a run of tests went."""

    code: int | None
    """None if it was given up."""
    seconds: float
    said: str


class Interrupted(Exception):
    """The user wants no more."""


class Processes:
    """Runs tests, and can end all that run."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._over = False

    def run(
        self, source: Path, tests: Sequence[str], *options: str, patience: float | None = None
    ) -> Outcome:
        """Run tests on the code in a folder."""
        environment = {
            **os.environ,
            **CHECKED,
            "IRONARM_CACHE_DIR": str(self._cache),
            "MPLBACKEND": "Agg",
            "PYTHONPATH": str(source),
            "PYTHONDONTWRITEBYTECODE": "",
        }
        started = time.monotonic()
        with tempfile.TemporaryFile() as said:
            with self._lock:
                if self._over:
                    raise Interrupted
                process = subprocess.Popen(
                    [*PYTEST, *options, *(f"tests/{test}" for test in tests)],
                    cwd=ROOT,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # so that what tests start can be ended with them
                )
                self._running.add(process)
            code: int | None = None
            try:
                code = process.wait(patience)
            except subprocess.TimeoutExpired:
                _end(process)
            finally:
                with self._lock:
                    self._running.discard(process)
            said.seek(0)
            text = said.read().decode(errors="replace")
        return Outcome(code, time.monotonic() - started, text)

    def end(self) -> None:
        """End what runs, and let nothing more begin."""
        with self._lock:
            self._over = True
            for process in self._running:
                _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()


def tested(mutant: Mutant, clean: Path, folder: Path, processes: Processes) -> Outcome:
    """Run a mutant's tests on a copy of the code with its change."""
    copy = folder / mutant.name
    # with the bytecode of the unchanged files, which is still right
    shutil.copytree(clean, copy)
    path = copy / "ironarm" / mutant.file
    path.write_text(mutant.applied(path.read_text("utf-8")), "utf-8")
    try:
        return processes.run(copy, mutant.tests, "-x", patience=PATIENCE)
    finally:
        shutil.rmtree(copy)


def judgement(outcome: Outcome) -> str:
    """Return what a run says of a mutant."""
    if outcome.code == FAILED:
        return "killed"
    if outcome.code == PASSED:
        return "SURVIVED"
    return "HANGS" if outcome.code is None else f"NOT RUN (exit code {outcome.code} of pytest)"


def failed_first(outcome: Outcome) -> str:
    """Return the name of the first test that failed."""
    found = re.search(r"^(?:FAILED|ERROR) \S*::(\S+)", outcome.said, re.MULTILINE)
    return found[1] if found else "a test"


def main() -> int:
    """Try mutants; the exit code is 0 if all are killed."""
    parser = argparse.ArgumentParser(description="Do the tests notice wrong code?")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a mutant; all without any")
    names = parser.parse_args().names
    known = {mutant.name: mutant for mutant in MUTANTS}
    for name in names:
        if name not in known:
            parser.error(f"there is no mutant {name!r}; the mutants are: {', '.join(known)}")
    chosen = [known[name] for name in dict.fromkeys(names)] or list(MUTANTS)
    # `kill` ends this as Ctrl-C does, so that no test runs on
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with (
        compiled_code(cold=False) as cache,
        tempfile.TemporaryDirectory(prefix="ironarm-mutants-") as folder,
    ):
        processes = Processes(cache)
        try:
            return try_all(chosen, Path(folder), processes)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            return 130


def try_all(chosen: Sequence[Mutant], folder: Path, processes: Processes) -> int:
    """Run the tests on unchanged code, then on each mutant."""
    clean = folder / "clean"
    shutil.copytree(ROOT / "src", clean, ignore=shutil.ignore_patterns("__pycache__"))
    tests = sorted({test for mutant in chosen for test in mutant.tests})
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            print(f"{len(chosen)} mutants; first their tests on unchanged code ...", flush=True)
            before = pool.submit(processes.run, clean, tests).result()
            if before.code != PASSED:
                print(before.said)
                print("The tests fail on unchanged code, so they say nothing of mutants.")
                return 1
            print(f"... passed in {before.seconds:.0f} s", flush=True)
            waiting = {
                pool.submit(tested, mutant, clean, folder, processes): mutant for mutant in chosen
            }
            alive = []
            for place, future in enumerate(as_completed(waiting), 1):
                mutant, outcome = waiting[future], future.result()
                word = judgement(outcome)
                if word != "killed":
                    alive.append(mutant.name)
                    print(outcome.said)
                by = f" by {failed_first(outcome)}" if word == "killed" else ""
                print(
                    f"{place:3} of {len(chosen)}  {mutant.name} ({mutant.file}): "
                    f"{word} in {outcome.seconds:.0f} s{by}",
                    flush=True,
                )
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            processes.end()
            raise
    print(f"{len(chosen) - len(alive)} of {len(chosen)} mutants are killed.")
    if alive:
        print(f"The tests do not notice: {', '.join(alive)}")
    return 1 if alive else 0


if __name__ == "__main__":
    raise SystemExit(main())
