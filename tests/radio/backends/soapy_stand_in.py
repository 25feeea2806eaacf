"""A stand-in for SoapySDR and one device, for what the virtual radio's driver cannot
show.
"""

# ruff: noqa: N802, N815
# the names are SoapySDR's

from types import SimpleNamespace

from ironarm.radio.backends import soapy as module
from ironarm.radio.backends.safety import TransmitRules


class Device:
    """Was left at 89 dB; takes all that is sent."""

    least, step = 0.0, 0.0

    def __init__(self, name):
        self.gain, self.frequency, self.rate, self.sent = 89.0, 0.0, 0.0, 0

    def getNumChannels(self, way):
        return 1

    def getSampleRateRange(self, way, channel):
        return []

    def setSampleRate(self, way, channel, rate):
        self.rate = rate

    def getSampleRate(self, way, channel):
        return self.rate

    def getFrequencyRange(self, way, channel):
        return []

    def setFrequency(self, way, channel, frequency):
        self.frequency = frequency

    def getFrequency(self, way, channel):
        return self.frequency

    def listGains(self, way, channel):
        return ["PA"]

    def getGainRange(self, way, channel):
        return SimpleNamespace(minimum=lambda: self.least, maximum=lambda: 89.75)

    def setGain(self, way, channel, gain):
        self.gain = gain + self.step

    def getGain(self, way, channel):
        return self.gain

    def getDriverKey(self):
        return "stand-in"

    def getHardwareInfo(self):
        return {}

    def setupStream(self, way, kind, channels):
        return way

    def activateStream(self, stream):
        return 0

    def writeStream(self, stream, buffers, count, flags, timeoutUs):
        self.sent += count
        return SimpleNamespace(ret=count)

    def readStreamStatus(self, stream, timeoutUs):
        return SimpleNamespace(ret=0)

    def deactivateStream(self, stream):
        pass

    closeStream = deactivateStream

    def close(self):
        pass


def stand_in(monkeypatch):
    """Put it in SoapySDR's place, and return the class of its devices, for changes."""
    kind = type("Kind", (Device,), {})
    monkeypatch.setattr(
        module,
        "soapy",
        lambda: SimpleNamespace(
            Device=kind,
            SOAPY_SDR_RX=1,
            SOAPY_SDR_TX=0,
            SOAPY_SDR_CF32="CF32",
            SOAPY_SDR_END_BURST=2,
        ),
    )
    return kind


def opened(cap_db=10.0, **more):
    permit = TransmitRules([(1199.5e6, 1202.5e6)], cap_db, "conducted").permit("conducted")
    return module.SoapyRadio("driver=stand-in", frequency_hz=1200e6, permit=permit, **more)
