"""Reads the manifests of deploy/kubernetes as objects, and finds parts of them.
"""

import glob
import os
import re

import chart
import documents
import manifest_schemas
import overlays

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', '..')
KUSTOMIZE = os.path.join(ROOT, 'deploy', 'kubernetes', 'kustomize')
SCHEMAS = manifest_schemas.Schemas()


def read(path):
  with open(path) as file:
    return file.read()


def things_of(text):
  """Parses the objects of a stream of YAML documents."""
  return [thing for thing in documents.load_all(text) if thing]


def manifests():
  """Returns pairs (name, objects) for each folder of plain YAML and each
  rendered chart."""
  for folder in ['indexed-job', 'jobset', 'elastic']:
    things = []
    for path in sorted(glob.glob(os.path.join(KUSTOMIZE, folder, '*.yaml'))):
      if os.path.basename(path) != 'kustomization.yaml':
        things += things_of(read(path))
    yield folder, things
  for path in sorted(glob.glob(os.path.join(chart.RENDERED, '*.yaml'))):
    yield os.path.basename(path), things_of(read(path))


def built_overlays():
  """Returns the paths of the overlays that kustomize has built."""
  return sorted(glob.glob(os.path.join(overlays.BUILT, '*.yaml')))


def job_spec(thing):
  """Returns the Job's spec in a Job or a JobSet; None for other kinds."""
  if thing['kind'] == 'JobSet':
    return thing['spec']['replicatedJobs'][0]['template']['spec']
  return thing['spec'] if thing['kind'] == 'Job' else None


def pod_of(thing):
  owner = job_spec(thing) or thing['spec']
  return owner.get('template', {}).get('spec')


def pods():
  for name, things in manifests():
    for thing in things:
      if pod_of(thing):
        yield '%s %s' % (name, thing['metadata']['name']), thing, pod_of(thing)


def pod_timeout():
  """Returns the time for which a pod waits for others, in seconds."""
  source = read(os.path.join(
      ROOT, 'launcher', 'cluster', 'kubernetes', 'kubernetes_defaults.cc'))
  return int(re.search(r'kPodSeconds\[\] = "(\d+)"', source).group(1))
