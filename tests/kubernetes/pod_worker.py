"""A worker for the tests of pods: prints its place in the job, and runs until
the test tells it to end or to fail. Environment variables: with ORPHAN it first
leaves a grandchild behind; FAIL_WITH is the exit code of a failure (default 7);
with SLOW_CHECKPOINT it finishes a checkpoint only when the test tells it to."""

import os
import select
import signal
import sys

rank, world = os.environ['RANK'], os.environ['WORLD_SIZE']


def say(text):
  print('rank %s of %s %s' % (rank, world, text), flush=True)


def preempted(number, frame):
  if os.environ.get('SLOW_CHECKPOINT'):
    say('writes a checkpoint')
    wait_for_word('checkpoint')
  say('wrote a checkpoint')
  sys.exit(0)


def leave_an_orphan():
  """Starts a grandchild that ends after its parent, and whose exit status no
  process reads."""
  child = os.fork()
  if child == 0:
    os.setsid()
    read, write = os.pipe()
    if os.fork() == 0:
      os.close(write)
      os.read(read, 1)
    os._exit(0)
  os.waitpid(child, 0)


def wait_for_word(*words):
  """Waits until the test has sent one of these words to all workers, and
  returns it."""
  pipes = {}
  for word in words:
    # Open the pipe through which the test sends `word` to all workers. The
    # worker polls the pipe but does not read the word, so that the other
    # workers see the word, too.
    pipe = os.open('/srv/share/' + word, os.O_RDONLY | os.O_NONBLOCK)
    pipes[pipe] = word
  poll = select.poll()
  for pipe in list(pipes) + [signalled]:
    poll.register(pipe, select.POLLIN)
  while True:
    for ready, _ in poll.poll():
      if ready in pipes:
        return pipes[ready]
      os.read(ready, 4096)


# Each signal makes a descriptor readable. So a signal that arrives just before
# poll() still wakes it.
signalled, wakeup = os.pipe()
for end in (signalled, wakeup):
  os.set_blocking(end, False)
signal.set_wakeup_fd(wakeup)
signal.signal(signal.SIGTERM, preempted)
signal.signal(signal.SIGUSR1, lambda number, frame: say('got SIGUSR1'))
if os.environ.get('ORPHAN'):
  leave_an_orphan()
say('works, restart %s' % os.environ['TORCHELASTIC_RESTART_COUNT'])
if wait_for_word('finish', 'fail-' + rank) == 'finish':
  say('is done')
else:
  say('fails')
  sys.exit(int(os.environ.get('FAIL_WITH', '7')))
