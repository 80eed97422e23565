#!/usr/bin/python3
"""Tests the progress messages that both examples send to an agent's socket."""

import os
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(_HERE, os.pardir, os.pardir, 'tests', 'python')]

import xml_main

_PYTHON = [os.path.join(_HERE, 'train.py')]
_NATIVE = [os.path.realpath('examples/progress/train')]
_LIMIT_S = 30


def environment(**changes):
  """Returns this process's environment without variables of any launcher."""
  clean = {name: value for name, value in os.environ.items()
           if name in ('PATH', 'HOME', 'LANG') or 'SAN_OPTIONS' in name}
  clean.update(changes)
  return clean


class Agent:
  """A fake agent: a socket, and all messages that have arrived on it."""

  def __init__(self, folder):
    self.path = os.path.join(folder, 'progress')
    self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    self._socket.bind(self.path)
    self._messages = []
    self._thread = threading.Thread(target=self._receive)
    self._thread.start()

  def _receive(self):
    while True:
      message = self._socket.recv(4096)
      if message == b'END':
        return
      self._messages.append(message.decode())

  def messages(self):
    """Closes the socket and returns the messages that have arrived."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
      end.sendto(b'END', self.path)
    self._thread.join()
    self._socket.close()
    return self._messages


class ProgressExample(unittest.TestCase):

  def messages_of(self, command):
    # TEST_TMPDIR may be too long: a socket's path has at most 107 bytes.
    with tempfile.TemporaryDirectory() as folder:
      agent = Agent(folder)
      done = subprocess.run(
          command + ['5'], env=environment(MUSTER_PROGRESS_SOCKET=agent.path),
          timeout=_LIMIT_S, stderr=subprocess.PIPE, text=True, check=False)
      messages = agent.messages()
    self.assertEqual(done.returncode, 0, done.stderr)
    return messages

  def test_python_reports_every_step(self):
    messages = self.messages_of(_PYTHON)
    self.assertEqual(messages[0], 'WATCHDOG_S=30\nSTATUS=training\n')
    self.assertEqual(messages[1], 'STEP=1\nLOSS=9\n')
    self.assertEqual(len(messages), 6)

  def test_native_reports_every_step(self):
    messages = self.messages_of(_NATIVE)
    self.assertEqual(messages[0], 'WATCHDOG_S=30\nSTATUS=training\n')
    self.assertEqual(messages[1], 'STEP=1\nLOSS=9\n')
    self.assertEqual(messages[-1], 'WATCHDOG_S=0\nSTATUS=done\n')

  def test_python_runs_without_an_agent(self):
    for changes in {}, {'MUSTER_PROGRESS_SOCKET': '/nonexistent/socket'}:
      subprocess.run(_PYTHON, env=environment(**changes), timeout=_LIMIT_S,
                     check=True)

  def test_native_links_neither_grpc_nor_protobuf(self):
    symbols = subprocess.run(['nm', '-C'] + _NATIVE, stdout=subprocess.PIPE,
                             text=True, check=True).stdout
    self.assertIn('muster::Session::FromEnvironment', symbols)
    for unwanted in 'grpc::', 'grpc_core::', 'google::protobuf::':
      self.assertNotIn(unwanted, symbols)

  def test_native_runs_alone_without_an_agent(self):
    done = subprocess.run(_NATIVE, env=environment(), timeout=_LIMIT_S,
                          stdout=subprocess.PIPE, text=True, check=True)
    self.assertIn('rank 0 of 1, local rank 0 of 1, node 0 of 1, by nobody',
                  done.stdout)


if __name__ == '__main__':
  xml_main.main()
