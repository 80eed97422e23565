"""A guard of a pure core, and what it is replaced by."""

import collections

# `old` must occur exactly once in `file`, so that nobody changes a guard
# without looking at its mutant.
Mutant = collections.namedtuple('Mutant', 'name file old new')
