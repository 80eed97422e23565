"""A file system for tests that can hang. All its files are in memory.

It speaks FUSE's kernel protocol itself. While it hangs, it reads no requests,
so that every call on it waits like one on a file server that does not answer;
only a fatal signal ends the caller.
"""

import ctypes
import errno
import os
import select
import stat
import struct
import threading
import time

_LOOKUP, _FORGET, _GETATTR, _SETATTR, _SYMLINK = 1, 2, 3, 4, 6
_MKDIR, _UNLINK, _RMDIR, _RENAME, _OPEN = 9, 10, 11, 12, 14
_READ, _WRITE, _STATFS, _RELEASE, _INIT = 15, 16, 17, 18, 26
_OPENDIR, _READDIR, _RELEASEDIR, _CREATE = 27, 28, 29, 35
_INTERRUPT, _BATCH_FORGET, _RENAME2 = 36, 42, 45

_IN_HEADER = struct.Struct('<IIQQIIII')
_OUT_HEADER = struct.Struct('<IiQ')
_ATTR = struct.Struct('<QQQQQQIIIIIIIIII')
_SIZE_IS_SET = 1 << 3
_ROOT = 1
_MAX_WRITE = 128 << 10
_MNT_DETACH = 2


class Unavailable(Exception):
  """This machine or user cannot mount the file system; the message contains the
  reason."""


class _Node:

  def __init__(self, mode):
    self.mode = mode
    self.data = bytearray()
    self.children = {}


