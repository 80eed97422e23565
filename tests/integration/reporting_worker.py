#!/usr/bin/python3
"""A test worker that reports its progress to the agent.

usage: reporting_worker.py hang RANK | steady | together FOLDER

  hang RANK  in round 1 that rank stops in the middle of a step, and the rank
             above it never reports at all; later rounds succeed
  steady     reports for ever
  together   reports for ever, too, and waits for the others before each report;
             they meet in FOLDER
"""

import os
import signal
import socket
import sys
import threading

RANK = int(os.environ['RANK'])
ROUND = int(os.environ['MUSTER_ROUND'])

agent = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
agent.connect(os.environ['MUSTER_PROGRESS_SOCKET'])


def load_the_batch():
  while True:
    signal.pause()


def report_for_ever():
  while not threading.Event().wait(0.05):
    agent.send(b'STEP=7\nLOSS=2.5\nTOKENS_PER_S=51000\n')


class Meeting:
  """A meeting of three ranks: each waits until the others have arrived."""

  def __init__(self, folder):
    # Use a relative path. The path of a socket may have at most 107 bytes, and
    # some test folders have longer names.
    os.chdir(folder)
    path = 'meeting'
    if RANK == 0:
      door = socket.socket(socket.AF_UNIX)
      door.bind(path)
      door.listen()
      self._others = [door.accept()[0] for _ in range(2)]
      return
    self._others = [socket.socket(socket.AF_UNIX)]
    while self._others[0].connect_ex(path) != 0:
      threading.Event().wait(0.01)

  def wait(self):
    if RANK != 0:
      self._others[0].send(b'.')
    for other in self._others:
      other.recv(1)
    if RANK == 0:
      for other in self._others:
        other.send(b'.')


def report_together(meeting):
  while True:
    meeting.wait()
    agent.send(b'STEP=7\n')
    threading.Event().wait(0.01)


def main():
  if sys.argv[1] == 'together':
    meeting = Meeting(sys.argv[2])
    meeting.wait()
    # All ranks must have started before the first report below. After this
    # report, waiting for another rank would count as a hang.
    agent.send(b'STEP=6\n')
    print('together rank=%d pid=%d .' % (RANK, os.getpid()), flush=True)
    report_together(meeting)
  print('up rank=%d round=%d .' % (RANK, ROUND), flush=True)
  if sys.argv[1] == 'steady':
    report_for_ever()
  if ROUND > 1:
    return
  hanging = int(sys.argv[2])
  if RANK == hanging + 1:
    load_the_batch()
  agent.send(b'STEP=6\n')
  agent.send(b'STEP=7\n')
  if RANK == hanging:
    load_the_batch()
  report_for_ever()


main()
