"""The virtual radio: a TCP server that SoapySDR's Red Pitaya driver takes for radios.

All that a real radio goes through (SoapySDR, its driver, streams, threads, read-back)
runs without a radio, on the simulated medium. Each device has a port. The driver opens
two connections to send and two to receive. The first 32-bit word on each says what the
connection is for:

    0  control of the receiver        words: a frequency in Hz, or 2^28 + a rate code
    1  samples to the receiver        pairs of 32-bit floats
    2  control of the transmitter
    3  samples from the transmitter

*Time is virtual.* The clock is the count of delivered samples. It never runs faster
than a real radio's, and waits for slow receivers and for the rest of a burst: on a busy
machine everything slows down and nothing is lost. `realtime=True` keeps to the wall
clock instead, as radios do, and drops (and counts) what a receiver does not read in
time.

The driver reads only when everything it asked for has arrived. If the TCP window closes
on a part of that, it may never open again: the kernel keeps the memory of what was read
until the rest of the segment is read too. So samples go out in units of 1024,
SoapySDR's default, and only when the window holds a whole unit. A client must read 1024
samples at once, or parts or multiples of that which the window holds.

The driver's limits: 0 to 60 MHz (hence `TRANSLATION_HZ`), no gain, no time stamps. The
medium's limit: 1.25 MS/s, one channel.
"""

from __future__ import annotations

import contextlib
import errno
import selectors
import socket
import struct
import threading
from collections.abc import Mapping, Sequence
from time import monotonic

import numpy as np

from ...errors import InvalidInput, RadioFault
from ..backends.protocol import Closing
from ..signal.medium import Medium
from .device import (
    TX_SAMPLES,
    UNIT_BYTES,
    Device,
    Direction,
    prepare,
    window,
)
from .streaming_medium import BLOCK, RATE_HZ, StreamingMedium

TRANSLATION_HZ = -1180e6
"""What a device is tuned to, minus the frequency on the air.

1200 MHz on the air is 20 MHz for the device, as behind a transverter.
"""

BLOCK_SECONDS = BLOCK / RATE_HZ

QUIET_SECONDS = 0.002
"""When nothing more of a burst comes for this long, what has come goes on the air.

The clock stands still meanwhile.
"""

REST_SECONDS = 0.1
"""A burst is over when nothing more of it comes for this long.

A busy computer may hand it over in parts. The clock stands still at the end of a part
until the next one comes, or until this time is over.
"""

AHEAD = 1 << 18
"""Samples that a device may send ahead of the clock; beyond that it has to wait."""

LATE_SECONDS = 0.05
"""How much the clock may lag behind before it gives up catching up."""


