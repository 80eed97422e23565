#!/usr/bin/python3
"""Reports a training's progress to Muster, with three lines and no package.

  launch --standalone --nproc-per-node 2 examples/progress/train.py

`launch status` and `launch watch` then show each rank's step and loss, and name
a rank that stops reporting. One of the three lines creates the socket and two
send on it. They never block or fail, with or without Muster.
"""

import contextlib
import os
import socket
import sys

agent = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)


def tell(message):
  with contextlib.suppress(OSError):
    agent.sendto(message, os.environ.get('MUSTER_PROGRESS_SOCKET', ''))


# Optional: from now on, a rank that sends nothing for 30 seconds counts as
# hung.
tell(b'WATCHDOG_S=30\nSTATUS=training\n')

weight = 0.0
for step in range(1, int(sys.argv[1]) + 1 if len(sys.argv) > 1 else 101):
  # The training: one step of gradient descent on (weight - 3)^2.
  loss = (weight - 3.0) ** 2
  weight -= 0.1 * 2.0 * (weight - 3.0)
  tell(b'STEP=%d\nLOSS=%.6g\n' % (step, loss))
