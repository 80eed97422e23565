"""The schemas of Kubernetes, JobSet, cert-manager and the Prometheus operator,
and validation."""

import copy
import json
import os

import jsonschema

HERE = os.path.dirname(os.path.realpath(__file__))

# Objects whose keys are chosen by the user: every key is valid in them.
FREE_KEYS = {'labels', 'annotations', 'matchLabels', 'nodeSelector', 'limits',
             'requests'}


def _load(name):
  with open(os.path.join(HERE, 'schemas', name)) as file:
    return json.load(file)


class Schemas:
  """For each kind, the schema of every version of Kubernetes."""

  def __init__(self):
    kubernetes = _load('kubernetes.json')
    custom = {}
    for name in ('jobset.json', 'cert-manager.json', 'pod-monitor.json'):
      custom.update(_load(name)['definitions'])
    self.versions = list(kubernetes['versions'])
    # The versions of Kubernetes for which the manifests need no overlay. These
    # manifests use backoffLimitPerIndex, which works from Kubernetes 1.29 on.
    # Older clusters need an overlay such as jobset-1.27.
    self.new_versions = [v for v in self.versions
                         if tuple(map(int, v.split('.'))) >= (1, 29)]
    self.old_versions = [v for v in self.versions
                         if v not in self.new_versions]
    self._validators = {}
    for version, own in kubernetes['versions'].items():
      definitions = {**kubernetes['common'], **own, **custom}
      for kind in definitions:
        # Make validators for kinds only. Other definitions have no blank in
        # their names, but kinds do, such as "batch/v1 Job".
        if ' ' in kind:
          schema = {**definitions[kind], '$defs': definitions}
          self._validators[version, kind] = jsonschema.Draft7Validator(schema)

  def errors(self, version, thing):
    """Returns the errors that server-side apply would report for `thing` in a
    version of Kubernetes, one line each."""
    kind = '%s %s' % (thing.get('apiVersion'), thing.get('kind'))
    if (version, kind) not in self._validators:
      return ['%s: unknown in %s' % (kind, version)]
    validator = self._validators[version, kind]
    found = ['%s: %s' % ('.'.join(map(str, error.absolute_path)), error.message)
             for error in validator.iter_errors(thing)]
    found += ['%s: null' % '.'.join(path) for path in _nulls(thing, ())]
    return found + list(_twice(validator.schema, validator.schema, thing, ()))


def _nulls(thing, path):
  if thing is None:
    yield path
  elif isinstance(thing, dict):
    for key, value in thing.items():
      yield from _nulls(value, path + (str(key),))
  elif isinstance(thing, list):
    for i, value in enumerate(thing):
      yield from _nulls(value, path + (str(i),))


def _twice(root, schema, thing, path):
  """Finds lists that Kubernetes treats as maps and in which two elements have
  the same key."""
  while '$ref' in schema:
    schema = root['$defs'][schema['$ref'].rsplit('/', 1)[1]]
  if isinstance(thing, dict):
    for key, value in thing.items():
      if key in schema.get('properties', {}):
        yield from _twice(root, schema['properties'][key], value, path + (key,))
  elif isinstance(thing, list):
    seen = set()
    for i, value in enumerate(thing):
      yield from _twice(root, schema.get('items', {}), value, path + (str(i),))
      keys = schema.get('x-kubernetes-list-map-keys')
      if not keys or not isinstance(value, dict):
        continue
      # Two elements of a list are duplicates if all of the list's map keys have
      # equal values in them. `protocol` is the only map key with a default
      # value.
      own = tuple(value.get(key, 'TCP' if key == 'protocol' else None)
                  for key in keys)
      if own in seen:
        yield '%s: %s twice' % ('.'.join(path), ', '.join(map(str, own)))
      seen.add(own)


def misspelt(thing):
  """Yields copies of `thing`, each with one additional letter in one field
  name."""
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
