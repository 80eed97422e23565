#!/usr/bin/python3
"""PyTorch gives the same results under `launch` as under torchrun.

Uses Debian's PyTorch. If it is not installed, every case is skipped with this
reason.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
_ROOT = os.path.dirname(os.path.dirname(_HERE))
sys.path[:0] = [os.path.join(_ROOT, 'tests', 'python')]

import free_port
import xml_main

_LAUNCH = os.path.realpath(os.environ.get('MUSTER_LAUNCH', 'launcher/launch'))
_PYTHON = '/usr/bin/python3'
_TORCHRUN = [_PYTHON, os.path.join(_ROOT, 'tests', 'peers', 'torchrun.py'),
             '--monitor_interval', '0.1']
_TRAIN = os.path.join(_ROOT, 'examples', 'char_lm', 'train.py')
_TEXT = '/usr/share/doc/jargon-text/jargon.txt.gz'
_LOSS = re.compile(r'step +(\d+)  loss ([\d.]+)')
# Time limit of a job on a busy machine, in seconds.
_LIMIT_S = 120


def why_not():
  """Returns the reason why these tests cannot run, or None."""
  if subprocess.run([_PYTHON, '-c', 'import torch'], check=False,
                    stderr=subprocess.DEVNULL).returncode:
    return 'PyTorch is not installed (python3-torch; tools/setup installs it)'
  if not os.path.exists(_TEXT):
    return 'no training text (jargon-text; tools/setup installs it)'
  return None


def environment():
  """Returns an environment with one thread for each worker, the same for both
  launchers."""
  clean = {name: value for name, value in os.environ.items()
           if not name.startswith(('TORCHELASTIC_', 'PET_', 'MUSTER_'))}
  clean.update(OMP_NUM_THREADS='1', PYTHON_EXEC=_PYTHON, HOME='/nonexistent')
  return clean


@unittest.skipIf(why_not(), why_not())
class Compatibility(unittest.TestCase):

  def setUp(self):
    super().setUp()
    folder = tempfile.TemporaryDirectory(dir=os.environ.get('TEST_TMPDIR'))
    self.addCleanup(folder.cleanup)
    self.folder = folder.name

  def start(self, command, output):
    process = subprocess.Popen(
        command, cwd=self.folder, env=environment(), stdin=subprocess.DEVNULL,
        stdout=output, stderr=subprocess.STDOUT)
    self.addCleanup(process.wait)
    self.addCleanup(process.kill)
    return process

  def run_job(self, commands):
    """Runs one command for each node. Returns the joined output and the exit
    codes."""
    # All nodes write to one file. With pipes, a full pipe would block a node
    # while the test waits for another node.
    with tempfile.TemporaryFile('w+') as output:
      nodes = [self.start(command, output) for command in commands]
      codes = [node.wait(_LIMIT_S) for node in nodes]
      output.seek(0)
      return output.read(), codes

  def losses_of(self, name, commands):
    arguments = ['--checkpoint-dir', os.path.join(self.folder, name),
                 '--steps', '12', '--report-every', '1', '--batch', '4',
                 '--text', _TEXT]
    output, codes = self.run_job(
        [command + [_TRAIN] + arguments for command in commands])
    self.assertEqual(set(codes), {0}, output)
    losses = _LOSS.findall(output)
    self.assertEqual([int(step) for step, _ in losses], list(range(1, 13)),
                     output)
    return losses

  def test_single_node_has_the_losses_of_torchrun(self):
    arguments = ['--standalone', '--nproc_per_node', '2']
    ours = self.losses_of('ours', [[_LAUNCH] + arguments])
    theirs = self.losses_of('theirs', [_TORCHRUN + arguments])
    self.assertEqual(ours, theirs)

  def test_two_nodes_give_the_losses_of_one(self):
    # The data of a rank depends only on the rank's number. So two nodes with
    # one worker each must give the same losses as one node with two workers.
    with_port = ['--nnodes', '2', '--nproc_per_node', '1', '--rdzv-id', 'two',
                 '--rdzv-endpoint', '127.0.0.1:%d' % free_port.free_port()]
    ours = self.losses_of('ours', [[_LAUNCH] + with_port] * 2)
    theirs = self.losses_of(
        'theirs', [_TORCHRUN + ['--standalone', '--nproc_per_node', '2']])
    self.assertEqual(ours, theirs)

  def variables_of(self, launcher):
    script = os.path.join(self.folder, 'dump.py')
    with open(script, 'w', encoding='utf-8') as file:
      file.write('import json, os, sys\n'
                 'name = "%s.%s" % (sys.argv[1], os.environ["RANK"])\n'
                 'json.dump(dict(os.environ), open(name, "w"))\n')
    name = os.path.join(self.folder, os.path.basename(launcher[0]))
    output, codes = self.run_job([launcher + [
        '--standalone', '--nproc_per_node', '2', '--max_restarts', '2',
        '--role', 'trainer', script, name]])
    self.assertEqual(codes, [0], output)
    found = []
    for rank in range(2):
      with open('%s.%d' % (name, rank), encoding='utf-8') as file:
        found.append(json.load(file))
    return found

  def test_the_environment_has_every_variable_of_torchrun(self):
    # Variables whose values differ between jobs: addresses, ports, folders,
    # random names.
    own = {'MASTER_ADDR', 'MASTER_PORT', 'TORCHELASTIC_RUN_ID',
           'TORCHELASTIC_ERROR_FILE', 'TORCHELASTIC_USE_AGENT_STORE',
           # torchrun 1.13 uses this older name of
           # TORCH_NCCL_ASYNC_ERROR_HANDLING.
           'NCCL_ASYNC_ERROR_HANDLING'}
    plain = set(environment())
    ours, theirs = self.variables_of([_LAUNCH]), self.variables_of(_TORCHRUN)
    for rank in range(2):
      for name, value in theirs[rank].items():
        if name in plain or name == 'NCCL_ASYNC_ERROR_HANDLING':
          continue
        with self.subTest(rank=rank, name=name):
          self.assertIn(name, ours[rank])
          if name not in own:
            self.assertEqual(ours[rank][name], value)

  def test_an_exception_under_record_is_the_root_cause(self):
    script = os.path.join(self.folder, 'raises.py')
    with open(script, 'w', encoding='utf-8') as file:
      file.write(
          'import os\n'
          'from torch.distributed.elastic.multiprocessing.errors import record\n'
          '@record\n'
          'def main():\n'
          '  if os.environ["RANK"] == "1":\n'
          '    raise ValueError("the seventh shard is torn")\n'
          'main()\n')
    output, codes = self.run_job(
        [[_LAUNCH, '--standalone', '--nproc_per_node', '2', script]])
    self.assertEqual(codes, [1], output)
    verdict = output[output.lower().rindex('root cause'):]
    self.assertIn('ValueError: the seventh shard is torn', verdict)


if __name__ == '__main__':
  xml_main.main()
