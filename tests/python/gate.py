"""A file that programs wait for without polling: a shell script waits with
`flock -s FILE true`."""

import fcntl


class Gate:
  """Programs that lock `path` wait until `open` is called, or this process
  ends."""

  def __init__(self, path):
    self.path = path
    self._file = open(path, 'wb')
    fcntl.flock(self._file, fcntl.LOCK_EX)

  def open(self):
    self._file.close()
