#!/usr/bin/python3
"""copy_headers.py FOLDER HEADER...

Copies headers, and those of this project that they include, to FOLDER, which
keeps the paths by which they are included.
"""

import os
import re
import shutil
import sys

_INCLUDE = re.compile(r'(?m)^#include "([^"]+)"')
# Headers with these prefixes are not copied: the system installs Abseil's
# headers.
_FOREIGN = ('absl/',)


def main(folder, headers):
  waiting, copied = list(headers), set()
  while waiting:
    header = waiting.pop()
    if header in copied:
      continue
    copied.add(header)
    target = os.path.join(folder, header)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copyfile(header, target)
    with open(header, encoding='utf-8') as file:
      waiting += [path for path in _INCLUDE.findall(file.read())
                  if not path.startswith(_FOREIGN)]


if __name__ == '__main__':
  main(sys.argv[1], sys.argv[2:])
