"""Draws the losses of two trainings, and their difference, as an SVG."""

import math

_WIDTH, _LEFT, _RIGHT = 720, 70, 20
# Top and bottom, in pixels, of the panel with the losses and of the panel with
# their differences.
_LOSSES, _DIFFERENCES = (50, 330), (400, 520)
_HEIGHT = 570
_OURS, _THEIRS, _FAINT = '#0b5394', '#f0a860', '#dddddd'


class Panel:
  """A panel with its coordinate system."""

  def __init__(self, steps, place, values):
    self._steps, self._values = steps, values
    self._top, self._bottom = place
    self.parts = []

  def x(self, step):
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * step / self._steps

  def y(self, value):
    low, high = self._values
    inside = min(max(value, low), high)
    return self._bottom - (self._bottom - self._top) * (inside - low) / (
        high - low)

  def text(self, x, y, words, anchor='start', extra=''):
    self.parts.append('<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>' % (
        x, y, anchor, extra, words))

  def grid(self, ticks, form, label):
    for tick in ticks:
      y = self.y(tick)
      self.parts.append('<path d="M%d %.1fH%d" stroke="%s"/>' % (
          _LEFT, y, _WIDTH - _RIGHT, _FAINT))
      self.text(_LEFT - 8, y + 4, form % tick, 'end')
    for step in range(0, self._steps + 1, self._steps // 8):
      self.parts.append('<path d="M%.1f %dV%d" stroke="%s"/>' % (
          self.x(step), self._top, self._bottom, _FAINT))
      self.text(self.x(step), self._bottom + 16, str(step), 'middle')
    self.text(_LEFT, self._top - 10, label)

  def line(self, curve, colour, width):
    points = ' '.join('%.1f,%.1f' % (self.x(step), self.y(value))
                      for step, value in sorted(curve.items()))
    self.parts.append(
        '<polyline points="%s" fill="none" stroke="%s" stroke-width="%s" '
        'stroke-linejoin="round"/>' % (points, colour, width))

  def dots(self, curve, colour, radius):
    for step, value in sorted(curve.items()):
      self.parts.append('<circle cx="%.1f" cy="%.1f" r="%s" fill="%s"/>' % (
          self.x(step), self.y(value), radius, colour))

  def key(self, x, colour, width, words):
    y = self._top + 18
    self.parts.append('<path d="M%d %dh34" stroke="%s" stroke-width="%s"/>' % (
        x, y - 4, colour, width))
    self.text(x + 42, y, words)


def _difference(ours, theirs):
  return {step: ours[step] - theirs[step] for step in ours if step in theirs}


def draw(title, ours, theirs):
  """Returns the SVG. The losses of each training are a pair (training,
  validation) of dictionaries {step: loss}."""
  steps = max(ours[0])
  losses = [loss for course in (ours, theirs) for curve in course
            for loss in curve.values()]
  low, high = math.floor(4 * min(losses)) / 4, math.ceil(2 * max(losses)) / 2
  above = Panel(steps, _LOSSES, (low, high))
  above.grid([low + (high - low) * i / 5 for i in range(6)], '%.2f',
             'loss: of every tenth batch (lines), of validation (dots)')
  above.line(theirs[0], _THEIRS, 4)
  above.line(ours[0], _OURS, 1)
  above.dots(theirs[1], _THEIRS, 7)
  above.dots(ours[1], _OURS, 3.5)
  above.key(_WIDTH - 330, _OURS, 2, 'ours')
  above.key(_WIDTH - 200, _THEIRS, 6, 'PyTorch')

  # Scale the differences by a power of ten, so that even small ones are
  # visible.
  training = _difference(ours[0], theirs[0])
  validation = _difference(ours[1], theirs[1])
  most = max(1e-9, *map(abs, [*training.values(), *validation.values()]))
  exponent = math.floor(math.log10(most))
  training, validation = (
      {step: value / 10**exponent for step, value in curve.items()}
      for curve in (training, validation))
  reach = math.ceil(most / 10**exponent)
  below = Panel(steps, _DIFFERENCES, (-reach, reach))
  below.grid((-reach, -reach / 2, 0, reach / 2, reach), '%g',
             'ours less PyTorch, in units of 1e%d; allowed at the end: 0.02' %
             exponent)
  below.line(training, _OURS, 1)
  below.dots(validation, _OURS, 3.5)
  below.text((_LEFT + _WIDTH - _RIGHT) / 2, _DIFFERENCES[1] + 36, 'step',
             'middle')
  below.text(_LEFT, 22, title, extra=' font-size="15"')
  return (
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" '
      'font-family="sans-serif" font-size="12" fill="#222222">\n'
      '<rect width="100%%" height="100%%" fill="white"/>\n%s\n</svg>\n' % (
          _WIDTH, _HEIGHT, '\n'.join(above.parts + below.parts)))
