"""Times torchrun's c10d rendezvous alone: N nodes in 8 processes.

usage: c10d_rendezvous.py N

Each node is one thread. With all of 128 nodes in one process, Python's lock
lets one in three runs take minutes.

Prints the seconds from the last node's join to the last node's assignment.
"""

import multiprocessing
import sys
import threading
import time
from datetime import timedelta

from torch.distributed import TCPStore
from torch.distributed.elastic.rendezvous import RendezvousParameters
from torch.distributed.elastic.rendezvous import c10d_rendezvous_backend
from torch.distributed.elastic.rendezvous import dynamic_rendezvous

PROCESSES = 8
LIMIT_S = 180


def node(port, count, ready, times):
  """Joins as a separate node would, once all nodes are ready."""
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
  times.put((joined, time.monotonic()))


def nodes(port, mine, count, ready, times):
  """Runs `mine` of the `count` nodes in this process."""
  threads = [threading.Thread(target=node, daemon=True,
                              args=(port.get(), count, ready, times))
             for _ in range(mine)]
  for thread in threads:
    thread.start()
  for thread in threads:
    thread.join(LIMIT_S)


def main(count):
  ready, times = multiprocessing.Barrier(count), multiprocessing.Queue()
  port = multiprocessing.Queue()
  # Start the processes before the server: after the server's threads run, this
  # process must not fork.
  processes = [
      multiprocessing.Process(
          target=nodes, daemon=True,
          args=(port, len(range(i, count, PROCESSES)), count, ready, times))
      for i in range(PROCESSES)]
  for process in processes:
    process.start()
  server = TCPStore('127.0.0.1', 0, is_master=True, wait_for_workers=False,
                    timeout=timedelta(seconds=120))
  for _ in range(count):
    port.put(server.port)
  got = [times.get(timeout=LIMIT_S) for _ in range(count)]
  print('%.4f' % (max(done for _, done in got) - max(at for at, _ in got)),
        flush=True)


if __name__ == '__main__':
  main(int(sys.argv[1]))
