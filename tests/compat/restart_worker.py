"""The ranks write keys to the store and die. After the restart the keys must
not exist. groups_test.py runs this script under `launch`, with the Python of
each PyTorch version."""

import datetime
import os
import signal
import sys

import torch.distributed as dist

_LATE = datetime.timedelta(seconds=60)


def absent(store, key):
  """Whether the key does not exist. PyTorch 1.13 can only wait for keys."""
  if hasattr(store, 'check'):
    return not store.check([key])
  try:
    store.wait([key], datetime.timedelta(milliseconds=200))
    return False
  except RuntimeError:
    return True


def main():
  rank, size = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])
  restart = int(os.environ['TORCHELASTIC_RESTART_COUNT'])
  store = dist.TCPStore(os.environ['MASTER_ADDR'],
                        int(os.environ['MASTER_PORT']), None, False, _LATE)
  stale = [key for key in ('k0', 'k1', 'met0')
           if restart and not absent(store, key)]
  # Connect again: in TCPStore's old protocol, a client cannot be used after one
  # of its waits has timed out.
  store = dist.TCPStore(os.environ['MASTER_ADDR'],
                        int(os.environ['MASTER_PORT']), None, False, _LATE)
  if store.add('looked', 1) == size:
    store.set('all_looked', '')
  store.wait(['all_looked'], _LATE)
  store.set('k%d' % rank, 'of restart %d' % restart)
  store.wait(['k%d' % other for other in range(size)], _LATE)
  if restart == 0:
    store.set('met%d' % rank, '')
    store.wait(['met%d' % other for other in range(size)], _LATE)
    if rank == size - 1:
      os.kill(os.getpid(), signal.SIGKILL)
    # No rank ever sets this key: Muster releases the wait when it ends the
    # round.
    store.wait(['never'], _LATE)
  sys.stdout.write('rank %d: stale %s, k0 %s\n' % (
      rank, stale, store.get('k0').decode()))


if __name__ == '__main__':
  main()
