#!/usr/bin/python3
"""Draws one step of a timeline (`gpt train --timeline`) as an SVG.

    draw_timeline.py TRACE.json [STEP] > step.svg

Draws two lines for each rank: above, what the rank computes; below, the
reductions of its buckets of gradients, with hatching where the rank waited for
them. The default for STEP is the last step.
"""

import html
import json
import sys

_WIDTH, _LEFT, _RIGHT, _TOP = 960, 64, 16, 64
_COMPUTING, _COMMUNICATING, _RANK = 26, 16, 56
_COLOURS = {
    'forward': '#2f6cb3',
    'backward': '#3f9b62',
    'update': '#c98a1b',
    'bucket': '#8a4fb0',
    'wait for gradients': 'url(#waits)',
}
# Number of pixels that each character of a label needs. If a span is too narrow
# for its label, the label is omitted.
_LEAST_TEXT = 6


def _text(x, y, words, extra=''):
  return '<text x="%.1f" y="%.1f"%s>%s</text>' % (x, y, extra,
                                                  html.escape(words))


def _kind(event):
  """Returns the name of a span's colour; None for spans that are not drawn
  separately."""
  name = event['name']
  if name.startswith('bucket') or name == 'which were used':
    return 'bucket'
  if name == 'backward' or name.startswith('step '):
    return None
  return name if name in _COLOURS else 'backward'


def draw(events, step):
  """Returns the SVG of the complete events of one step."""
  events = [event for event in events
            if event['ph'] == 'X' and event['args']['step'] == step]
  whole = [event for event in events if event['name'] == 'step %d' % step]
  if not whole:
    raise ValueError('the timeline has no step %d' % step)
  begin = min(event['ts'] for event in whole)
  end = max(event['ts'] + event['dur'] for event in whole)
  scale = (_WIDTH - _LEFT - _RIGHT) / (end - begin)
  ranks = sorted({event['pid'] for event in whole})
  parts = [_text(16, 26, 'Step %d on %d ranks, %.0f ms' % (
      step, len(ranks), (end - begin) / 1e3), ' font-size="16"')]
  x = _LEFT
  for name in _COLOURS:
    parts.append('<rect x="%d" y="40" width="14" height="12" fill="%s"/>' % (
        x, _COLOURS[name]))
    parts.append(_text(x + 20, 51, name))
    x += 44 + 7 * len(name)
  for row, rank in enumerate(ranks):
    top = _TOP + 12 + row * _RANK
    parts.append(_text(_LEFT - 8, top + 18, 'rank %d' % rank,
                       ' text-anchor="end"'))
    for y, height in ((top, _COMPUTING),
                      (top + _COMPUTING + 2, _COMMUNICATING)):
      parts.append('<rect x="%d" y="%d" width="%d" height="%d" '
                   'fill="#efeff1"/>' % (_LEFT, y, _WIDTH - _LEFT - _RIGHT,
                                         height))
    for event in events:
      kind = _kind(event)
      if event['pid'] != rank or kind is None:
        continue
      x = _LEFT + (event['ts'] - begin) * scale
      width = max(event['dur'] * scale, 0.5)
      y, height = ((top + _COMPUTING + 2, _COMMUNICATING)
                   if kind == 'bucket' else (top, _COMPUTING))
      parts.append(
          '<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s" '
          'stroke="#fff" stroke-width="0.6"><title>%s, %.2f ms</title></rect>' %
          (x, y, width, height, _COLOURS[kind], html.escape(event['name']),
           event['dur'] / 1e3))
      label = event['name'].removeprefix('bucket ')
      if kind in ('bucket', 'backward', 'forward', 'update') and (
          width > _LEAST_TEXT * len(label)):
        parts.append(_text(x + width / 2, y + height / 2 + 4, label,
                           ' fill="#fff" font-size="11" text-anchor="middle"'))
  return (
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" '
      'font-family="sans-serif" font-size="12" fill="#222222">\n'
      '<defs><pattern id="waits" width="6" height="6" '
      'patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
      '<rect width="3" height="6" fill="#c0392b"/></pattern></defs>\n'
      '<rect width="100%%" height="100%%" fill="white"/>\n%s\n</svg>\n' % (
          _WIDTH, _TOP + 12 + len(ranks) * _RANK, '\n'.join(parts)))


def main():
  with open(sys.argv[1], encoding='utf-8') as file:
    events = json.load(file)['traceEvents']
  last = max((event['args']['step'] for event in events if event['ph'] == 'X'),
             default=0)
  sys.stdout.write(draw(events, int(sys.argv[2]) if len(sys.argv) > 2 else last))


if __name__ == '__main__':
  main()
