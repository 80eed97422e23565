"""A mutant: a change of one statement of a pure core, with the description by
which the statement is found."""

import collections
import re

import syntax

# The kinds of changes to a statement. DROP: the statement is removed. TRUE,
# FALSE: a condition, or a value that is returned or assigned, becomes this
# constant.
DROP = 'DROP'
TRUE = 'TRUE'
FALSE = 'FALSE'

# Changes a condition with && or ||: removes the operand that contains all of
# `words`.
Without = collections.namedtuple('Without', 'words')
# Replaces the tokens `old`, which occur once in the statement, by `new`.
Swap = collections.namedtuple('Swap', 'old new')


def without(words):
  return Without(words)


def swap(old, new):
  return Swap(old, new)


class Mutant(collections.namedtuple('Mutant', 'name folder function at change')):
  """One change of one statement.

  function: as the source spells it, with its class: 'Job::Admit'; '' for a
      declaration outside of functions. It may stand in any file of `folder`.
  at: the statement's keyword (see syntax.Statement) and words that it has:
      'if sequence holder'. One statement of the function must match. A third
      or fourth equal one is told by its number among them: 'return #2'.
  """

  __slots__ = ()

  def find(self, sources):
    """Returns the (path, statement) pairs that match. `sources`: texts by path.
    """
    kind, *wanted = self.at.split()
    number = [int(word[1:]) for word in wanted if word[0] == '#']
    wanted = {word for word in wanted if word[0] != '#'}
    found = []
    for path in sorted(sources):
      if path.rsplit('/', 1)[0] != self.folder:
        continue
      found += [(path, each) for each in sources[path].statements
                if each.function == self.function and each.kind == kind and
                wanted <= sources[path].words_of(each)]
    if number:
      found = found[number[0] - 1:number[0]]
    return found

  def apply(self, text, statement):
    """Returns `text` with the change. ValueError: the statement does not allow
    it."""
    begin, end, new = self._edit(text, statement)
    return text[:begin] + new + text[end:]

  def _edit(self, text, statement):
    if self.change == DROP:
      return (*statement.whole, '' if statement.kind == 'declare' else '{}')
    if isinstance(self.change, Swap):
      return (*_place_of(self.change.old, text, statement.head),
              self.change.new)
    if statement.value is None:
      raise ValueError('the statement has no condition and no value')
    begin, end = statement.value
    if isinstance(self.change, Without):
      return (*_term_with(set(self.change.words.split()), text, begin, end), '')
    constant = {TRUE: 'true', FALSE: 'false'}[self.change]
    if statement.kind == 'if' and _declares(text[begin:end]):
      return end, end, '; ' + constant
    return begin, end, constant


class Source:
  """The statements of a source, with the words of each statement."""

  def __init__(self, text):
    self.text = text
    self.statements = syntax.statements(text)
    self._words = {}

  def words_of(self, statement):
    if statement.head not in self._words:
      self._words[statement.head] = syntax.words(
          self.text[slice(*statement.head)])
    return self._words[statement.head]


def _declares(condition):
  return re.search(r'[^<>!=]=[^=]', condition) is not None


def _place_of(old, text, span):
  """Returns where the tokens of `old` are, which must occur once in `span` of
  `text`."""
  wanted = [token.text for token in syntax.tokens(old)]
  found = syntax.tokens(text[slice(*span)])
  places = [i for i in range(len(found) - len(wanted) + 1)
            if [t.text for t in found[i:i + len(wanted)]] == wanted]
  if len(places) != 1 or not wanted:
    raise ValueError('the statement has %r %d times, not once' %
                     (old, len(places)))
  first = places[0]
  return (span[0] + found[first].start,
          span[0] + found[first + len(wanted) - 1].end)


def _term_with(words, text, begin, end):
  """Returns the smallest operand with all `words`, and the operator that joins
  it."""
  found = syntax.tokens(text[begin:end])
  best = None
  for first, last in _terms(found):
    term = found[first:last]
    if words <= {token.text for token in term} and (
        best is None or last - first < best[1] - best[0]):
      best = (first, last)
  if best is None:
    raise ValueError('no term has %s' % ' '.join(sorted(words)))
  first, last = best
  if first > 0 and found[first - 1].text in ('&&', '||'):
    first -= 1
    return begin + found[first].start, begin + found[last - 1].end
  if last < len(found):
    return begin + found[first].start, begin + found[last].end
  raise ValueError('the term is the whole condition')


def _terms(found):
  """Yields the ranges of tokens between && and ||, at every depth of brackets.
  """
  # for each open bracket: indexes of the tokens at which its operands of && and
  # || begin
  opened = [[0]]
  for i, token in enumerate(found + [None]):
    if token is None or token.text in (')', ']', '}'):
      begins = opened.pop()
      if len(begins) > 1:
        yield begins[-1], i
      if not opened:
        return
    elif token.text in ('(', '[', '{'):
      opened.append([i + 1])
    elif token.text in ('&&', '||'):
      yield opened[-1][-1], i
      opened[-1].append(i + 1)
