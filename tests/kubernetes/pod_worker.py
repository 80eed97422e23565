"""A worker of the pods' tests: tells its place and works until it is told to
end or to fail. With ORPHAN in its environment it leaves a grandchild first;
FAIL_WITH is the exit code of a failure (7)."""

import os
import select
import signal
import sys

rank, world = os.environ['RANK'], os.environ['WORLD_SIZE']


def say(text):
  print('rank %s of %s %s' % (rank, world, text), flush=True)


def preempted(number, frame):
  say('wrote a checkpoint')
  sys.exit(0)


def leave_an_orphan():
  """A grandchild that ends once its parent has, and nobody waits for."""
  child = os.fork()
  if child == 0:
    os.setsid()
    read, write = os.pipe()
    if os.fork() == 0:
      os.close(write)
      os.read(read, 1)
    os._exit(0)
  os.waitpid(child, 0)


def wait_for_word():
  """What the test says to all workers, or to this rank's."""
  pipes = {}
  for word in ('finish', 'fail-' + rank):
    # What is written there nobody reads, so that all see that it is there.
    pipe = os.open('/srv/share/' + word, os.O_RDONLY | os.O_NONBLOCK)
    pipes[pipe] = word
  poll = select.poll()
  for pipe in pipes:
    poll.register(pipe, select.POLLIN)
  return pipes[poll.poll()[0][0]]


signal.signal(signal.SIGTERM, preempted)
signal.signal(signal.SIGUSR1, lambda number, frame: say('got SIGUSR1'))
if os.environ.get('ORPHAN'):
  leave_an_orphan()
say('works, restart %s' % os.environ['TORCHELASTIC_RESTART_COUNT'])
if wait_for_word() == 'finish':
  say('is done')
else:
  say('fails')
  sys.exit(int(os.environ.get('FAIL_WITH', '7')))
