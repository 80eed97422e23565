#!/usr/bin/python3
"""tests/gpu/run: on this machine's GPU, and what of it needs none.

Over stand-ins for NVIDIA's libraries, whose ranks are threads of one process,
jobs of one worker go the whole way from `launch` to NCCL's calls.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
_ROOT = os.path.dirname(os.path.dirname(_HERE))
sys.path[:0] = [os.path.join(_ROOT, 'tests', 'python')]

import xml_main

_LAUNCH = os.path.realpath('launcher/launch')
_CHECK = os.path.realpath('tests/gpu/nccl_check')
_FAKE = os.path.realpath('trainer_sdk/nccl/libfake_nccl.so')
_RUN = os.path.join(_HERE, 'run')
_LIMIT_S = 100


def _call(args, environment=None, limit=_LIMIT_S):
  ended = subprocess.run(args, check=False, text=True, timeout=limit,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT,
                         env={**os.environ, **(environment or {})})
  return ended.returncode, ended.stdout


class NcclRunTest(unittest.TestCase):

  def packed(self):
    """A folder as `run pack` makes it."""
    folder = tempfile.TemporaryDirectory(dir=os.environ.get('TEST_TMPDIR'))
    self.addCleanup(folder.cleanup)
    for path in (_LAUNCH, _CHECK, _RUN):
      shutil.copy(path, folder.name)
    return os.path.join(folder.name, 'run')

  def over_stand_ins(self, *step, flags=()):
    return _call([_LAUNCH, '--standalone', '--nproc-per-node', '1', *flags,
                  _CHECK, *step],
                 {'MUSTER_NCCL_LIBRARY': _FAKE, 'NCCL_CHECK_CUDA': _FAKE})

  def test_without_a_gpu_it_is_skipped_by_name(self):
    code, said = _call([self.packed()], {'NCCL_CHECK_CUDA': 'libno-cuda.so.1'})
    self.assertEqual(code, 0, said)
    self.assertIn('SKIPPED: there is no NVIDIA driver here', said)
    self.assertEqual(said.splitlines()[-1], '0 passed, 0 failed, 1 skipped')

  def test_collectives_over_stand_ins(self):
    code, said = self.over_stand_ins('collectives')
    self.assertEqual(code, 0, said)
    self.assertIn("the world's NCCL id comes from the store", said)
    self.assertIn('collectives of 1 ranks are right', said)

  def test_a_killed_rank_and_the_next_round_over_stand_ins(self):
    code, said = self.over_stand_ins('reform', flags=('--max-restarts', '1'))
    self.assertEqual(code, 0, said)
    self.assertIn('formed again', said)

  def test_the_table_over_stand_ins(self):
    code, said = self.over_stand_ins('all_reduce', '16384')
    self.assertEqual(code, 0, said)
    self.assertIn('busbw(GB/s)', said)
    self.assertIn('       16384         4096  float32    sum', said)

  def test_all_of_it_on_this_machines_gpu(self):
    code, said = _call([_CHECK, 'probe'])
    if code == 3:
      self.skipTest(said.strip().removeprefix('SKIPPED: '))
    self.assertEqual(code, 0, said)
    code, said = _call([self.packed()], {'GPU_MOST_BYTES': '4194304'}, 1500)
    print(said)
    self.assertEqual(code, 0, said)


if __name__ == '__main__':
  xml_main.main()
