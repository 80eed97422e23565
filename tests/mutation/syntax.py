"""Finds the functions of a C++ source and their statements, as mutants need
them.

Reads tokens and brackets only, no types and no preprocessor lines. Code that it
cannot read is skipped, so a mutant of such code is reported as not found.
"""

import collections
import re

_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|^[ \t]*#(?:\\\n|[^\n])*'  # not part of the syntax
    r'|(?P<token>R"(?P<mark>\w*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\])*"'
    r"|'(?:\\.|[^'\\])+'|\w+(?:'\d+)*|::|->|&&|\|\||[^\s\w])",
    re.DOTALL | re.MULTILINE)
_CLOSING = {'(': ')', '[': ']', '{': '}'}

Token = collections.namedtuple('Token', 'text start end')

# A statement of a function. `kind`: its keyword (if, for, while, switch,
# return), or `do` for any other statement, `body` for a whole function,
# `declare` for a declaration outside of functions.
#
# Each of the last three fields is a span, a pair of offsets into the source.
# `whole`: the statement with the statements that its keyword controls. `head`:
# the statement without them. `value`: the condition, or the expression that is
# returned or assigned (None: there is none).
Statement = collections.namedtuple(
    'Statement', 'function kind whole head value')


def tokens(text):
  """Returns the tokens of `text`, without comments and preprocessor lines."""
  return [Token(found['token'], found.start(), found.end())
          for found in _TOKEN.finditer(text) if found['token']]


def words(text):
  """Returns the identifiers and numbers of `text`."""
  return {token.text for token in tokens(text)
          if re.match(r'\w', token.text)}


def statements(text):
  """Returns all statements of `text`; an outer statement comes before those
  inside of it."""
  reader = _Reader(tokens(text))
  reader.read_scope(0, '')
  return sorted(reader.found, key=lambda s: (s.whole[0], -s.whole[1]))


