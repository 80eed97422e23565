"""Waits for events of the kernel: a process ends, a file changes."""

import ctypes
import os
import select
import time

_LIBC = ctypes.CDLL(None, use_errno=True)
# Event masks of <sys/inotify.h>: a file in the folder was written, renamed to
# its current name, or created.
_IN_MODIFY, _IN_MOVED_TO, _IN_CREATE = 0x2, 0x80, 0x100


def wait_for_end(pid, end):
  """Returns whether process `pid` has ended by the time `end` (monotonic)."""
  try:
    fd = os.pidfd_open(pid)
  except ProcessLookupError:
    return True
  try:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(max(0, end - time.monotonic()) * 1000))
  finally:
    os.close(fd)


class FolderEvents:
  """A file descriptor that becomes readable after a file in a folder was
  created, renamed or written.

  Subfolders are not watched.
  """

  def __init__(self, folder):
    self._fd = _LIBC.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
    if self._fd < 0:
      raise OSError(ctypes.get_errno(), 'inotify_init1')
    if _LIBC.inotify_add_watch(self._fd, os.fsencode(folder), _IN_MODIFY |
                               _IN_MOVED_TO | _IN_CREATE) < 0:
      error = OSError(ctypes.get_errno(), 'inotify_add_watch', folder)
      self.close()
      raise error

  def fileno(self):
    return self._fd

  def close(self):
    os.close(self._fd)

  def clear(self):
    """Forgets the events so far. Call it before reading the files, so that no
    later event is lost."""
    try:
      while os.read(self._fd, 1 << 16):
        pass
    except BlockingIOError:
      pass

  def wait_until(self, condition, end):
    """Returns whether `condition()` was true by the time `end` (monotonic).

    Args:
      condition: a function whose result depends on the folder's files; called
      after each change. end: the deadline.
    """
    poll = select.poll()
    poll.register(self._fd, select.POLLIN)
    while not condition():
      left = end - time.monotonic()
      if left <= 0:
        return False
      poll.poll(left * 1000)
      self.clear()
    return True
