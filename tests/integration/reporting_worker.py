#!/usr/bin/python3
"""A worker for the tests that reports its progress, in three lines.

usage: reporting_worker.py hang RANK | steady

  hang RANK  in round 1 that rank stops in the middle of a step, and the rank
             above it never reports at all; later rounds succeed
  steady     reports for ever
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


def main():
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
