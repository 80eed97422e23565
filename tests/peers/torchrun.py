"""Runs PyTorch's torchrun, also where Debian's PyTorch 1.13 meets Python 3.11.

There, iterating an IntFlag no longer yields its zero member, so torchrun reads
"--tee 0", its own default, as None and dies. And its --standalone meets at port
29400, whoever else has that; later ones take a free port, as is done for it
here. Only the benchmarks and the compatibility tests use this; the workers that
it starts are untouched.
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
