"""A guard of a pure core, and what it is replaced by."""

import collections
import re

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\w+|[^\w\s]')


class Mutant(collections.namedtuple('Mutant', 'name file old new')):
  """One change of one guard.

  `old` must occur exactly once in `file`, so that nobody changes a guard
  without looking at its mutant. It is found by its tokens: line breaks,
  indentation and other spaces do not matter.
  """

  __slots__ = ()

  def places(self, text):
    """Where `old` is in `text`, as matches."""
    return list(re.finditer(self._pattern(), text))

  def apply(self, text):
    """`text` with the change."""
    place, = self.places(text)
    return text[:place.start()] + self.new + text[place.end():]

  def _pattern(self):
    pattern, last = '', ''
    for token in _TOKEN.findall(self.old):
      # Between two words there is a space; elsewhere there may be one.
      glued = re.match(r'\w', token) and re.search(r'\w$', last)
      pattern += (r'\s+' if glued else r'\s*' if pattern else '')
      pattern += re.escape(token)
      last = token
    # A word is not the end or the beginning of another one.
    if re.match(r'\w', self.old.strip()):
      pattern = r'(?<!\w)' + pattern
    return pattern + (r'(?!\w)' if re.search(r'\w$', last) else '')
