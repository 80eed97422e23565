#!/usr/bin/python3
"""Tests tests/gpu/run_gpt on this machine's GPU, and its parts that need no
GPU."""

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

_CHECK = os.path.realpath('tests/gpu/gpt_check')
_GPT = os.path.realpath('models/trainer/gpt')
_RUN = os.path.join(_HERE, 'run_gpt')
# Bash lines of a fake `gpt`, which writes a log of thirty steps. If the
# checkpoint folder exists, it writes only the last ten of these steps.
_A_LOG = r"""
for ((at = 1; at < $#; ++at)); do
  [[ ${!at} == --log ]] && next=$((at + 1)) && log=${!next}
  [[ ${!at} == --checkpoint-dir ]] && next=$((at + 1)) && saved=${!next}
done
first=0
[[ -n ${saved-} ]] && { [[ -d $saved ]] && first=20; mkdir -p "$saved"; }
echo "{\"event\":\"start\",\"step\":$first,\"world_size\":1}" >"$log"
for ((step = first + 1; step <= 30; ++step)); do
  echo "{\"step\":$step,\"loss\":4.$step,\"learning_rate\":0.1}" >>"$log"
done
"""
# Bash lines that run the real gpt, but always on a CPU.
_ON_A_CPU = f'exec {_GPT} "${{@/#cuda/cpu}}"\n'


def _call(args, environment=None, limit=100):
  ended = subprocess.run(args, check=False, text=True, timeout=limit,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT,
                         env={**os.environ, **(environment or {})})
  return ended.returncode, ended.stdout


class GptRunTest(unittest.TestCase):

  @classmethod
  def setUpClass(cls):
    cls.packing = tempfile.TemporaryDirectory(
        dir=os.environ.get('TEST_TMPDIR'))
    cls.addClassCleanup(cls.packing.cleanup)
    cls.code, cls.said = _call([_RUN, 'pack', cls.packing.name],
                               {'GPU_RUN_BUILT': os.getcwd()})

  def packed(self):
    """Copies the script into a folder like the one that `run_gpt pack` makes.
    """
    self.assertEqual(self.code, 0, self.said)
    self.assertCountEqual(os.listdir(self.packing.name),
                          ['bin', 'gpt', 'gpt_check', 'launch',
                           'libraries.tar.gz', 'licences', 'run_gpt',
                           'torch_gpt_speed.py'])
    folder = tempfile.TemporaryDirectory(dir=os.environ.get('TEST_TMPDIR'))
    self.addCleanup(folder.cleanup)
    shutil.copytree(self.packing.name, folder.name, copy_function=os.link,
                    dirs_exist_ok=True)
    return os.path.join(folder.name, 'run_gpt')

  def staged(self, check, gpt=_A_LOG):
    """Runs the script with fake versions of gpt_check and gpt, which consist of
    these Bash lines."""
    run = self.packed()
    # The fake `launch` starts one rank only: it drops its first five arguments
    # and executes the rest, which is the worker's command.
    for name, lines in (('gpt_check', check), ('gpt', gpt),
                        ('launch', 'echo "launch $*" >&3\nshift 5\n"$@"\n')):
      path = os.path.join(os.path.dirname(run), name)
      os.remove(path)
      with open(path, 'w', encoding='utf-8') as file:
        file.write('#!/bin/bash\n' + lines)
      os.chmod(path, 0o755)
    return _call(['bash', '-c', 'exec 3>&1; exec "$0"', run],
                 {'GPU_ROUNDS': '2', 'OMP_NUM_THREADS': '1',
                  'PYTHON': '/bin/true'})

  def test_programs_bring_their_libraries_along(self):
    folder = os.path.dirname(self.packed())
    code, said = _call([os.path.join(folder, 'gpt'), '--help'])
    self.assertEqual(code, 0, said)
    lib = os.path.join(folder, 'lib')
    _, said = _call(['ldd', os.path.join(folder, 'bin', 'gpt')],
                    {'LD_LIBRARY_PATH': lib})
    self.assertIn('libopenblas', said)
    elsewhere = [line.split()[0] for line in said.splitlines()
                 if '=>' in line and f'=> {lib}/' not in line]
    self.assertLessEqual(set(elsewhere), {'libc.so.6', 'libm.so.6'}, said)

  def test_without_a_gpu_it_is_skipped_by_name(self):
    code, said = _call([self.packed()], {'CUDA_VISIBLE_DEVICES': ''})
    self.assertEqual(code, 0, said)
    self.assertIn('SKIPPED: ', said)
    self.assertEqual(said.splitlines()[-1], '0 passed, 0 failed, 1 skipped')

  def test_all_checks_are_counted(self):
    code, said = self.staged('exit 0\n')
    self.assertEqual(code, 0, said)
    self.assertEqual(said.splitlines()[-1], '13 passed, 0 failed')

  def test_wrong_gradients_fail(self):
    code, said = self.staged('[[ $1 != gradients ]]\n')
    self.assertEqual(code, 1, said)
    self.assertIn('--- FAILED: gradients', said)
    self.assertEqual(said.splitlines()[-1], '12 passed, 1 failed')

  def test_two_ranks_share_a_gpu_as_two_hosts(self):
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
    self.assertEqual(said.splitlines()[-1], '12 passed, 1 failed')

  def test_the_examples_training_is_compared_and_gone_on_with(self):
    code, said = self.staged('exit 0\n', _ON_A_CPU)
    self.assertEqual(code, 0, said)
    self.assertEqual(said.count('30 steps, losses at most'), 4, said)
    self.assertIn('10 steps, losses at most 0 apart', said)

  def test_other_losses_fail(self):
    code, said = self.staged('exit 0\n',
        '[[ "$*" == */gpu.json* ]] && set -- "$@" --seed 5\n' + _ON_A_CPU)
    self.assertEqual(code, 1, said)
    self.assertIn('--- FAILED: training, one rank', said)
    self.assertEqual(said.splitlines()[-1], '12 passed, 1 failed')

  def test_a_checkpoint_that_is_not_gone_on_from_fails(self):
    code, said = self.staged('exit 0\n',
        'for ((i = 1; i <= $#; ++i)); do [[ ${!i} == */saved ]] &&\n'
        '  set -- "${@:1:i-1}" "$TEST_TMPDIR/saved$$" "${@:i+1}"; done\n' +
        _ON_A_CPU)
    self.assertEqual(code, 1, said)
    self.assertIn('--- FAILED: training, gone on with', said)
    self.assertEqual(said.splitlines()[-1], '12 passed, 1 failed')

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
