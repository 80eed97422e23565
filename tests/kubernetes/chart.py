#!/usr/bin/python3
"""The Helm chart, rendered.

    chart.py

writes new files rendered/*.yaml: run it after a change of the chart. It needs
Go and sprig (golang-go, golang-github-masterminds-sprig-dev), with which Helm
renders too. The manifests' test validates these files. By the hash in their
first line it detects files that are older than the chart.
"""

import collections
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys

import documents
import jsonschema

HERE = os.path.dirname(os.path.realpath(__file__))
CHART = os.path.join(HERE, '..', '..', 'deploy', 'kubernetes', 'helm', 'muster')
RENDERED = os.path.join(HERE, 'rendered')

# Chart values for every kind of job: a value for each setting that all kinds
# have.
_COMMON = {
    'gpus': 8, 'tokenSecret': 'trainer-token', 'flags': ['--max-restarts=3'],
    'args': ['train.py', '--steps', '1000'],
    'env': [{'name': 'NCCL_DEBUG', 'value': 'WARN'}],
    'volumes': [{'name': 'data', 'persistentVolumeClaim': {'claimName': 'd'}}],
    'volumeMounts': [{'name': 'data', 'mountPath': '/data'}],
    'nodeSelector': {'cloud.example/pool': 'h100'},
    'tolerations': [{'key': 'spot', 'operator': 'Exists'}],
    'preemptGrace': 300, 'shutdownTimeout': 60, 'podTimeout': 3600,
    'tls': {'enabled': True},
    'metrics': {'enabled': True, 'service': {'enabled': True},
                'podMonitor': {'enabled': True, 'interval': '15s',
                               'labels': {'release': 'prometheus'}}},
    'networkPolicy': {
        'operators': [{'ipBlock': {'cidr': '10.1.0.0/16'}}],
        'monitoring': [{'namespaceSelector': {
            'matchLabels': {'kubernetes.io/metadata.name': 'monitoring'}}}],
        'egress': [{'to': [{'ipBlock': {'cidr': '10.2.0.0/16'}}],
                    'ports': [{'port': 2049, 'protocol': 'TCP'}]}]},
}
# Chart values for the state of rendezvousd, the coordinator of an elastic job:
# in a volume (_STATE), or in etcd (_ETCD, _WHOLE_ETCD). Coordinators of other
# jobs keep no state.
_STATE = {'enabled': True, 'size': '2Gi', 'storageClassName': 'fast'}
_ETCD = {'endpoints': ['etcd:2379'], 'existingSecret': 'etcd-client'}
_WHOLE_ETCD = {
    'endpoints': ['10.3.0.1', '10.3.0.2:2379', 'etcd-2.etcd:2381'],
    'prefix': 'lab/trainer', 'replicas': 3, 'existingSecret': 'etcd-client',
    'secretKeys': ['ca.crt', 'tls.crt', 'tls.key', 'user']}
MODES = ['job', 'jobset', 'elastic']
# Chart values by kind of job (job, jobset, elastic). Each setting that this
# kind of job has is given a value.
EVERYTHING = {
    mode: dict(_COMMON, mode=mode, **(
        {'coordinator': {'state': _STATE}} if mode == 'elastic' else {}))
    for mode in MODES}
# Each kind of job is rendered twice: with the chart's default values, and with
# the values in EVERYTHING.
CASES = {mode + suffix: values for mode in MODES
         for suffix, values in [('', {'mode': mode}),
                                ('-everything', EVERYTHING[mode])]}
# Also render several rendezvousd with their state in etcd, instead of one with
# a volume.
CASES.update({
    'elastic-etcd': {'mode': 'elastic', 'coordinator': {'etcd': _ETCD}},
    'elastic-etcd-everything': dict(_COMMON, mode='elastic',
                                    coordinator={'etcd': _WHOLE_ETCD})})