class HungFileSystem:

  def __init__(self, folder):
    self.folder = folder
    self._libc = ctypes.CDLL(None, use_errno=True)
    try:
      self._fuse = os.open('/dev/fuse', os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
      raise Unavailable(f'/dev/fuse: {error.strerror}') from error
    os.makedirs(folder, exist_ok=True)
    options = (f'fd={self._fuse},rootmode=40000,user_id={os.getuid()},'
           f'group_id={os.getgid()}')
    if self._libc.mount(b'hung', folder.encode(), b'fuse', 0,
              options.encode()) != 0:
      os.close(self._fuse)
      raise Unavailable('mount: ' + os.strerror(ctypes.get_errno()))
    self._nodes = {_ROOT: _Node(stat.S_IFDIR | 0o777)}
    self._next = _ROOT + 1
    self._answers = threading.Event()
    self._answers.set()
    self._ending = False
    self._wake_read, self._wake_write = os.pipe()
    self._thread = threading.Thread(target=self._serve, daemon=True)
    self._thread.start()
    # Close a file before the file system hangs. The kernel then sends FLUSH,
    # and learns from the reply ENOSYS that FLUSH is not supported. So it sends
    # no FLUSH while the file system hangs.
    path = os.path.join(folder, 'first')
    with open(path, 'wb'):
      pass
    os.unlink(path)

  def hang(self):
    """From now on the file system answers no request."""
    self._answers.clear()
    os.write(self._wake_write, b'.')

  def resume(self):
    self._answers.set()

  def close(self):
    """Ends waiting calls with an error, and unmounts."""
    self._ending = True
    self._answers.set()
    os.write(self._wake_write, b'.')
    self._thread.join(60)
    self._libc.umount2(self.folder.encode(), _MNT_DETACH)
    # Processes may still wait for answers of this file system. The kernel ends
    # their calls when the last descriptor of the FUSE connection is closed.
    for descriptor in (self._fuse, self._wake_read, self._wake_write):
      os.close(descriptor)

  def _serve(self):
    while not self._ending:
      self._answers.wait()
      ready, _, _ = select.select([self._fuse, self._wake_read], [], [])
      if self._wake_read in ready:
        os.read(self._wake_read, 64)
        continue
      if not self._answers.is_set():
        continue
      try:
        request = os.read(self._fuse, _MAX_WRITE + 4096)
      except OSError as error:
        if error.errno in (errno.ENOENT, errno.EINTR):
          continue  # the request was cancelled
        return  # unmounted
      self._answer(request)

  def _answer(self, request):
    _, opcode, unique, node, _, _, _, _ = _IN_HEADER.unpack_from(request)
    if opcode in (_FORGET, _BATCH_FORGET, _INTERRUPT):
      return
    try:
      body = self._do(opcode, node, request[_IN_HEADER.size:])
      code = 0
    except OSError as error:
      body, code = b'', -error.errno
    try:
      os.write(self._fuse,
           _OUT_HEADER.pack(_OUT_HEADER.size + len(body), code,
                    unique) + body)
    except OSError:
      pass  # the caller has been killed

  def _attributes(self, number):
    node = self._nodes[number]
    now = int(time.time())
    links = 1 if self._is_linked(number) else 0
    return _ATTR.pack(number, len(node.data), 8, now, now, now, 0, 0, 0,
              node.mode, links, os.getuid(), os.getgid(), 0, 4096,
              0)

  def _is_linked(self, number):
    return number == _ROOT or any(
      number in node.children.values() for node in self._nodes.values())

  def _entry(self, number):
    # A timeout of 0 forbids caching. So the kernel sends a request for every
    # use of the file.
    return struct.pack('<QQQQII', number, 0, 0, 0, 0,
               0) + self._attributes(number)

  def _child(self, parent, name):
    number = self._nodes[parent].children.get(name)
    if number is None:
      raise OSError(errno.ENOENT, '')
    return number

  def _new(self, parent, name, mode):
    if name in self._nodes[parent].children:
      raise OSError(errno.EEXIST, '')
    number = self._next
    self._next += 1
    self._nodes[number] = _Node(mode)
    self._nodes[parent].children[name] = number
    return number

  def _do(self, opcode, number, body):
    name = lambda at: body[at:].split(b'\0')[0]
    if opcode == _INIT:
      major, _ = struct.unpack_from('<II', body)
      return struct.pack('<IIIIHHIIHHIIII4I', major, 31, 0, 0, 16, 12,
                 _MAX_WRITE, 1, 32, 0, 0, 0, 0, 0, 0, 0, 0,
                 0)[:64]
    if opcode == _LOOKUP:
      return self._entry(self._child(number, name(0)))
    if opcode == _GETATTR:
      return struct.pack('<QII', 0, 0, 0) + self._attributes(number)
    if opcode == _SETATTR:
      valid, _, _, size = struct.unpack_from('<IIQQ', body)
      if valid & _SIZE_IS_SET:
        data = self._nodes[number].data
        del data[size:]
        data.extend(bytes(size - len(data)))
      return struct.pack('<QII', 0, 0, 0) + self._attributes(number)
    if opcode == _MKDIR:
      mode, = struct.unpack_from('<I', body)
      return self._entry(
        self._new(number, name(8), stat.S_IFDIR | (mode & 0o777)))
    if opcode == _SYMLINK:
      return self._entry(
        self._new(number, name(0), stat.S_IFLNK | 0o777))
    if opcode in (_UNLINK, _RMDIR):
      self._child(number, name(0))
      del self._nodes[number].children[name(0)]
      return b''
    if opcode in (_RENAME, _RENAME2):
      target, = struct.unpack_from('<Q', body)
      old, new = body[8 if opcode == _RENAME else 16:].split(b'\0')[:2]
      moved = self._child(number, old)
      del self._nodes[number].children[old]
      self._nodes[target].children[new] = moved
      return b''
    if opcode == _CREATE:
      _, mode = struct.unpack_from('<II', body)
      made = self._nodes[number].children.get(name(16))
      if made is None:
        made = self._new(number, name(16),
                 stat.S_IFREG | (mode & 0o777))
      return self._entry(made) + struct.pack('<QII', made, 1, 0)
    if opcode in (_OPEN, _OPENDIR):
      return struct.pack('<QII', number, 1, 0)  # flag 1: direct I/O
    if opcode == _READ:
      _, offset, size = struct.unpack_from('<QQI', body)
      return bytes(self._nodes[number].data[offset:offset + size])
    if opcode == _WRITE:
      _, offset, size = struct.unpack_from('<QQI', body)
      data = self._nodes[number].data
      data[offset:offset + size] = body[40:40 + size]
      return struct.pack('<II', size, 0)
    if opcode == _READDIR:
      _, offset, size = struct.unpack_from('<QQI', body)
      listing = b''
      children = sorted(self._nodes[number].children.items())
      for at, (child, child_number) in enumerate(children):
        if at < offset:
          continue
        entry = struct.pack('<QQII', child_number, at + 1, len(child),
                  0) + child
        entry += bytes(-len(entry) % 8)
        if len(listing) + len(entry) > size:
          break
        listing += entry
      return listing
    if opcode in (_RELEASE, _RELEASEDIR):
      return b''
    # FLUSH is not supported. Otherwise a process that exits would wait for an
    # answer to FLUSH for each of its open files.
    raise OSError(errno.ENOSYS, '')
