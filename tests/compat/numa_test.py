#!/usr/bin/python3
"""--numa-binding gives workers the same CPUs as torchrun, on synthetic machines
of many shapes that hwloc and PyTorch both read."""

import os
import random
import subprocess
import sys
import tempfile
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import interpreters
import planted_machine
import xml_main

_OURS = os.path.realpath('tests/compat/binding_plans')
_ORACLE = os.path.join(_HERE, 'numa_oracle.py')
_LIMIT_S = 120
_MODES = ('node', 'socket', 'exclusive', 'core-complex')


def a_machine(pick):
  """Draws a machine: its shape, the nodes of its GPUs, sometimes an offline
  CPU."""
  cpus = planted_machine.regular(
      sockets=pick.choice((1, 2)), nodes=pick.choice((1, 1, 2)),
      complexes=pick.choice((1, 2)), cores=pick.choice((1, 2, 3)),
      threads=pick.choice((1, 2)))
  if pick.random() < 0.2:  # a kernel that reports no last-level cache
    for cpu in cpus:
      cpu.l3 = None
  if pick.random() < 0.3 and len(cpus) > 2:
    pick.choice(cpus[1:]).online = False
  nodes = sorted({cpu.node for cpu in cpus if cpu.online})
  gpus = []
  for i in range(pick.choice((1, 2, 3, 4, 8))):
    # If the machine has several NUMA nodes, each GPU reports its node. For a
    # GPU without a node (-1), Muster and PyTorch would differ on purpose:
    # Muster distributes such workers over the nodes, and PyTorch uses the first
    # node (docs/BINDING.md).
    node = -1 if len(nodes) == 1 and pick.random() < 0.5 else pick.choice(nodes)
    gpus.append(planted_machine.Device(f'0000:{16 * (i + 1):02x}:00.0', node,
                                       planted_machine.GPU_CLASS))
  return planted_machine.Machine(cpus, gpus)


def may_use(machine, pick):
  """Draws a random set of CPUs that an affinity or a cgroup allows, at least
  one on every node: if a node has none, PyTorch rejects the mode `socket` even
  for workers of other nodes."""
  online = [cpu for cpu in machine.cpus if cpu.online]
  if pick.random() < 0.5:
    return [cpu.number for cpu in online]
  allowed = {cpu.number for cpu in online if pick.random() < 0.6}
  for node in {cpu.node for cpu in online}:
    allowed.add(pick.choice([c.number for c in online if c.node == node]))
  return sorted(allowed)


class NumaBinding(unittest.TestCase):

  def output(self, lines, *command):
    return subprocess.run(command, input='\n'.join(lines), timeout=_LIMIT_S,
                          check=True, stdout=subprocess.PIPE, text=True,
                          env=interpreters.environment()).stdout.splitlines()

  def compare(self, lines):
    ours = self.output(lines, _OURS)
    theirs = self.output(lines, interpreters.PATHS[interpreters.NEW], _ORACLE)
    self.assertEqual(len(ours), len(lines))
    self.assertEqual(len(theirs), len(lines))
    for line, mine, oracle in zip(lines, ours, theirs):
      self.assertEqual(mine, oracle, line)
    return ours

  def setUp(self):
    why = interpreters.why_not(interpreters.NEW)
    if why:
      self.skipTest(why)

  def test_the_same_cpus_on_machines_of_many_shapes(self):
    pick = random.Random(29)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
      for i in range(40):
        machine, root = a_machine(pick), os.path.join(folder, str(i))
        machine.plant(root)
        gpus = ','.join(gpu.address for gpu in machine.devices)
        for mode in _MODES:
          allowed = planted_machine.cpu_list(may_use(machine, pick))
          lines.append(f'{root} {mode} {allowed} {gpus}')
      ours = self.compare(lines)
    refused = ours.count('refused')
    self.assertTrue(0 < refused < len(lines) / 3, refused)

  def test_a_node_without_usable_cpus_is_refused_by_both(self):
    machine = planted_machine.Machine(
        planted_machine.regular(sockets=2, cores=2),
        [planted_machine.Device('0000:10:00.0', 1, planted_machine.GPU_CLASS)])
    with tempfile.TemporaryDirectory() as root:
      machine.plant(root)
      ours = self.compare([f'{root} {mode} 0,1 0000:10:00.0'
                           for mode in ('node', 'exclusive', 'core-complex')])
    self.assertEqual(ours, ['refused'] * 3)


if __name__ == '__main__':
  xml_main.main()
