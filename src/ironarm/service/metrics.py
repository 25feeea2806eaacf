"""What Prometheus reads. Counting costs nothing until it asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST as CONTENT_TYPE
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from .node import Node

__all__ = ["CONTENT_TYPE", "exposition"]


class _Counts:
    def __init__(self, node: Node) -> None:
        self._node = node

    def collect(self) -> Iterator[Any]:
        """Yield all counts."""
        node = self._node
        requests = CounterMetricFamily(
            "ironarm_requests", "Requests by route and status", labels=["route", "status"]
        )
        for (route, status), count in sorted(node.counts.requests.items()):
            requests.add_metric([route, str(status)], count)
        yield requests
        seconds = CounterMetricFamily(
            "ironarm_request_seconds", "Time spent on requests", labels=["route"]
        )
        for route, spent in sorted(node.counts.seconds.items()):
            seconds.add_metric([route], spent)
        yield seconds
        events = CounterMetricFamily(
            "ironarm_events", "Decisions, rewards and refusals", labels=["agent", "kind"]
        )
        for (agent, kind), count in sorted(node.counts.events.items()):
            events.add_metric([agent, kind], count)
        yield events
        yield CounterMetricFamily("ironarm_commits", "Transactions", value=node.writer.commits)
        yield GaugeMetricFamily(
            "ironarm_waiting", "Operations that wait for a commit", value=node.writer.waiting
        )
        yield GaugeMetricFamily("ironarm_agents", "Agents", value=len(node.names()))
        ready = node.ready and not node.writer.failing
        yield GaugeMetricFamily("ironarm_ready", "Whether the node can serve", value=ready)


def exposition(node: Node) -> bytes:
    """Return all counts in Prometheus' text format."""
    registry = CollectorRegistry()
    registry.register(_Counts(node))  # type: ignore[arg-type]
    return generate_latest(registry)
