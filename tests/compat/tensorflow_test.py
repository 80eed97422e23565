#!/usr/bin/python3
"""TensorFlow finds its cluster under `launch --framework-env tf`."""

import os
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
_ROOT = os.path.dirname(os.path.dirname(_HERE))
sys.path[:0] = [_HERE, os.path.join(_ROOT, 'tests', 'python')]

import frameworks
import launched
import xml_main


class TensorFlow(unittest.TestCase):

  def test_a_step_of_a_strategy_over_two_workers(self):
    why_not = frameworks.why_not(frameworks.TENSORFLOW)
    if why_not:
      self.skipTest(why_not)
    output = launched.run(
        self, [launched.LAUNCH, '--standalone', '--nproc-per-node', '2',
               '--framework-env', 'tf', os.path.join(_HERE, 'tensorflow_worker.py')],
        frameworks.environment(
            PYTHON_EXEC=frameworks.python(frameworks.TENSORFLOW)))
    for rank in range(2):
      self.assertIn('worker %d of 2: gradient 3.0, weight 0.7' % rank, output)


if __name__ == '__main__':
  xml_main.main()