class _Reader:
  """Reads parts of the source. Each method begins at the token `i` and returns
  the index of the next token."""

  def __init__(self, found):
    self._tokens = found
    self._partner = {}
    self.found = []
    opened = []
    for i, token in enumerate(found):
      if token.text in _CLOSING:
        opened.append(i)
      elif opened and token.text == _CLOSING[found[opened[-1]].text]:
        self._partner[opened.pop()] = i

  def _text(self, i):
    return self._tokens[i].text if 0 <= i < len(self._tokens) else ''

  def _after(self, i):
    """Returns the index after the bracket that closes the one at `i`."""
    return self._partner.get(i, len(self._tokens)) + 1

  def _span(self, begin, end):
    # The text may end before a bracket is closed. The statement then ends with
    # the text.
    end = min(end, len(self._tokens))
    return self._tokens[min(begin, end - 1)].start, self._tokens[end - 1].end

  def _add(self, function, kind, whole, head, value):
    spans = [self._span(*part) if part and part[0] < part[1] else None
             for part in (whole, head, value)]
    self.found.append(Statement(function, kind, *spans))

  # --- parsing outside of functions

  def read_scope(self, i, scope):
    """Reads declarations up to the end of the scope that `i` is in."""
    begin = i
    while i < len(self._tokens) and self._text(i) != '}':
      text = self._text(i)
      if text == ';':
        self._add(scope, 'declare', (begin, i + 1), (begin, i + 1),
                  self._assigned(begin, i))
        begin = i = i + 1
      elif text == '{':
        head = [token.text for token in self._tokens[begin:i]]
        name = self._function_name(begin, i)
        if 'namespace' in head or head[:1] == ['extern']:
          begin = i = self.read_scope(i + 1, scope) + 1
        elif name and self._text(i - 1) not in ('=', ','):
          i = self._body_of(begin, i)
          end = self._after(i)
          self._add(self._joined(scope, name), 'body', (i, end), (i, end), None)
          self._read_block(i, self._joined(scope, name))
          begin = i = end
        elif {'class', 'struct', 'union'} & set(head) and '(' not in head:
          names = [word for word in head if re.match(r'[A-Za-z_]', word)
                   and word not in ('class', 'struct', 'union', 'final')]
          self.read_scope(i + 1, self._joined(scope, (names or [''])[0]))
          i = self._after(i)
        else:
          i = self._after(i)
      elif text in ('(', '['):
        i = self._after(i)
      elif text == ':' and self._text(i - 1) in (
          'public', 'private', 'protected'):
        begin = i = i + 1
      else:
        i += 1
    return i

  @staticmethod
  def _joined(scope, name):
    return scope + '::' + name if scope else name

  def _function_name(self, begin, end):
    """Returns the name of the function whose body follows the tokens; None: no
    function."""
    for i in range(begin, end):
      if self._text(i) == '=':
        return None
      if self._text(i) == '(' and re.match(r'[A-Za-z_]', self._text(i - 1)):
        name = self._text(i - 1)
        while self._text(i - 2) == '::' and i - 3 >= begin:
          name, i = self._text(i - 3) + '::' + name, i - 2
        return name
    return None

  def _body_of(self, begin, i):
    """Returns the index of a function's body. Skips a constructor's members
    that are initialised in braces."""
    while (':' in [token.text for token in self._tokens[begin:i]] and
           self._text(self._after(i)) in (',', '{')):
      i = self._after(i)
      while self._text(i) not in ('{', ''):
        i = self._after(i) if self._text(i) == '(' else i + 1
    return i

  # --- parsing inside of functions

  def _read_block(self, i, function):
    end = self._partner.get(i, len(self._tokens))
    i += 1
    while i < end:
      i = max(i + 1, self._read_statement(i, function))
    return end + 1

  def _read_statement(self, i, function):
    text = self._text(i)
    if text == '{':
      return self._read_block(i, function)
    if text in ('case', 'default'):
      while self._text(i) not in (':', ''):
        i += 1
      return i + 1
    if text in ('else', 'do'):
      return self._read_statement(i + 1, function)
    if text in ('if', 'for', 'while', 'switch'):
      return self._read_control(i, function)
    return self._read_simple(i, function)

  def _read_control(self, i, function):
    opening = i + 1
    while self._text(opening) not in ('(', ''):
      opening += 1
    condition = (opening + 1, self._after(opening) - 1)
    self._read_lambdas(*condition, function)
    end = self._read_statement(self._after(opening), function)
    if self._text(i) == 'if' and self._text(end) == 'else':
      end = self._read_statement(end, function)
    # In `if (initialisation; condition)` only the part after the semicolon is
    # the condition.
    for k in range(*condition):
      if self._text(i) == 'if' and self._text(k) == ';':
        condition = (k + 1, condition[1])
    self._add(function, self._text(i), (i, end), (i, self._after(opening)),
              condition)
    return end

  def _read_simple(self, i, function):
    begin = i
    while self._text(i) not in (';', '}', ''):
      i = self._after(i) if self._text(i) in _CLOSING else i + 1
    end = i + 1 if self._text(i) == ';' else i
    if end == begin:
      return end
    self._read_lambdas(begin, i, function)
    is_return = self._text(begin) == 'return'
    self._add(function, 'return' if is_return else 'do', (begin, end),
              (begin, end),
              (begin + 1, i) if is_return else self._assigned(begin, i))
    return end

  def _assigned(self, begin, end):
    """Returns the range of tokens after the last `=` outside of brackets; None:
    no `=`."""
    i, value = begin, None
    while i < end:
      if self._text(i) == '=' and self._text(i - 1) not in '<>!=' and (
          self._text(i + 1) != '='):
        value = (i + 1, end)
      i = self._after(i) if self._text(i) in _CLOSING else i + 1
    return value

  def _read_lambdas(self, begin, end, function):
    """Reads the bodies of the lambdas in a statement."""
    i = begin
    while i < end:
      if self._text(i) == '[' and not re.match(r'[\w)\]]', self._text(i - 1)):
        i = self._after(i)
        while i < end and self._text(i) not in ('{', ',', ';', ')'):
          i = self._after(i) if self._text(i) == '(' else i + 1
        if self._text(i) == '{':
          i = self._read_block(i, function)
      else:
        i += 1
