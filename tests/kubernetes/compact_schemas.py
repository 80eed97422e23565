#!/usr/bin/python3
"""Writes schemas/kubernetes.json: the parts of Kubernetes' schemas that the
manifests' test needs.

    compact_schemas.py kubernetes_validate-1.37.0-py3-none-any.whl

The wheel (PyPI, `pip download --no-deps kubernetes-validate`) carries the API
server's own JSON schemas of many versions. The output contains the kinds that
the manifests use and the definitions to which these refer, without
descriptions. A definition that is the same in all versions is written once. The
source is the strict schemas, in which a field that Kubernetes does not know is
an error. They allow null for every field, as `kubectl create` does. Server-side
apply does not, so the output does not allow it either.
"""

import json
import os
import sys
import zipfile

VERSIONS = ['1.27', '1.28', '1.29', '1.31', '1.34', '1.37']
KINDS = {
    'batch/v1 Job': 'job-batch-v1',
    'v1 Service': 'service-v1',
    'v1 PersistentVolumeClaim': 'persistentvolumeclaim-v1',
    'apps/v1 Deployment': 'deployment-apps-v1',
    'apps/v1 StatefulSet': 'statefulset-apps-v1',
    'networking.k8s.io/v1 NetworkPolicy': 'networkpolicy-networking-v1',
    'policy/v1 PodDisruptionBudget': 'poddisruptionbudget-policy-v1',
}
# Further types to keep: JobSet's definitions refer to them, but the kinds in
# KINDS do not.
BESIDES = ['io.k8s.api.batch.v1.JobTemplateSpec',
           'io.k8s.api.core.v1.PersistentVolumeClaim']
FOLDER = 'kubernetes_validate/kubernetes-json-schema/v%s.0-local-strict/%s.json'
DROPPED = {'description', '$schema', '$id', 'x-kubernetes-group-version-kind',
           'x-kubernetes-patch-merge-key', 'x-kubernetes-patch-strategy',
           'x-kubernetes-list-type', 'x-kubernetes-unions',
           'x-kubernetes-map-type', 'default'}


def compact(schema, is_properties=False):
  """Removes keys without effect; a property may be named "description"."""
  if isinstance(schema, list):
    return [compact(one) for one in schema]
  if not isinstance(schema, dict):
    return schema
  kept = {}
  for key, value in schema.items():
    if not is_properties and key in DROPPED:
      continue
    if key == '$ref':
      value = '#/$defs/' + value.rsplit('/', 1)[1]
    if key == 'type' and isinstance(value, list) and not is_properties:
      value = [name for name in value if name != 'null']
      value = value[0] if len(value) == 1 else value
    kept[key] = compact(value, key == 'properties' and not is_properties)
  return kept


def references(schema):
  if isinstance(schema, list):
    for one in schema:
      yield from references(one)
  elif isinstance(schema, dict):
    for key, value in schema.items():
      if key == '$ref':
        yield value.rsplit('/', 1)[1]
      else:
        yield from references(value)


def definitions_of(wheel, version):
  """Returns the kinds by their "apiVersion kind", and the definitions to which
  they refer."""
  everything = json.loads(
      wheel.read(FOLDER % (version, '_definitions')))['$defs']
  chosen, waiting = {}, list(BESIDES)
  for kind, file in KINDS.items():
    chosen[kind] = compact(json.loads(wheel.read(FOLDER % (version, file))))
    waiting += references(chosen[kind])
  while waiting:
    name = waiting.pop()
    if name in chosen:
      continue
    chosen[name] = compact(everything[name])
    waiting += references(chosen[name])
  return chosen


def main():
  wheel = zipfile.ZipFile(sys.argv[1])
  of = {version: definitions_of(wheel, version) for version in VERSIONS}
  first = of[VERSIONS[0]]
  common = {name: schema for name, schema in first.items()
            if all(of[v].get(name) == schema for v in VERSIONS)}
  document = {
      'source': 'https://pypi.org/project/kubernetes-validate/ %s, from '
                'https://github.com/kubernetes/kubernetes' %
                os.path.basename(sys.argv[1]),
      'licence': 'Apache-2.0',
      'common': common,
      'versions': {version: {name: schema
                             for name, schema in of[version].items()
                             if name not in common}
                   for version in VERSIONS},
  }
  path = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      'schemas', 'kubernetes.json')
  with open(path, 'w') as file:
    # One definition on each line, so that a change is a readable diff.
    file.write('{"source":%s,\n"licence":%s,\n"common":{\n' % (
        json.dumps(document['source']), json.dumps(document['licence'])))
    write_definitions(file, common)
    file.write('},\n"versions":{\n')
    for i, version in enumerate(VERSIONS):
      file.write('%s"%s":{\n' % (',\n' if i else '', version))
      write_definitions(file, document['versions'][version])
      file.write('}')
    file.write('}}\n')


def write_definitions(file, definitions):
  lines = ['%s:%s' % (json.dumps(name), json.dumps(schema, sort_keys=True,
                                                   separators=(',', ':')))
           for name, schema in sorted(definitions.items())]
  file.write(',\n'.join(lines) + '\n')


if __name__ == '__main__':
  main()
