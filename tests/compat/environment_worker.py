"""Writes the environment and arguments of this process as JSON to
FOLDER/RANK.json."""

import json
import os
import sys

rank = os.environ.get('RANK') or os.environ.get('OMPI_COMM_WORLD_RANK') or '0'
# Use a single write, so that lines of several ranks do not mix.
os.write(1, ('out of rank %s\n' % rank).encode())
os.write(2, ('err of rank %s\n' % rank).encode())
path = os.path.join(sys.argv[-1], rank + '.json')
with open(path + '.part', 'w', encoding='utf-8') as file:
  json.dump({'environment': dict(os.environ), 'arguments': sys.argv[1:-1]},
            file)
os.rename(path + '.part', path)
