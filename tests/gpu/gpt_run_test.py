#!/usr/bin/python3
"""tests/gpu/run_gpt: on this machine's GPU, and what of it needs none."""

import os
import subprocess
import sys
import tempfile
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
_ROOT = os.path.dirname(os.path.dirname(_HERE))
sys.path[:0] = [os.path.join(_ROOT, 'tests', 'python')]

import xml_main

_CHECK = os.path.realpath('tests/gpu/gpt_check')
_RUN = os.path.join(_HERE, 'run_gpt')


def _call(args, environment=None, limit=100):
  ended = subprocess.run(args, check=False, text=True, timeout=limit,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT,
                         env={**os.environ, **(environment or {})})
  return ended.returncode, ended.stdout


class GptRunTest(unittest.TestCase):

  def packed(self):
    """The script in a folder that `run_gpt pack` has made."""
    folder = tempfile.TemporaryDirectory(dir=os.environ.get('TEST_TMPDIR'))
    self.addCleanup(folder.cleanup)
    code, said = _call([_RUN, 'pack', folder.name],
                       {'GPU_RUN_BUILT': os.getcwd()})
    self.assertEqual(code, 0, said)
    self.assertCountEqual(os.listdir(folder.name),
                          ['gpt_check', 'launch', 'run_gpt',
                           'torch_gpt_speed.py'])
    return os.path.join(folder.name, 'run_gpt')

  def staged(self, check):
    """What it says of a gpt_check that is a script of these lines."""
    run = self.packed()
    # A job of one rank, of the command behind launch's five words.
    for name, lines in (('gpt_check', check),
                        ('launch', 'echo "launch $*"\nshift 5\n"$@"\n')):
      path = os.path.join(os.path.dirname(run), name)
      with open(path, 'w', encoding='utf-8') as file:
        file.write('#!/bin/bash\n' + lines)
    return _call([run], {'GPU_ROUNDS': '2', 'PYTHON': '/bin/true'})

  def test_without_a_gpu_it_is_skipped_by_name(self):
    code, said = _call([self.packed()], {'CUDA_VISIBLE_DEVICES': ''})
    self.assertEqual(code, 0, said)
    self.assertIn('SKIPPED: ', said)
    self.assertEqual(said.splitlines()[-1], '0 passed, 0 failed, 1 skipped')

  def test_all_checks_are_counted(self):
    code, said = self.staged('exit 0\n')
    self.assertEqual(code, 0, said)
    self.assertEqual(said.splitlines()[-1], '8 passed, 0 failed')

  def test_wrong_gradients_fail(self):
    code, said = self.staged('[[ $1 != gradients ]]\n')
    self.assertEqual(code, 1, said)
    self.assertIn('--- FAILED: gradients', said)
    self.assertEqual(said.splitlines()[-1], '7 passed, 1 failed')

  def test_one_gpu_has_two_ranks_as_two_hosts(self):
    code, said = self.staged('[[ $1 == probe ]] && echo GPUS=1\n'
                             '[[ $1 != overlap ]] || '
                             '[[ -v NCCL_HOSTID && $4 == /* ]]\n')
    self.assertEqual(code, 0, said)
    self.assertIn('launch --standalone --nproc-per-node 2 ', said)

  def test_several_gpus_have_a_rank_each(self):
    code, said = self.staged('[[ $1 == probe ]] && echo GPUS=4\n'
                             '[[ $1 != overlap || ! -v NCCL_HOSTID ]]\n')
    self.assertEqual(code, 0, said)
    self.assertIn('launch --standalone --nproc-per-node 4 ', said)

  def test_buckets_out_of_order_fail(self):
    code, said = self.staged('[[ $1 != overlap ]]\n')
    self.assertEqual(code, 1, said)
    self.assertIn('--- FAILED: overlap', said)
    self.assertEqual(said.splitlines()[-1], '7 passed, 1 failed')

  def test_gradients_on_this_machines_gpu(self):
    code, said = _call([_CHECK, 'probe'])
    if code == 3:
      self.skipTest(said.strip().removeprefix('SKIPPED: '))
    self.assertEqual(code, 0, said)
    code, said = _call([_CHECK, 'gradients'])
    print(said)
    self.assertEqual(code, 0, said)


if __name__ == '__main__':
  xml_main.main()
