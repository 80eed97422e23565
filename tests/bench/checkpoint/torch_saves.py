"""Measures PyTorch's checkpoints as checkpoint_bench measures ours.

usage: torch_saves.py save|dcp RANKS MIB SAVES FOLDER

Prints for each save of rank 0 BLOCKED_MS WRITTEN_MS: for how long the save
blocks the training, and the time until all data is written. `save` is
torch.save by rank 0; `dcp` torch.distributed.checkpoint's async_save by all.
Neither forces data to the disk (fsync).
"""

import os
import shutil
import socket
import sys
import time

import torch
import torch.distributed
import torch.multiprocessing

TENSORS = 64
WARM_UP = 1


def plain_save(state, path):
  if torch.distributed.get_rank() == 0:
    torch.save(state, path)
  torch.distributed.barrier()


def run(rank, how, ranks, mib, saves, folder, port):
  torch.set_num_threads(1)
  torch.distributed.init_process_group(
      'gloo', init_method='tcp://127.0.0.1:%d' % port, rank=rank,
      world_size=ranks)
  count = (mib << 20) // TENSORS // 4
  state = {'t%d' % i: torch.full((count,), 0.5) for i in range(TENSORS)}
  for save in range(WARM_UP + saves):
    path = os.path.join(folder, 'step-%d' % save)
    torch.distributed.barrier()
    begin = time.perf_counter()
    if how == 'save':
      plain_save(state, path)
      blocked = time.perf_counter() - begin
    else:
      from torch.distributed import checkpoint
      future = checkpoint.async_save(state, checkpoint_id=path)
      blocked = time.perf_counter() - begin
      future.result()
    written = time.perf_counter() - begin
    if rank == 0 and save >= WARM_UP:
      print('%.3f %.3f' % (1e3 * blocked, 1e3 * written), flush=True)
    torch.distributed.barrier()
    if rank == 0 and save > 0:
      old = os.path.join(folder, 'step-%d' % (save - 1))
      (shutil.rmtree if os.path.isdir(old) else os.unlink)(old)


def main(how, ranks, mib, saves, folder):
  with socket.socket() as probe:
    probe.bind(('127.0.0.1', 0))
    port = probe.getsockname()[1]
  torch.multiprocessing.spawn(
      run, (how, int(ranks), int(mib), int(saves), folder, port), int(ranks))


if __name__ == '__main__':
  main(*sys.argv[1:])
