#!/usr/bin/python3
"""Tells Muster how a training goes: three lines, no package.

  launch --standalone --nproc-per-node 2 examples/progress/train.py

`launch status` and `launch watch` then show each rank's step and loss, and a
rank that falls silent is named. The lines are those that make the socket and
the two that use it; they neither wait nor fail, with or without Muster.
"""

import contextlib
import os
import socket
import sys

agent = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)


def tell(message):
  with contextlib.suppress(OSError):
    agent.sendto(message, os.environ.get('MUSTER_PROGRESS_SOCKET', ''))


# Optional: from now on, silence of more than 30 seconds is a hang.
tell(b'WATCHDOG_S=30\nSTATUS=training\n')

weight = 0.0
for step in range(1, int(sys.argv[1]) + 1 if len(sys.argv) > 1 else 101):
  # The training: one step towards the least of (weight - 3)^2.
  loss = (weight - 3.0) ** 2
  weight -= 0.1 * 2.0 * (weight - 3.0)
  tell(b'STEP=%d\nLOSS=%.6g\n' % (step, loss))
