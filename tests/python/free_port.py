"""Chooses a free port for a program of a test."""

import random
import socket


def free_port():
  """Returns a port of 127.0.0.1 that is not in use now.

  The port is below 32768, where the kernel does not choose ports for
  connections. So no connection of another test can take the port before the
  program binds it.
  """
  for _ in range(1000):
    with socket.socket() as probe:
      try:
        probe.bind(('127.0.0.1', random.randrange(10000, 32000)))
      except OSError:
        continue
      return probe.getsockname()[1]
  raise OSError('no port is free')
