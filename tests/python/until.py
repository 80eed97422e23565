"""Waits until something is true."""

import threading
import time

_PAUSE = threading.Event()  # never set


def until(what, look, timeout_s=60):
  """Returns the first result of `look` that is true. Fails after `timeout_s`
  with `what` and the newest result."""
  deadline = time.monotonic() + timeout_s
  while True:
    seen = look()
    if seen:
      return seen
    if time.monotonic() > deadline:
      raise AssertionError(f'{what}: {seen!r}')
    _PAUSE.wait(0.05)
