"""Reads the project's own files for the house rules."""

import collections
import os
import re

# A source file. `path`: relative to the project's root. `code`: `text` with its
# comments blanked; strings and line numbers stay.
Source = collections.namedtuple('Source', 'path text code')

_SKIPPED_FOLDERS = {'.git', '__pycache__'}
# Files that git ignores, so they are not part of the source tree:
# tools/compile_commands generates compile_commands.json.
_SKIPPED_FILES = {'compile_commands.json'}
_TEXT_ENDINGS = ('.h', '.cc', '.inc', '.cu', '.c', '.py', '.sh', '.bzl', '.proto',
                 '.md', '.yaml', '.yml', '.json', '.txt', '.service')
_COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def root():
  """Returns the project's root, found from the real path of this file."""
  here = os.path.dirname(os.path.realpath(__file__))
  return os.path.dirname(os.path.dirname(here))


def strip_comments(path, text):
  """Returns `text` with its comments replaced by blanks; line numbers stay the
  same."""
  if path.endswith(('.h', '.cc', '.inc', '.cu', '.c', '.proto')):
    def blank(match):
      found = match.group()
      return found if found[0] == '"' else '\n' * found.count('\n')
    return _COMMENT_OR_STRING.sub(blank, text)
  if path.endswith(('.py', '.sh', '.bzl')) or '.' not in os.path.basename(path):
    return re.sub(r'(?m)(^|\s)#[^\n]*', r'\1', text)
  return text


def source(path, text):
  return Source(path, text, strip_comments(path, text))


def _is_text(folder, name):
  if name.endswith(_TEXT_ENDINGS) or name in ('BUILD', 'WORKSPACE'):
    return True
  with open(os.path.join(folder, name), 'rb') as file:
    return file.read(2) == b'#!'


def all_sources():
  """Returns every text file of the project."""
  top = root()
  found = []
  for folder, folders, names in os.walk(top):
    folders[:] = sorted(
        f for f in folders if f not in _SKIPPED_FOLDERS
        and not os.path.islink(os.path.join(folder, f)))
    for name in sorted(names):
      full = os.path.join(folder, name)
      if (os.path.islink(full) or name in _SKIPPED_FILES or
          not _is_text(folder, name)):
        continue
      with open(full, encoding='utf-8') as file:
        found.append(source(os.path.relpath(full, top), file.read()))
  return found
