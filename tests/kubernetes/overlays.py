#!/usr/bin/python3
"""Builds the overlays for GPUs.

    overlays.py

writes new files rendered/overlays/*.yaml: run it after a change under
deploy/kubernetes/kustomize. It needs kubectl 1.21 or newer, which has kustomize
built in. The manifests' test validates these files. By the hash in their first
line it detects files that are older than their sources.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
KUSTOMIZE = os.path.join(HERE, '..', '..', 'deploy', 'kubernetes', 'kustomize')
SOURCES = os.path.join(KUSTOMIZE, 'overlays')
BUILT = os.path.join(HERE, 'rendered', 'overlays')
_OLDEST_MINOR = 21
# Google's kubectl asks the cluster for its version before any command, and
# waits 5 s for the answer. At port 0 the connection is refused at once.
_NO_CLUSTER = '--server=http://127.0.0.1:0'
_PATIENCE = 60.0  # seconds, for one command of kubectl


def sources_hash():
  """Returns a hash of the overlays and their bases."""
  digest = hashlib.sha256()
  for folder, folders, files in os.walk(KUSTOMIZE):
    folders.sort()
    for file in sorted(files):
      path = os.path.join(folder, file)
      digest.update(os.path.relpath(path, KUSTOMIZE).encode())
      with open(path, 'rb') as opened:
        digest.update(opened.read())
  return digest.hexdigest()


def header():
  """Returns the first line of each built file."""
  return '# SHA-256 of the kustomize sources: ' + sources_hash()


def find_kubectl():
  """Returns kubectl's path, or None with a reason."""
  kubectl = shutil.which('kubectl')
  if not kubectl:
    return None, 'no kubectl, which has kustomize built in'
  shown = subprocess.run(
      [kubectl, _NO_CLUSTER, 'version', '--client', '--output=json'],
      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
      timeout=_PATIENCE).stdout
  minor = re.search(r'"minor": "(\d+)', shown)
  if not minor or int(minor.group(1)) < _OLDEST_MINOR:
    return None, "kubectl's kustomize is too old for overlays"
  return kubectl, ''


def build(kubectl, folder):
  """Returns a folder's objects as text, or the error."""
  return subprocess.run([kubectl, _NO_CLUSTER, 'kustomize', folder],
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                        text=True, timeout=_PATIENCE)


def main():
  kubectl, why = find_kubectl()
  if not kubectl:
    sys.exit('overlays.py: ' + why)
  os.makedirs(BUILT, exist_ok=True)
  for name in sorted(os.listdir(SOURCES)):
    done = build(kubectl, os.path.join(SOURCES, name))
    if done.returncode != 0 or done.stderr:
      sys.exit(done.stderr)
    with open(os.path.join(BUILT, name + '.yaml'), 'w') as file:
      file.write('%s\n%s' % (header(), done.stdout))


if __name__ == '__main__':
  main()
