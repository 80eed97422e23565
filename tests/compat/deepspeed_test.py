#!/usr/bin/python3
"""`launch`, called as deepspeed, starts a script as DeepSpeed's launcher does.
"""

import os
import re
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
_ROOT = os.path.dirname(os.path.dirname(_HERE))
sys.path[:0] = [_HERE, os.path.join(_ROOT, 'tests', 'python')]

import frameworks
import launched
import xml_main

_PYTHON = frameworks.python(frameworks.ACCELERATE_DEEPSPEED)
_RUNNER = [_PYTHON, '-m', 'deepspeed.launcher.runner']
_THEIRS = ('RANK', 'LOCAL_RANK', 'WORLD_SIZE', 'CROSS_RANK', 'CROSS_SIZE',
           'LOCAL_SIZE')


class DeepSpeed(unittest.TestCase):

  def setUp(self):
    why_not = frameworks.why_not(frameworks.ACCELERATE_DEEPSPEED)
    if why_not:
      self.skipTest(why_not)
    self.environment = frameworks.environment(PYTHON_EXEC=_PYTHON)
    self.ours = [launched.called(self, 'deepspeed')]

  def test_a_worker_finds_the_same(self):
    flags = ['--num_gpus=2']
    script = [launched.ENVIRONMENT_WORKER, '--lr', '0.1']
    theirs = launched.told(self, _RUNNER + flags + script, self.environment)
    ours = launched.told(self, self.ours + flags + script, self.environment)
    self.assertEqual(sorted(theirs), [0, 1])
    self.assertEqual(sorted(ours), [0, 1])
    for rank in (0, 1):
      self.assertEqual(theirs[rank]['arguments'], ours[rank]['arguments'])
      for name in _THEIRS:
        self.assertEqual(theirs[rank]['environment'][name],
                         ours[rank]['environment'][name], name)

  def test_no_local_rank(self):
    flags = ['--num_gpus=1', '--no_local_rank']
    ours = launched.told(self, self.ours + flags +
                         [launched.ENVIRONMENT_WORKER], self.environment)
    self.assertEqual(ours[0]['arguments'], [])

  def test_training(self):
    """Without ZeRO and with ZeRO 1: the losses are the same under both
    launchers."""
    script = [os.path.join(_HERE, 'deepspeed_worker.py'), '--stages', '0', '1']
    line = re.compile(r'rank \d of 2, local rank \d, ZeRO \d: losses [\d. ]+')
    found = []
    for launcher in (_RUNNER, self.ours):
      output = launched.run(self, launcher + ['--num_accelerators=2'] + script,
                            self.environment)
      found.append(sorted(line.findall(output)))
      self.assertEqual(len(found[-1]), 4, output)
    self.assertEqual(found[0], found[1])


if __name__ == '__main__':
  xml_main.main()
