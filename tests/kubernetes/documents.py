"""YAML documents as objects."""

import functools
import pickle

import yaml

# libyaml's loader is ten times as fast as the one in Python.
_LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)


@functools.lru_cache(maxsize=None)
def _pickled(text):
  return pickle.dumps(list(yaml.load_all(text, _LOADER)))


def load_all(text):
  """Parses the documents of a stream. A text is parsed only once, but each
  caller gets separate objects, which it may change."""
  return pickle.loads(_pickled(text))


def load(text):
  """Returns the only document of `text`."""
  document, = load_all(text)
  return document
