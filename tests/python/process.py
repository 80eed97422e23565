"""A process for tests, which can wait for lines of its output."""

import os
import re
import signal
import subprocess
import threading
import time

# Maximum time in seconds that a test waits for an event; normally it happens
# within a few seconds.
LONGEST_S = 60


class Process:
  """A process whose output is read by a thread."""

  def __init__(self, name, argv, env=None):
    self.name = name
    self._changed = threading.Condition()
    self._output = ''
    self._ended = False
    self._process = subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
        env={**os.environ, **(env or {})})
    self._reader = threading.Thread(target=self._read, daemon=True)
    self._reader.start()

  def _read(self):
    for line in self._process.stdout:
      with self._changed:
        self._output += line
        self._changed.notify_all()
    with self._changed:
      self._ended = True
      self._changed.notify_all()

  @property
  def output(self):
    with self._changed:
      return self._output

  def wait_for(self, pattern, times=1):
    """Waits until `pattern` has matched the output `times` times. Returns the
    last of these matches."""
    deadline = time.monotonic() + LONGEST_S
    with self._changed:
      while True:
        found = list(re.finditer(pattern, self._output))
        if len(found) >= times:
          return found[times - 1]
        left = deadline - time.monotonic()
        if self._ended or left <= 0:
          raise AssertionError('%s did not print "%s" %d times:\n%s' % (
              self.name, pattern, times, self._output))
        self._changed.wait(left)

  @property
  def pid(self):
    return self._process.pid

  def exit_code(self):
    try:
      code = self._process.wait(LONGEST_S)
    except subprocess.TimeoutExpired:
      raise AssertionError('%s did not end:\n%s' % (
          self.name, self.output)) from None
    self._reader.join(LONGEST_S)
    return code

  def send(self, number):
    self._process.send_signal(number)

  def end(self):
    """Kills the process, also if it is stopped, and reads the rest of its
    output."""
    if self._process.poll() is None:
      self._process.send_signal(signal.SIGCONT)
      self._process.kill()
      self._process.wait()
    self._reader.join(LONGEST_S)
    self._process.stdout.close()
