"""Rules for the project's pages: the links, paths and targets in them must
exist.

Each rule takes the path and the text of one Markdown page, and `tree`, the set
of the paths of all files of the project. It yields its complaints.
"""

import fnmatch
import os
import posixpath
import re

MAX_README_LINES = 150

_FENCE = re.compile(r'(?ms)^ *```.*?^ *```')
_CODE = re.compile(r'`[^`\n]+`')
_LINK = re.compile(r'!?\[[^\]]*\]\(([^)\s]+)\)')
_TOP = (r'agent|base|bazel|deploy|docs|examples|launcher|models|nccl|proto|'
        r'rendezvous|store|tests|tools|trainer_sdk')
# Matches a path below the project's root, a target of Bazel, or a file that
# Bazel builds.
_NAMED = re.compile(
    r'(?<![\w/.$}@~-])(//|bazel-bin/|)((?:%s)(?:/[\w.*+-]+)*/?)(:[\w.-]+)?' % _TOP)


def _line(text, position):
  return text.count('\n', 0, position) + 1


def anchors(text):
  """Returns the anchors that GitHub generates for the headings of a page."""
  found = {}
  for heading in re.findall(r'(?m)^#+ +(.*)$', _FENCE.sub('', text)):
    heading = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', heading).lower()
    slug = re.sub(r'[^\w\- ]', '', heading).strip().replace(' ', '-')
    count = found.get(slug, -1) + 1
    found[slug] = count
    if count:
      found['%s-%d' % (slug, count)] = 0
  return set(found)


def _blank(pattern, text):
  return pattern.sub(lambda m: re.sub(r'[^\n]', ' ', m.group()), text)


def links(path, text, texts, tree):
  """A link inside the project leads to a file, and its anchor to a heading.

  Args:
    texts: the text of every Markdown page by its path.
  """
  prose = _blank(_CODE, _blank(_FENCE, text))
  for match in _LINK.finditer(prose):
    target, _, anchor = match.group(1).partition('#')
    if re.match(r'\w+:', match.group(1)):
      continue
    full = path if not target else posixpath.normpath(
        posixpath.join(posixpath.dirname(path), target))
    where = '%s:%d' % (path, _line(text, match.start()))
    if not _exists(full, tree):
      yield '%s: a link to %s, which does not exist' % (where, full)
    elif anchor and anchor not in anchors(texts.get(full, '')):
      yield '%s: a link to %s, which has no heading #%s' % (where, full, anchor)


def _exists(path, tree):
  path = path.rstrip('/')
  return path in tree or any(name.startswith(path + '/') for name in tree)


def _is_target(folder, name, tree, read):
  build = posixpath.join(folder, 'BUILD')
  return build in tree and (
      posixpath.join(folder, name) in tree or
      re.search(r'"%s"' % re.escape(name), read(build)) is not None)


def _is_there(kind, path, target, tree, read):
  plain = path.rstrip('/')
  if kind == '//' and plain.endswith('/...'):
    return _exists(plain[:-4], tree)
  if target and posixpath.join(plain, 'BUILD') in tree:
    return _is_target(plain, target[1:], tree, read)
  if kind == '//':
    return _is_target(plain, posixpath.basename(plain), tree, read)
  if kind == 'bazel-bin/':
    return _is_target(*posixpath.split(plain), tree, read)
  # A path without an ending, such as `a/b`, may stand for the files a/b.h and
  # a/b.cc.
  return _exists(plain, tree) or any(
      fnmatch.fnmatch(name, plain) or fnmatch.fnmatch(name, plain + '.*')
      for name in tree)


def named_paths(path, text, tree, read):
  """A path or a Bazel target in code markup exists.

  Args:
    read: a function that returns the text of a file.
  """
  code = [(m.start(), m.group()) for m in _FENCE.finditer(text)]
  code += [(m.start(), m.group()) for m in _CODE.finditer(_blank(_FENCE, text))]
  for start, piece in code:
    for match in _NAMED.finditer(piece):
      kind, named, target = match.groups()
      named = named.rstrip('.') if not named.endswith('...') else named
      if '/' not in named and not kind and not target:
        continue
      if not _is_there(kind, named, target, tree, read):
        yield '%s:%d: %s does not exist' % (
            path, _line(text, start + match.start()), match.group())


def readme_length(path, text):
  """The README is short: at most MAX_README_LINES lines."""
  lines = text.count('\n')
  if path == 'README.md' and lines > MAX_README_LINES:
    yield '%s: %d lines; at most %d' % (path, lines, MAX_README_LINES)


def index(pages, text):
  """docs/README.md links every page of docs/."""
  linked = set(_LINK.findall(text))
  for page in sorted(pages):
    name = os.path.basename(page)
    if posixpath.dirname(page) == 'docs' and name != 'README.md' and (
        name not in linked):
      yield 'docs/README.md: no link to %s' % name
