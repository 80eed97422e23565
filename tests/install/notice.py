"""Reads the tables of NOTICE: the libraries that the programs contain and load.
"""

import collections
import os
import re

_ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir,
                     os.pardir)

# One library of NOTICE. `found`: patterns of archives, namespaces or shared
# objects; a match shows that a program contains the library. `programs`: the
# names of the programs that contain the library.
Row = collections.namedtuple('Row', 'library licence found package programs')


def rows_of(text, table):
  """Returns the rows of the table whose heading begins with `table`."""
  part = re.search(r'(?ms)^%s: .*?\n\n(.*?)\n\n\n' % table, text).group(1)
  lines = [re.split(r'  +', line) for line in part.splitlines()]
  return [Row(library, licence, found.split(), package, programs.split())
          for library, licence, found, package, programs in lines[1:]]


def rows(table):
  """Returns the rows of the table in the project's NOTICE file."""
  with open(os.path.join(_ROOT, 'NOTICE'), encoding='utf-8') as file:
    return rows_of(file.read(), table)
