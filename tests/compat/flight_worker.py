"""A worker of PyTorch whose rank 1 never calls the collective that the others
wait in. Each rank writes its flight recorder to FOLDER/nccl_trace_rank_N.

usage: flight_worker.py FOLDER
"""

import os
import pickle
import sys
import threading

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _dump_fr_trace

dist.init_process_group('gloo')
rank = dist.get_rank()
values = torch.ones(8)
dist.all_reduce(values)
dist.barrier()
odd = dist.new_group([1, 2])
if rank != 0:
  dist.broadcast(values, 1, group=odd)
if rank != 1:
  waits = dist.all_reduce(values, async_op=True)
# Gloo marks an operation as retired only a moment after the operation has
# returned. So wait before the dump.
while sum(not entry['retired'] for entry in
          pickle.loads(_dump_fr_trace())['entries']) > (rank != 1):
  threading.Event().wait(0.01)
with open(os.path.join(sys.argv[1], 'nccl_trace_rank_%d' % rank), 'wb') as file:
  file.write(_dump_fr_trace())
# Wait until all ranks have written their dumps. Use the store, not a collective
# such as a barrier: rank 1 has skipped the last all_reduce, so its next
# collective would not match those of the other ranks.
store = dist.distributed_c10d._get_default_store()
store.set('dumped by %d' % rank, '')
store.wait(['dumped by %d' % other for other in range(3)])
os._exit(0)
