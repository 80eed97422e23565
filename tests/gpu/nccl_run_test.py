#!/usr/bin/python3
"""Tests tests/gpu/run on this machine's GPU, and its parts that need no GPU.

With simulated versions of NVIDIA's libraries, whole jobs of one worker run,
from `launch` to the calls of NCCL. The ranks of the simulated NCCL are threads
of one process.
"""

import os
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


def _script(path, text):
  with open(path, 'w', encoding='utf-8') as file:
    file.write('#!/bin/bash\n' + text)
  os.chmod(path, 0o755)


class NcclRunTest(unittest.TestCase):

  def folder(self):
    folder = tempfile.TemporaryDirectory(dir=os.environ.get('TEST_TMPDIR'))
    self.addCleanup(folder.cleanup)
    return folder.name

  def packed(self):
    """Copies the script into a folder like the one that `run pack` makes."""
    folder = self.folder()
    code, said = _call([_RUN, 'pack', folder], {'GPU_RUN_BUILT': os.getcwd()})
    self.assertEqual(code, 0, said)
    self.assertCountEqual(os.listdir(folder),
                          ['launch', 'libmuster_nccl_profiler.so', 'licences',
                           'nccl_check', 'muster-bench', 'run'])
    self.assertLess({'LICENSE', 'NOTICE', 'libgrpc-dev'},
                    set(os.listdir(os.path.join(folder, 'licences'))))
    return os.path.join(folder, 'run')

  def staged(self, *args, others=None, **said):
    """Runs the script with programs that print the output of a job with two
    GPUs.

    `others`: additional scripts beside the script, by name.
    """
    folder = self.folder()
    lines = {
        'id': "the world's NCCL id comes from the agent",
        'free': 'rank 0: free 1.234 s after the barrier began: UNAVAILABLE',
        'killed': 'rank VICTIM (pid 7): killed by SIGKILL',
        'again': 'formed again',
        'slow': 'rank VICTIM (h, GPU 1) is slow: its own work takes 5 times',
        'pair': 'the check of 2 nodes took 2 s: 1 GB/s between GPUs',
        'row': '[a:0]        65536   16384   float   sum   -1   9.9   6.6',
    } | said
    with open(os.path.join(folder, 'said'), 'w', encoding='utf-8') as file:
      file.write('\n'.join(lines.values()) + '\n')
    _script(os.path.join(folder, 'nccl_check'),
            'echo GPUS=2 NCCL=2.99.9 SHARES_GPU=0\n')
    # A fake launch that prints the output of a job whose last rank was killed.
    _script(os.path.join(folder, 'launch'),
            'sed "s/VICTIM/$(($3 - 1))/" "${0%/*}/said"\n')
    with open(_RUN, encoding='utf-8') as file:
      _script(os.path.join(folder, 'run'), file.read())
    for name, lines in (others or {}).items():
      _script(os.path.join(folder, name), lines)
    return _call([os.path.join(folder, 'run'), *args],
                 {'GPU_MOST_BYTES': '65536'})

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

  def test_all_of_it_over_stand_ins(self):
    libraries = self.folder()
    os.symlink(_FAKE, os.path.join(libraries, 'libcuda.so.1'))
    # Without an NVIDIA device file the agent creates no NCCL id. So the ranks
    # must get the id through the store.
    code, said = _call([self.packed()],
                       {'LD_LIBRARY_PATH': libraries, 'GPU_MOST_RANKS': '1',
                        'MUSTER_NCCL_LIBRARY': _FAKE,
                        'GPU_MOST_BYTES': '65536', 'GPU_ID_FROM': 'the store'})
    self.assertEqual(code, 0, said)
    self.assertIn('=== one rank: a process group and a mesh', said)
    self.assertIn('busbw(GB/s)', said)
    self.assertIn('# all_reduce, 1 rank, transport nccl', said)
    self.assertIn('left out: two ranks on one GPU', said)
    self.assertIn('left out: check by pairs', said)
    self.assertEqual(said.splitlines()[-1], '5 passed, 0 failed')

  def test_correct_job_of_two_ranks_passes(self):
    code, said = self.staged()
    self.assertEqual(code, 0, said)
    self.assertEqual(said.splitlines()[-1], '13 passed, 0 failed')

  def test_all_is_every_script_and_fails_with_any(self):
    sound = {'run_gpt': 'echo 8 passed, 0 failed\n',
             'run_doctor': 'echo 0 passed, 0 failed, 1 skipped\n'}
    code, said = self.staged('all', others=sound)
    self.assertEqual(code, 0, said)
    self.assertEqual(said.splitlines()[-3:],
                     ['run: 13 passed, 0 failed', 'run_gpt: 8 passed, 0 failed',
                      'run_doctor: 0 passed, 0 failed, 1 skipped'])
    code, said = self.staged(
        'all', others=sound | {'run_gpt': 'echo 7 passed, 1 failed; exit 1\n'})
    self.assertEqual(code, 1, said)
    self.assertIn('run_doctor: 0 passed', said)
    code, said = self.staged('all', others=sound, row='')
    self.assertEqual(code, 1, said)

  def test_all_packs_every_script(self):
    asked = '[[ $1 == pack ]] && echo "${2##*/}"\n'
    folder = self.folder()
    _, said = self.staged('all', 'pack', folder,
                          others={'run_gpt': asked, 'run_doctor': asked,
                                  'pack_binaries': 'true\n'})
    last = os.path.basename(folder)
    self.assertEqual(said.splitlines()[-2:], [last, last])
    self.assertIn('run', os.listdir(folder))

  def test_a_survivor_that_is_late_or_silent_fails(self):
    for free in ('', 'rank 0: free 19.876 s after the barrier began: ABORTED'):
      code, said = self.staged(free=free)
      self.assertEqual(code, 1, said)
      self.assertIn('rank 0 was not free within 10 s', said)
      self.assertEqual(said.splitlines()[-1], '12 passed, 1 failed')

  def test_a_killed_rank_without_a_name_fails(self):
    code, said = self.staged(killed='a rank was killed by SIGKILL')
    self.assertEqual(code, 1, said)
    self.assertIn('the killed rank is not named', said)

  def test_a_round_that_does_not_form_again_fails(self):
    code, said = self.staged(again='')
    self.assertEqual(code, 1, said)
    self.assertIn('nobody formed again', said)

  def test_a_slow_rank_that_is_not_named_or_another_one_that_is_fails(self):
    for slow, named in (('', 'nobody'),
                        ('rank 0 (h) is slow: its own work takes 5', 'rank 0')):
      code, said = self.staged(slow=slow)
      self.assertEqual(code, 1, said)
      self.assertIn('rank 1 is slow; named is: ' + named, said)

  def test_an_id_that_is_not_the_agents_fails(self):
    code, said = self.staged(id="the world's NCCL id comes from the store")
    self.assertEqual(code, 1, said)
    self.assertIn("the world's NCCL id did not come from the agent", said)

  def test_a_bench_without_its_row_fails(self):
    code, said = self.staged(row='')
    self.assertEqual(code, 1, said)
    self.assertIn('there is no row of 65536 bytes', said)

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
