"""Runs PyTorch's torchrun, also where Debian's PyTorch 1.13 meets Python 3.11.

There, iterating an IntFlag no longer yields its zero member, so torchrun reads
"--tee 0", its own default, as None and dies. Only the benchmarks and the
compatibility tests use this; the workers that it starts are untouched.
"""

import re
import sys

from torch.distributed import run
from torch.distributed.elastic.multiprocessing import api

_original = api.Std.from_str


def _from_str(text):
  if re.fullmatch('[0-3]', text):
    return api.Std(int(text))
  return _original(text)


if __name__ == '__main__':
  api.Std.from_str = staticmethod(_from_str)
  sys.exit(run.main())