# A new and an old version of Kubernetes. Before 1.29 a Job has no
# backoffLimitPerIndex.
NEW, OLD = 'v1.34.0', 'v1.27.0'


def chart_hash():
  digest = hashlib.sha256()
  for folder, folders, files in os.walk(CHART):
    folders.sort()
    for file in sorted(files):
      digest.update(file.encode())
      with open(os.path.join(folder, file), 'rb') as opened:
        digest.update(opened.read())
  return digest.hexdigest()


def default_values():
  with open(os.path.join(CHART, 'values.yaml')) as file:
    return documents.load(file.read())


def merged(defaults, values):
  """Merges `values` into the defaults as Helm does: a map keeps the keys that
  `values` does not contain."""
  both = dict(defaults)
  for key, value in values.items():
    is_map = isinstance(value, dict) and isinstance(both.get(key), dict)
    both[key] = merged(both[key], value) if is_map else value
  return both


def go_program():
  """Returns the path of the Go command, or None."""
  found = shutil.which('go')
  if found:
    return found
  debian = '/usr/lib/go-1.19/bin/go'
  return debian if os.path.exists(debian) else None


# The result of rendering a chart. `text`: the objects as YAML; `error`: why
# rendering failed.
Rendered = collections.namedtuple('Rendered', ['text', 'error'])


class Renderer:
  """A running render.go, which answers one request at a time."""

  def __init__(self, program):
    self._process = subprocess.Popen([program, CHART, 'trainer'],
                                     stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)

  def render(self, values, version=NEW, only=''):
    """Returns the chart's objects, or those of one of its files, for a cluster
    of the given version. Missing values have their defaults."""
    request = {'values': merged(default_values(), values), 'version': version,
               'only': only}
    self._process.stdin.write(json.dumps(request) + '\n')
    self._process.stdin.flush()
    answer = json.loads(self._process.stdout.readline())
    return Rendered(answer['text'], answer['error'])

  def close(self):
    self._process.stdin.close()
    self._process.stdout.close()
    self._process.wait()


def build_renderer(folder):
  """Builds render.go and starts it. Returns a Renderer, or None with a reason.
  """
  go = go_program()
  if not go:
    return None, 'no go (Debian: golang-go)'
  path = os.path.join(folder, 'render')
  environment = dict(os.environ, GO111MODULE='off', GOPATH='/usr/share/gocode',
                     GOCACHE=os.path.join(folder, 'cache'), HOME=folder)
  built = subprocess.run(
      [go, 'build', '-o', path, os.path.join(HERE, 'render', 'render.go')],
      env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
      text=True)
  if built.returncode != 0:
    if 'cannot find package' in built.stdout:
      return None, 'no sprig (Debian: golang-github-masterminds-sprig-dev)'
    raise RuntimeError(built.stdout)
  return Renderer(path), ''


@functools.lru_cache(maxsize=None)
def _values_schema():
  with open(os.path.join(CHART, 'values.schema.json')) as file:
    return jsonschema.Draft7Validator(json.load(file))


def values_errors(values):
  """Returns the errors that values.schema.json finds in these values, as Helm
  does; null counts as no value."""
  given = {key: value for key, value in merged(default_values(), values).items()
           if value is not None}
  return ['%s: %s' % ('.'.join(map(str, error.absolute_path)), error.message)
          for error in _values_schema().iter_errors(given)]


def main():
  import tempfile
  with tempfile.TemporaryDirectory() as folder:
    renderer, why = build_renderer(folder)
    if not renderer:
      sys.exit('chart.py: ' + why)
    os.makedirs(RENDERED, exist_ok=True)
    for name, values in CASES.items():
      done = renderer.render(values)
      if done.error:
        sys.exit(done.error)
      with open(os.path.join(RENDERED, name + '.yaml'), 'w') as file:
        file.write('# chart %s\n%s' % (chart_hash(), done.text))
    renderer.close()


if __name__ == '__main__':
  main()
