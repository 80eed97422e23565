"""A worker of the pods' tests: tells its place and works until it is told to
end. With ORPHAN in its environment it leaves a grandchild behind first."""

import os
import signal
import sys
import time

rank, world = os.environ['RANK'], os.environ['WORLD_SIZE']


def say(text):
  print('rank %s of %s %s' % (rank, world, text), flush=True)


def preempted(number, frame):
  say('wrote a checkpoint')
  sys.exit(0)


signal.signal(signal.SIGTERM, preempted)
signal.signal(signal.SIGUSR1, lambda number, frame: say('got SIGUSR1'))
if os.environ.get('ORPHAN'):
  child = os.fork()
  if child == 0:
    os.setsid()
    if os.fork() == 0:
      time.sleep(0.2)
    os._exit(0)
  os.waitpid(child, 0)
say('works, restart %s' % os.environ['TORCHELASTIC_RESTART_COUNT'])
while not os.path.exists('/srv/share/finish'):
  if os.path.exists('/srv/share/fail-' + rank):
    say('fails')
    sys.exit(7)
  time.sleep(0.02)
say('is done')
