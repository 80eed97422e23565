"""Kubernetes' and JobSet's own schemas, and validation against them."""

import copy
import json
import os

import jsonschema

HERE = os.path.dirname(os.path.realpath(__file__))

# Below these, keys are the user's, and any is allowed.
FREE_KEYS = {'labels', 'annotations', 'matchLabels', 'nodeSelector', 'limits',
             'requests'}


def _load(name):
  with open(os.path.join(HERE, 'schemas', name)) as file:
    return json.load(file)


class Schemas:
  """Of each kind, one schema a version of Kubernetes."""

  def __init__(self):
    kubernetes, jobset = _load('kubernetes.json'), _load('jobset.json')
    self.versions = list(kubernetes['versions'])
    self._validators = {}
    for version, own in kubernetes['versions'].items():
      definitions = {**kubernetes['common'], **own, **jobset['definitions']}
      for kind in definitions:
        if ' ' in kind:  # "batch/v1 Job"; what it refers to has none
          schema = {**definitions[kind], '$defs': definitions}
          self._validators[version, kind] = jsonschema.Draft7Validator(schema)

  def errors(self, version, thing):
    """What is wrong with `thing` under that version, a line each."""
    kind = '%s %s' % (thing.get('apiVersion'), thing.get('kind'))
    if (version, kind) not in self._validators:
      return ['%s: unknown in %s' % (kind, version)]
    found = self._validators[version, kind].iter_errors(thing)
    return ['%s: %s' % ('.'.join(map(str, error.absolute_path)), error.message)
            for error in found]


def misspelt(thing):
  """Copies of `thing`, in each of them one field with a letter too many."""
  for path in _fields(thing, ()):
    copied = copy.deepcopy(thing)
    parent = copied
    for step in path[:-1]:
      parent = parent[step]
    parent[path[-1] + 'x'] = parent.pop(path[-1])
    yield '.'.join(map(str, path)), copied


def _fields(thing, path):
  if isinstance(thing, list):
    for i, one in enumerate(thing):
      yield from _fields(one, path + (i,))
  elif isinstance(thing, dict):
    free = path[-1:] and path[-1] in FREE_KEYS or path == ('spec', 'selector')
    for key, value in thing.items():
      if not free:
        yield path + (key,)
      yield from _fields(value, path + (key,))
