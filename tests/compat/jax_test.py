#!/usr/bin/python3
"""JAX finds its world under `launch --framework-env jax`."""

import os
import subprocess
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
_ROOT = os.path.dirname(os.path.dirname(_HERE))
sys.path[:0] = [_HERE, os.path.join(_ROOT, 'tests', 'python')]

import frameworks
import free_port
import launched
import xml_main

_WORKER = os.path.join(_HERE, 'jax_worker.py')


class Jax(unittest.TestCase):

  def setUp(self):
    why_not = frameworks.why_not(frameworks.JAX)
    if why_not:
      self.skipTest(why_not)
    self.environment = frameworks.environment(
        PYTHON_EXEC=frameworks.python(frameworks.JAX))

  def check(self, output):
    for rank in range(2):
      self.assertIn('process %d of 2, rank %d: [0, 1]' % (rank, rank), output)

  def test_two_processes(self):
    self.check(launched.run(
        self, [launched.LAUNCH, '--standalone', '--nproc-per-node', '2',
               '--framework-env', 'jax', _WORKER], self.environment))

  def test_two_nodes_through_the_nodes_relays(self):
    command = [launched.LAUNCH, '--nnodes', '2', '--rdzv-id', 'jax',
               '--rdzv-endpoint', '127.0.0.1:%d' % free_port.free_port(), '--framework-env',
               'jax', '--local-store', _WORKER]
    nodes = [subprocess.Popen(
        command, env=self.environment, stdin=subprocess.DEVNULL, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(2)]
    for node in nodes:
      self.addCleanup(node.stdout.close)
      self.addCleanup(node.wait)
      self.addCleanup(node.kill)
    outputs = [node.communicate(timeout=launched.LIMIT_S)[0] for node in nodes]
    self.assertEqual([node.returncode for node in nodes], [0, 0], outputs)
    self.check(''.join(outputs))


if __name__ == '__main__':
  xml_main.main()
