"""Computes the bindings of PyTorch's torch/numa/binding.py on synthetic
machines.

Reads lines "ROOT MODE ALLOWED GPU,GPU,..." and writes, for each, the CPUs of
every worker as "LIST | LIST", or "refused".
"""

import os
import sys
import types

from torch.numa import binding


def cpu_list(text):
  return binding._get_set_of_int_from_ranges_str(text)


class Planted:
  """A synthetic machine in a folder, in place of the modules that read the real
  one."""

  def __init__(self, root, allowed, gpus):
    self.root, self.allowed, self.gpus = root, allowed, gpus
    self.path = os.path

  def under(self, path):
    return self.root + path

  def listdir(self, path):
    return os.listdir(self.under(path))

  def sched_getaffinity(self, _):
    return self.allowed

  def get_device_properties(self, index):
    domain, bus, rest = self.gpus[index].split(':')
    return types.SimpleNamespace(pci_domain_id=int(domain, 16),
                                 pci_bus_id=int(bus, 16),
                                 pci_device_id=int(rest.split('.')[0], 16))


def look_at(machine):
  binding.os = machine
  binding.open = lambda path: open(machine.under(path))
  binding.torch = types.SimpleNamespace(
      accelerator=types.SimpleNamespace(
          is_available=lambda: True, current_accelerator=lambda: 'cuda',
          device_count=lambda: len(machine.gpus)),
      get_device_module=lambda _: machine)


def plan(root, mode, allowed, gpus):
  look_at(Planted(root, cpu_list(allowed), gpus.split(',')))
  options = binding.NumaOptions(affinity_mode=binding.AffinityMode(mode))
  workers = []
  for index in range(len(gpus.split(','))):
    try:
      cpus = binding._get_logical_cpus_to_bind_to(device_index=index,
                                                  numa_options=options)
    except (RuntimeError, ZeroDivisionError):
      return 'refused'
    if not cpus:
      return 'refused'
    workers.append(binding._get_ranges_str_from_ints(cpus))
  return ' | '.join(workers)


for line in sys.stdin:
  print(plan(*line.split()))
