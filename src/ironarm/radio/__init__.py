"""The cognitive-radio testbed: packets, a medium with five channels, a receiver that
turns a packet into a reward.

Nothing outside this package imports it at the start: `ia.RadioBandit`, or a study file
that names it, loads it when it is first asked for.

* `waveform`   the packet: QPSK symbols, pulse shaping
* `receiver`   from samples to a `PacketReport`
* `medium`     what is on the air: emitters, paths, noise; narrowband and wideband views
* `randomness` random numbers by key, so that a packet is the same in a batch of one and
  of a million
* `calibrate`  noise config that put the channels at wanted SINRs
* `link`       many packets at once through the compiled chain of `kernels`
* `wide`       the same for the wideband view
* `law`        the law of a measured SINR
* `bandit`     all of it as a bandit
* `scene`      rounds of a policy as the wideband view hears them
* `recording`  such rounds as a SigMF recording
* `pictures`   the setup, spectrogram and constellations as figures

The testbed itself:

* `config`    the configuration file
* `nodes`       transmitter, jammer and noise source; `rx_agent` the receiver that
  decides; `jamming` which packets are hit
* `ack`         the link from the receiver to the transmitter
* `closed_loop` all of it in one process; `records` what it leaves, `live_view` what it
  shows
* `hub`         the medium as a process; `hub_client`, `messages`, `node_process`,
  `processes` for the others
* `radio`       what a node asks of a radio; `backends` has them
* `safety`      what must be said before hardware transmits
"""
