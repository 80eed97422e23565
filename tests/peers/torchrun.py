"""Runs PyTorch's torchrun. Repairs Debian's PyTorch 1.13, which fails with
Python 3.11.

In Python 3.11, iterating over an IntFlag no longer yields its zero member, so
torchrun parses its own default, "--tee 0", as None and fails. Also, its
--standalone always uses port 29400; later versions choose a free port, and so
does this script. Only benchmarks and compatibility tests use this script. The
workers that torchrun starts are not changed.
"""

import re
import sys
import uuid

from torch.distributed import run
from torch.distributed.elastic.multiprocessing import api

_original = api.Std.from_str


def _from_str(text):
  if re.fullmatch('[0-3]', text):
    return api.Std(int(text))
  return _original(text)


def _with_free_port(argument):
  if argument != '--standalone':
    return [argument]
  return ['--rdzv_backend=c10d', '--rdzv_endpoint=localhost:0',
          '--rdzv_id=%s' % uuid.uuid4()]


if __name__ == '__main__':
  sys.argv[1:] = [each for argument in sys.argv[1:]
                  for each in _with_free_port(argument)]
  api.Std.from_str = staticmethod(_from_str)
  sys.exit(run.main())
