"""Builds the bytes of HTTP/2 and gRPC that a hostile client sends, without a
library."""

import struct

PREFACE = b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

_SETTINGS = 4
_HEADERS = 1
_END_HEADERS = 4
_ACK = 1


def frame(kind, flags, stream, payload=b''):
  return (struct.pack('>I', len(payload))[1:] + bytes((kind, flags)) +
          struct.pack('>I', stream) + payload)


# The first bytes of every client: the preface and an empty SETTINGS frame.
HELLO = PREFACE + frame(_SETTINGS, 0, 0)
# The frame that accepts the limits that the server has announced.
SETTINGS_ACK = frame(_SETTINGS, _ACK, 0)


def call(stream, method, token=''):
  """Returns the frame that opens a call of `method` on `stream` (odd numbers)
  and leaves its sending side open."""
  headers = [(':method', 'POST'), (':scheme', 'http'), (':path', method),
             (':authority', 'x'), ('te', 'trailers'),
             ('content-type', 'application/grpc')]
  if token:
    headers.append(('authorization', 'Bearer ' + token))
  block = b''
  for name, value in headers:
    # In HPACK, this byte begins a header without indexing whose name and value
    # are both literals.
    block += b'\0' + _text(name) + _text(value)
  return frame(_HEADERS, _END_HEADERS, stream, block)


def answered(data):
  """Returns the streams with a HEADERS frame in what a server has sent, and the
  bytes of the last, incomplete frame."""
  streams = set()
  while len(data) >= 9:
    size = int.from_bytes(data[:3], 'big')
    if len(data) < 9 + size:
      break
    if data[3] == _HEADERS:
      streams.add(int.from_bytes(data[5:9], 'big'))
    data = data[9 + size:]
  return streams, data


def _text(text):
  assert len(text) < 127
  return bytes((len(text),)) + text.encode()