class VirtualRadio(Closing):
    """Virtual devices on one medium, served by a thread of their own.

    Use it in a `with` block.

    Parameters
    ----------
    medium : what is between the devices. The device called "transmitter" gets a path of
        its own for each burst, as packets do.
    devices : names of the devices, which are those of the medium's emitters.
    ports : a port for each device; None for free ones.
    realtime : keep to the wall clock, and drop blocks that a receiver does not take in
        time.
    translation_hz : what a device is tuned to, less what that is on the air, in Hz.
    host : the address to listen on.

    Examples
    --------
    >>> with VirtualRadio(Medium(noise=[1e-3] * 5)) as virtual:
    ...     sorted(virtual.arguments("receiver"))
    ['addr', 'driver', 'port']
    """

    def __init__(
        self,
        medium: Medium,
        devices: Sequence[str] = ("transmitter", "jammer", "receiver"),
        *,
        ports: Sequence[int] | None = None,
        realtime: bool = False,
        translation_hz: float = TRANSLATION_HZ,
        host: str = "127.0.0.1",
    ) -> None:
        if ports is not None and len(ports) != len(devices):
            raise InvalidInput(
                f"ports must have one number for each of the {len(devices)} devices, got "
                f"{len(ports)}."
            )
        self.stream, self.realtime, self.translation_hz, self.host = (
            StreamingMedium(medium, devices),
            realtime,
            translation_hz,
            host,
        )
        self.complaints: list[str] = []
        """Requests of clients that cannot be met.

        The protocol has no message for them, so these clients are cut off.
        """
        self._failure: BaseException | None = None
        self._selector = selectors.DefaultSelector()
        self._strangers: dict[socket.socket, Device] = {}
        self._devices: dict[str, Device] = {}
        self._wake, self._waker = socket.socketpair()
        self._closing = False
        self._standing_until = 0.0
        try:
            for name, port in zip(devices, ports or [0] * len(devices), strict=True):
                listener = socket.create_server((host, port))
                listener.setblocking(False)
                prepare(listener)
                self._devices[name] = Device(name, listener)
                self._selector.register(listener, selectors.EVENT_READ)
        except OSError as error:
            self._close_sockets()
            raise InvalidInput(
                f"port {port} of {host} cannot be used: {error.strerror}. Choose another, or "
                "leave out ports to get free ones."
            ) from None
        self._selector.register(self._wake, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name="virtual radio", daemon=True)
        self._thread.start()

    def arguments(self, device: str) -> Mapping[str, str]:
        """Return how SoapySDR finds a device."""
        return {"driver": "redpitaya", "addr": self.host, "port": str(self._devices[device].port)}

    def overflows(self, device: str) -> int:
        """Return how many blocks were dropped because the device read too slowly.

        In virtual time it is always 0.
        """
        return self._devices[device].overflows

    @property
    def serving(self) -> bool:
        """Whether the server's thread runs; if it has failed, `close` says why."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Cut all connections and stop the thread; may be called twice.

        If the server failed by itself, its error is raised now.
        """
        self._closing = True
        with contextlib.suppress(OSError):  # the thread may have ended by itself
            self._waker.send(b"x")
        self._thread.join()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    # everything below runs in the server's thread

    def _run(self) -> None:
        try:
            self._serve()
        except OSError as error:
            more = (
                " Allow more open files (ulimit -n), or connect fewer clients."
                if error.errno in (errno.EMFILE, errno.ENFILE)
                else ""
            )
            self._failure = RadioFault(
                "the virtual radio can serve no longer, and has cut off all its clients: "
                f"{error.strerror or error}.{more}"
            )
        except BaseException as error:
            self._failure = error
        finally:
            self._close_sockets()

    def _serve(self) -> None:
        due = monotonic()
        while not self._closing:
            idle = not self._receivers() and not any(
                self.stream.waiting(name) for name in self._devices
            )
            self._take_in(None if idle else max(0.0, due - monotonic()))
            now = monotonic()
            if idle:
                due = now
                continue
            due = max(due, self._standing_until)
            if now < due:
                continue
            if self.realtime:
                # the server was late, and drops what it should have sent
                while now - due > LATE_SECONDS:
                    for device in self._receivers():
                        device.overflows += 1
                    self.stream.advance()
                    due += BLOCK_SECONDS
            elif not all(self._has_room(device.receive) for device in self._receivers()):
                due = max(due, now) + 0.0005  # the clock waits for the slowest receiver
                continue
            elif (rest := self._rest_may_come_until()) > now:
                due = rest
                continue
            for device in self._receivers():
                self._deliver(device)
            self.stream.advance()
            due = max(due + BLOCK_SECONDS, now - LATE_SECONDS)

    def _receivers(self) -> list[Device]:
        return [device for device in self._devices.values() if device.receive.ready]

    def _rest_may_come_until(self) -> float:
        """Return until when more may come of a burst that ends in the next block."""
        return max(
            (
                device.transmit.heard + REST_SECONDS
                for device in self._devices.values()
                if device.transmit.samples is not None
                and 0 < self.stream.waiting(device.name) <= BLOCK
            ),
            default=0.0,
        )

    def _deliver(self, device: Device) -> None:
        direction = device.receive
        if self.realtime and not self._has_room(direction):
            device.overflows += 1
            return
        assert direction.frequency_hz is not None
        direction.unsent += self.stream.hear(
            device.name, direction.frequency_hz - self.translation_hz
        ).tobytes()
        self._has_room(direction)

    def _has_room(self, direction: Direction) -> bool:
        """Send whole units into an open window; True if less than a unit is left."""
        connection = direction.samples
        assert connection is not None
        try:
            while len(direction.unsent) >= UNIT_BYTES and window(connection) >= UNIT_BYTES:
                direction.unsent = direction.unsent[
                    connection.send(direction.unsent[:UNIT_BYTES]) :
                ]
        except BlockingIOError:
            return False
        except OSError:
            self._drop(connection)
            return False
        return len(direction.unsent) < UNIT_BYTES

    def _take_in(self, seconds: float | None) -> None:
        """Wait for input, at most so many seconds, and handle it.

        Samples are read first and controls after them: a control that was sent before
        the samples then counts for them.
        """
        readable = {key.fileobj for key, _ in self._selector.select(seconds)}
        bursts = [
            (device, self._burst(device.transmit))
            for device in self._devices.values()
            if device.transmit.samples in readable
        ]
        for device in self._devices.values():
            for direction in device.directions:
                self._take_control(direction)
        for device, samples in bursts:
            self._send(device, samples)
        for device in self._devices.values():
            if device.receive.samples in readable:  # readable only when closed
                self._read(device.receive.samples, 4096)
            if device.listener in readable:
                try:
                    connection, _ = device.listener.accept()
                except (BlockingIOError, ConnectionError):  # the client has gone
                    continue
                connection.setblocking(False)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._strangers[connection] = device
                self._selector.register(connection, selectors.EVENT_READ)
                self._stand()
        for connection, device in list(self._strangers.items()):
            if connection in readable:
                self._introduce(connection, device)
        self._refuse_rates()
        self._hold_back()

    def _introduce(self, connection: socket.socket, device: Device) -> None:
        """Read what a new connection is for."""
        word = self._read(connection, 4)
        if not word:
            return
        role = struct.unpack("<I", word)[0] if len(word) == 4 else -1
        if role not in range(4):
            self._complain(
                f"a client of the device {device.name} began with {word!r} instead of its role, 0 "
                "to 3; is it the Red Pitaya's driver?",
                connection,
            )
            return
        del self._strangers[connection]
        direction = device.directions[role // 2]
        if role == TX_SAMPLES and direction.samples is not None:
            # the driver closed after its last burst, and has opened again
            self._send(device, self._burst(direction))
        old = direction.samples if role % 2 else direction.control
        if old is not None:
            self._drop(old)
        if role % 2:
            direction.samples, direction.unsent, direction.half_sample = connection, b"", b""
            self._stand()
        else:
            direction.control, direction.words, direction.frequency_hz, direction.rate_hz = (
                connection,
                b"",
                None,
                None,
            )

    def _stand(self) -> None:
        """Stop the clock for a moment while a device connects.

        Its first burst then is not later than others sent at the same time.
        """
        if not self.realtime:
            self._standing_until = monotonic() + QUIET_SECONDS

    def _take_control(self, direction: Direction) -> None:
        """Read all control words that have come."""
        if direction.control is None:
            return
        direction.take_words(self._read(direction.control, 4096) or b"")

    def _refuse_rates(self) -> None:
        for device in self._devices.values():
            for direction in device.directions:
                if (
                    direction.rate_hz not in (None, RATE_HZ)
                    and direction.samples is not None
                    and direction.control is not None
                ):
                    self._complain(
                        f"the device {device.name} was set to {direction.rate_hz:g} samples a "
                        f"second; the virtual radio knows only {RATE_HZ:g}.",
                        direction.control,
                    )

    def _burst(self, direction: Direction) -> bytes:
        """Return samples as bytes, all that comes until it is quiet for a moment."""
        connection = direction.samples
        assert connection is not None
        parts, size = [], 0
        with selectors.DefaultSelector() as waiting:
            waiting.register(connection, selectors.EVENT_READ)
            while size < 8 * AHEAD and waiting.select(
                0 if self.realtime and size % 8 == 0 and size else QUIET_SECONDS
            ):
                part = self._read(connection, 1 << 16)
                if not part:
                    break
                parts.append(part)
                size += len(part)
        direction.heard = monotonic()
        return b"".join(parts)

    def _send(self, device: Device, data: bytes) -> None:
        direction = device.transmit
        samples = direction.whole_samples(data)
        if not len(samples) or direction.frequency_hz is None or direction.rate_hz != RATE_HZ:
            return
        if not np.isfinite(samples).all():
            self._complain(
                f"the device {device.name} sent samples that are not finite; none of them was put "
                "on the air.",
                direction.samples,
            )
            return
        self.stream.send(
            device.name, direction.frequency_hz - self.translation_hz, samples.astype(complex)
        )

    def _hold_back(self) -> None:
        """Read a device's samples only while it is not too far ahead of the clock."""
        listened = self._selector.get_map()
        for device in self._devices.values():
            connection = device.transmit.samples
            if connection is None:
                continue
            full = self.stream.waiting(device.name) >= AHEAD
            if full and connection in listened:
                self._selector.unregister(connection)
            elif not full and connection not in listened:
                self._selector.register(connection, selectors.EVENT_READ)

    def _read(self, connection: socket.socket, count: int) -> bytes | None:
        """Return what has come, None if nothing; a closed connection is dropped."""
        try:
            data = connection.recv(count)
        except BlockingIOError:
            return None
        except OSError:
            data = b""
        if not data:
            self._drop(connection)
        return data

    def _complain(self, text: str, connection: socket.socket | None) -> None:
        self.complaints.append(text)
        if connection is None:  # already closed
            return
        for device in self._devices.values():
            for direction in device.directions:
                if connection is direction.control and direction.samples is not None:
                    self._drop(direction.samples)
        self._drop(connection)

    def _drop(self, connection: socket.socket) -> None:
        if connection in self._selector.get_map():
            self._selector.unregister(connection)
        connection.close()
        self._strangers.pop(connection, None)
        for device in self._devices.values():
            for direction in device.directions:
                if direction.samples is connection:
                    direction.samples, direction.unsent = None, b""
                elif direction.control is connection:
                    # keep what was set: a driver may open, send and close before
                    # anything is read here
                    direction.control = None

    def _close_sockets(self) -> None:
        connections = [
            connection
            for device in self._devices.values()
            for direction in device.directions
            for connection in (direction.control, direction.samples)
            if connection is not None
        ]
        for connection in (
            *connections,
            *self._strangers,
            *(device.listener for device in self._devices.values()),
            self._wake,
            self._waker,
        ):
            connection.close()
        self._selector.close()
