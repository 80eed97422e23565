"""Runs PyTorch's own store server for foreign_store_test.py, which chooses the
Python and so the version of PyTorch. Prints its port, serves until its input
ends, and then prints the value of the key "to_python"."""

import datetime
import sys

import torch.distributed as dist


def main(arguments):
  options = {'use_libuv': 'libuv' in arguments} if arguments else {}
  store = dist.TCPStore('127.0.0.1', 0, None, True,
                        datetime.timedelta(seconds=120), wait_for_workers=False,
                        **options)
  store.set('from_python', 'hello')
  print(store.port, flush=True)
  sys.stdin.read()
  if hasattr(store, 'check') and store.check(['to_python']):
    print(store.get('to_python').decode())


if __name__ == '__main__':
  main(sys.argv[1:])
