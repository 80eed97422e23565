"""The screen of a terminal: what a program's escape sequences have drawn."""

import re
import xml.sax.saxutils

# An escape sequence of a terminal of the type xterm, or one character.
_TOKEN = re.compile(r'\x1b\[(?P<arguments>[?>]?[\d;]*)(?P<name>[@A-Za-z])|'
                    r'\x1b(?:[()][0B]|[=>78])|(?P<character>[^\x1b])', re.DOTALL)
# The sequences that change modes, and do not draw.
_MODES = 'hltn'

_WIDTH, _HEIGHT, _MARGIN = 8.4, 18, 14  # of a character, in pixels of the SVG
_BACK, _TEXT = '#12161c', '#e4e8ee'


class Screen:
  """Understands the sequences that ncurses uses for xterm. The others raise an
  exception."""

  def __init__(self, lines, columns):
    self._columns = columns
    # Each cell is a character, and whether it is drawn in reverse colours.
    self._cells = [[(' ', False)] * columns for _ in range(lines)]
    self._line = self._column = 0
    self._reverse = False
    self._last = ' '
    self._rest = ''  # the beginning of a sequence that is not yet complete

  def feed(self, text):
    text = self._rest + text
    at = 0
    while at < len(text):
      token = _TOKEN.match(text, at)
      if token is None:
        if len(text) - at > 40:
          raise ValueError(f'unknown sequence: {text[at:at + 40]!r}')
        break
      if token['character']:
        self._put(token['character'])
      elif token['name']:
        self._do(token['name'], token['arguments'])
      at = token.end()
    self._rest = text[at:]

  def _put(self, character):
    if character == '\r':
      self._column = 0
    elif character == '\n':
      self._line = min(self._line + 1, len(self._cells) - 1)
    elif character == '\b':
      self._column = max(min(self._column, self._columns - 1) - 1, 0)
    elif character >= ' ':
      if self._column == self._columns:
        self._line = min(self._line + 1, len(self._cells) - 1)
        self._column = 0
      self._cells[self._line][self._column] = (character, self._reverse)
      self._column += 1
      self._last = character

  def _do(self, name, arguments):
    if name in _MODES:
      return
    numbers = [int(number or 0) for number in arguments.split(';')]
    count = max(numbers[0], 1)
    cells = self._cells[self._line]
    blank = (' ', False)
    if name == 'm':
      for number in numbers:
        if number in (0, 7, 27):
          self._reverse = number == 7
    elif name in 'Hf':
      self._line = count - 1
      self._column = max(numbers[1] if len(numbers) > 1 else 1, 1) - 1
    elif name == 'd':
      self._line = count - 1
    elif name == 'G':
      self._column = count - 1
    elif name in 'AB':
      self._line += count if name == 'B' else -count
    elif name in 'CD':
      self._column += count if name == 'C' else -count
    elif name == 'J':
      if numbers[0] == 2:
        self._cells = [[blank] * self._columns for _ in self._cells]
      elif numbers[0] == 0:
        self._do('K', '0')
        for line in range(self._line + 1, len(self._cells)):
          self._cells[line] = [blank] * self._columns
      else:
        raise ValueError(f'unknown sequence: J {arguments}')
    elif name == 'K':
      first, end = {0: (self._column, self._columns),
                    1: (0, self._column + 1),
                    2: (0, self._columns)}[numbers[0]]
      cells[first:end] = [blank] * (end - first)
    elif name == 'X':
      end = min(self._column + count, self._columns)
      cells[self._column:end] = [blank] * (end - self._column)
    elif name == 'P':
      del cells[self._column:self._column + count]
      cells += [blank] * (self._columns - len(cells))
    elif name == '@':
      cells[self._column:self._column] = [blank] * count
      del cells[self._columns:]
    elif name in 'LM':
      end = len(self._cells)
      empty = [[blank] * self._columns for _ in range(count)]
      if name == 'L':
        self._cells[self._line:self._line] = empty
      else:
        self._cells += empty
        del self._cells[self._line:self._line + count]
      del self._cells[end:]
    elif name == 'r' and numbers[-1] in (0, len(self._cells)):
      self._line = self._column = 0  # the whole screen scrolls, as always
    elif name == 'b':
      for _ in range(count):
        self._put(self._last)
    else:
      raise ValueError(f'unknown sequence: {name} {arguments}')

  def lines(self):
    return [''.join(character for character, _ in line).rstrip()
            for line in self._cells]

  def svg(self):
    """The screen as a picture. Each piece of text has a fixed width, so that
    the columns stand below each other in any font."""
    width = self._columns * _WIDTH + 2 * _MARGIN
    height = len(self._cells) * _HEIGHT + 2 * _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} '
        f'{height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" '
        'font-size="14">',
        f'<rect width="100%" height="100%" rx="8" fill="{_BACK}"/>']
    for number, line in enumerate(self._cells):
      y = _MARGIN + number * _HEIGHT
      marked = [i for i, (_, reverse) in enumerate(line) if reverse]
      if marked:
        parts.append(
            f'<rect x="{_MARGIN + marked[0] * _WIDTH:.1f}" y="{y}" '
            f'width="{(marked[-1] + 1 - marked[0]) * _WIDTH:.1f}" '
            f'height="{_HEIGHT}" fill="{_TEXT}"/>')
      text = ''.join(character for character, _ in line).rstrip()
      for piece in re.finditer(r'\S+(?: \S+)*', text):
        is_marked = line[piece.start()][1]
        parts.append(
            f'<text x="{_MARGIN + piece.start() * _WIDTH:.1f}" y="{y + 13.5}" '
            f'textLength="{len(piece[0]) * _WIDTH:.1f}" '
            f'fill="{_BACK if is_marked else _TEXT}">'
            f'{xml.sax.saxutils.escape(piece[0])}</text>')
    return '\n'.join([*parts, '</svg>', ''])
