"""Times torchrun's c10d rendezvous alone: N nodes, one thread each.

usage: c10d_rendezvous.py N

Prints the seconds from the last node's join to the last node's assignment.
"""

import sys
import threading
import time
from datetime import timedelta

from torch.distributed import TCPStore
from torch.distributed.elastic.rendezvous import RendezvousParameters
from torch.distributed.elastic.rendezvous import c10d_rendezvous_backend
from torch.distributed.elastic.rendezvous import dynamic_rendezvous


def node(port, count, ready, times):
  """Joins as a separate node would, once all threads are ready."""
  store = TCPStore('127.0.0.1', port, is_master=False,
                   timeout=timedelta(seconds=120))
  parameters = RendezvousParameters(
      backend='c10d', endpoint='127.0.0.1:%d' % port, run_id='bench',
      min_nodes=count, max_nodes=count)
  backend = c10d_rendezvous_backend.C10dRendezvousBackend(store, 'bench')
  handler = dynamic_rendezvous.create_handler(store, backend, parameters)
  ready.wait()
  joined = time.monotonic()
  handler.next_rendezvous()
  times.append((joined, time.monotonic()))


def main(count):
  server = TCPStore('127.0.0.1', 0, is_master=True, wait_for_workers=False,
                    timeout=timedelta(seconds=120))
  ready, times = threading.Barrier(count), []
  threads = [threading.Thread(target=node, daemon=True,
                              args=(server.port, count, ready, times))
             for _ in range(count)]
  for thread in threads:
    thread.start()
  for thread in threads:
    thread.join(180)
  if len(times) != count:
    sys.exit('only %d of %d nodes got a place' % (len(times), count))
  print('%.4f' % (max(done for _, done in times) - max(at for at, _ in times)),
        flush=True)


if __name__ == '__main__':
  main(int(sys.argv[1]))
