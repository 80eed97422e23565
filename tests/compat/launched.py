"""Runs Muster's and other launchers, and reads the output files of their
workers."""

import json
import os
import subprocess
import tempfile

_HERE = os.path.dirname(os.path.realpath(__file__))
LAUNCH = os.path.realpath(os.environ.get('MUSTER_LAUNCH', 'launcher/launch'))
ENVIRONMENT_WORKER = os.path.join(_HERE, 'environment_worker.py')
LIMIT_S = 280


def run(test, command, environment, folder=None):
  """Runs a command, which must succeed. Returns its output."""
  done = subprocess.run(
      command, env=environment, cwd=folder, text=True, check=False,
      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
      stderr=subprocess.STDOUT, timeout=LIMIT_S)
  test.assertEqual(done.returncode, 0, done.stdout)
  return done.stdout


def told(test, command, environment):
  """Runs a command whose last argument is environment_worker.py. Returns each
  rank's JSON."""
  return told_and_said(test, command, environment)[0]


def told_and_said(test, command, environment):
  """Like `told`, and also returns the output of the command."""
  with tempfile.TemporaryDirectory() as folder:
    output = run(test, command + [folder], environment, folder)
    ranks = {}
    for name in sorted(os.listdir(folder)):
      if name.endswith('.json'):
        with open(os.path.join(folder, name), encoding='utf-8') as file:
          ranks[int(name[:-5])] = json.load(file)
    test.assertTrue(ranks, output)
    return ranks, output


def called(test, name):
  """Returns the path of a link to `launch` that has the name of another
  launcher."""
  folder = tempfile.TemporaryDirectory()
  test.addCleanup(folder.cleanup)
  link = os.path.join(folder.name, name)
  os.symlink(LAUNCH, link)
  return link
