"""Chooses a free port for a program of a test."""

import random
import socket


def free_port():
  """A port of 127.0.0.1 that is not in use now.

  Not one that the kernel gives to whoever asks for any (32768 and above): in
  the time until the program binds it, a connection of some other test may have
  it as its own end.
  """
  for _ in range(1000):
    with socket.socket() as probe:
      try:
        probe.bind(('127.0.0.1', random.randrange(10000, 32000)))
      except OSError:
        continue
      return probe.getsockname()[1]
  raise OSError('no port is free')
