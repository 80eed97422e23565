#!/usr/bin/python3
"""The Helm chart, rendered.

    chart.py

writes rendered/*.yaml anew: run it after a change of the chart. It needs Go and
sprig (golang-go, golang-github-masterminds-sprig-dev), which are what Helm
renders with. The manifests' test validates what is written there, and finds it
older than the chart by the hash in its first line.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys

import jsonschema
import yaml

HERE = os.path.dirname(os.path.realpath(__file__))
CHART = os.path.join(HERE, '..', '..', 'deploy', 'kubernetes', 'helm', 'muster')
RENDERED = os.path.join(HERE, 'rendered')

# Each kind of job, as it comes and with all that can be asked for.
EVERYTHING = {
    'gpus': 8, 'tokenSecret': 'trainer-token', 'flags': ['--max-restarts=3'],
    'args': ['train.py', '--steps', '1000'],
    'env': [{'name': 'NCCL_DEBUG', 'value': 'WARN'}],
    'volumes': [{'name': 'data', 'persistentVolumeClaim': {'claimName': 'd'}}],
    'volumeMounts': [{'name': 'data', 'mountPath': '/data'}],
    'nodeSelector': {'cloud.example/pool': 'h100'},
    'tolerations': [{'key': 'spot', 'operator': 'Exists'}],
    'preemptGrace': 300, 'shutdownTimeout': 60, 'podTimeout': 3600,
}
CASES = {'%s%s' % (mode, suffix): dict(values, mode=mode)
         for mode in ['job', 'jobset', 'elastic']
         for suffix, values in [('', {}), ('-everything', EVERYTHING)]}
# Of the cluster that a chart is rendered for; before 1.29 a Job has no
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
    return yaml.safe_load(file)


def go_program():
  """Go's command, or None."""
  found = shutil.which('go')
  if found:
    return found
  debian = '/usr/lib/go-1.19/bin/go'
  return debian if os.path.exists(debian) else None


def build_renderer(folder):
  """Builds render.go; its path, or None with a reason."""
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
  return path, ''


def values_errors(values):
  """What values.schema.json, which Helm heeds, says of these; null: not given."""
  with open(os.path.join(CHART, 'values.schema.json')) as file:
    schema = json.load(file)
  given = {key: value for key, value in dict(default_values(), **values).items()
           if value is not None}
  return ['%s: %s' % ('.'.join(map(str, error.absolute_path)), error.message)
          for error in jsonschema.Draft7Validator(schema).iter_errors(given)]


def render(renderer, values, version=NEW, only=''):
  """The chart's objects as text, or the error that it ends in; or one file."""
  return subprocess.run([renderer, CHART, 'trainer', version],
                        input=json.dumps(dict(default_values(), **values)),
                        env=dict(os.environ, RENDER=only),
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                        text=True)


def main():
  import tempfile
  with tempfile.TemporaryDirectory() as folder:
    renderer, why = build_renderer(folder)
    if not renderer:
      sys.exit('chart.py: ' + why)
    os.makedirs(RENDERED, exist_ok=True)
    for name, values in CASES.items():
      done = render(renderer, values)
      if done.returncode != 0:
        sys.exit(done.stderr)
      with open(os.path.join(RENDERED, name + '.yaml'), 'w') as file:
        file.write('# chart %s\n%s' % (chart_hash(), done.stdout))


if __name__ == '__main__':
  main()
