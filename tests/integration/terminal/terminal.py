"""A program on its own pseudo-terminal, as a person uses it."""

import errno
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

PATIENCE_S = 60

_END = '<end>'


def modes(fd):
  """Returns the settings that differ between a normal terminal and one in raw
  mode."""
  iflag, oflag, _, lflag = termios.tcgetattr(fd)[:4]
  return iflag, oflag, lflag


class Terminal:
  """Runs `argv` as a session on a terminal, and reads its output."""

  def __init__(self, argv, env=None, rows=24, columns=80):
    self.master, self.slave = pty.openpty()
    self.resize(rows, columns)
    self.modes = modes(self.slave)
    self.shown = ''
    self.pid = os.fork()
    if self.pid == 0:
      try:
        os.setsid()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        for fd in range(3):
          os.dup2(self.slave, fd)
        os.closerange(3, 64)
        os.execvpe(argv[0], argv, {**os.environ, 'NO_COLOR': '1',
                                   **(env or {})})
      finally:
        os._exit(126)
    self._pidfd = os.pidfd_open(self.pid)

  def __enter__(self):
    return self

  def __exit__(self, *_):
    if self._pidfd is not None:
      try:
        os.kill(self.pid, signal.SIGCONT)
        os.kill(self.pid, signal.SIGKILL)
      except ProcessLookupError:
        pass
      self.exit_code()
    os.close(self.slave)
    os.close(self.master)

  def resize(self, rows, columns):
    fcntl.ioctl(self.master, termios.TIOCSWINSZ,
                struct.pack('HHHH', rows, columns, 0, 0))

  def type(self, keys):
    os.write(self.master, keys.encode())

  def _read(self, timeout, *others):
    ready = select.select([self.master, *others], [], [], timeout)[0]
    if self.master in ready:
      try:
        self.shown += os.read(self.master, 65536).decode(errors='replace')
      except OSError as error:
        if error.errno != errno.EIO:
          raise
    return ready

  def until(self, text, times=1):
    """Waits until `text` has been printed `times` times. Returns the output so
    far."""
    end = time.monotonic() + PATIENCE_S
    while self.shown.count(text) < times:
      left = end - time.monotonic()
      if left <= 0 or not self._read(left):
        raise AssertionError(f'{text!r} was not shown: {self.shown!r}')
    return self.shown

  def until_true(self, condition, what):
    end = time.monotonic() + PATIENCE_S
    while not condition():
      if time.monotonic() > end:
        raise AssertionError(f'{what}: {self.shown!r}')
      self._read(0.02)

  def _read_rest(self):
    """Reads the output of the ended program. The kernel may deliver it with a
    delay, so a mark is written after it."""
    writer = os.open(os.ttyname(self.slave),
                     os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    unwritten = _END.encode()
    while unwritten:
      try:
        unwritten = unwritten[os.write(writer, unwritten):]
      except BlockingIOError:
        self._read(0.02)
    os.close(writer)
    self.until(_END)
    self.shown = self.shown.replace(_END, '')

  def exit_code(self):
    """Waits until the program ends, and reads the rest of its output. Returns
    the exit code, or 128 + the signal's number."""
    end = time.monotonic() + PATIENCE_S
    while self._pidfd not in self._read(end - time.monotonic(), self._pidfd):
      if time.monotonic() > end:
        raise AssertionError(f'it runs on: {self.shown!r}')
    self._read_rest()
    status = os.waitpid(self.pid, 0)[1]
    os.close(self._pidfd)
    self._pidfd = None
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code
