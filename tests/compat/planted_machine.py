"""Writes a synthetic machine's /sys and /proc as files, for programs that can
read other folders: hwloc by HWLOC_FSROOT, PyTorch by a patched open()."""
import dataclasses
import os
from typing import List, Optional


def cpu_mask(cpus):
  """Formats CPUs as in Linux's cpumap files: hexadecimal, in words of 32 bits.
  """
  bits = sum(1 << cpu for cpu in cpus)
  words = []
  while True:
    words.append(f'{bits & 0xffffffff:08x}')
    bits >>= 32
    if not bits:
      return ','.join(reversed(words))


def cpu_list(cpus):
  return ','.join(str(cpu) for cpu in sorted(cpus))


@dataclasses.dataclass
class Cpu:
  number: int
  core: int
  l3: Optional[int]  # None: the kernel reports no such cache
  node: Optional[int]  # None: the kernel does not support NUMA
  socket: int
  online: bool = True


@dataclasses.dataclass
class Device:
  address: str
  # NUMA node, as in the sysfs file numa_node; -1: the firmware does not report
  # it
  node: int
  pci_class: int
  name: str = ''  # name of its network interface or InfiniBand device


GPU_CLASS = 0x030200
ETHERNET_CLASS = 0x020000
INFINIBAND_CLASS = 0x020700


def regular(sockets=1, nodes=1, complexes=1, cores=1, threads=1):
  """Returns the CPUs of a machine with equal parts, numbered as Linux usually
  does: the first thread of every core, then the second thread of every core."""
  total = sockets * nodes * complexes * cores
  cpus = []
  for thread in range(threads):
    for core in range(total):
      complex_ = core // cores
      node = complex_ // complexes
      cpus.append(
          Cpu(number=thread * total + core, core=core, l3=complex_,
              node=node, socket=node // nodes))
  return cpus


class Machine:

  def __init__(self, cpus: List[Cpu], devices: List[Device] = ()):
    self.cpus = cpus
    self.devices = list(devices)

  def _of(self, **same):
    return [
        cpu.number for cpu in self.cpus if cpu.online and all(
            getattr(cpu, name) == value for name, value in same.items())
    ]

  def plant(self, root):
    self._root = root
    self._plant_cpus()
    self._plant_nodes()
    for device in self.devices:
      self._plant_device(device)

  def _write(self, path, content):
    path = os.path.join(self._root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w' if isinstance(content, str) else 'wb') as out:
      out.write(content + '\n' if isinstance(content, str) else content)

  def _link(self, path, target):
    path = os.path.join(self._root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(target, path)

  def _plant_cpus(self):
    online = [cpu.number for cpu in self.cpus if cpu.online]
    everything = [cpu.number for cpu in self.cpus]
    base = 'sys/devices/system/cpu'
    self._write(f'{base}/online', cpu_list(online))
    self._write(f'{base}/possible', cpu_list(everything))
    self._write(f'{base}/present', cpu_list(everything))
    self._write('proc/cpuinfo', ''.join(
        f'processor\t: {cpu}\nmodel name\t: planted\n\n'
        for cpu in online))
    self._write('proc/meminfo', 'MemTotal: 16777216 kB\nMemFree: 1 kB\n')
    for cpu in self.cpus:
      own = f'{base}/cpu{cpu.number}'
      if not cpu.online:
        self._write(f'{own}/online', '0')
        continue
      if cpu.number != 0:
        self._write(f'{own}/online', '1')
      siblings = self._of(core=cpu.core)
      package = self._of(socket=cpu.socket)
      for name, members in (('thread_siblings', siblings),
                            ('core_cpus', siblings),
                            ('core_siblings', package),
                            ('package_cpus', package)):
        self._write(f'{own}/topology/{name}', cpu_mask(members))
        self._write(f'{own}/topology/{name}_list', cpu_list(members))
      self._write(f'{own}/topology/core_id', str(cpu.core))
      self._write(f'{own}/topology/physical_package_id', str(cpu.socket))
      caches = [(1, 'Data', siblings), (1, 'Instruction', siblings),
                (2, 'Unified', siblings)]
      if cpu.l3 is not None:
        caches.append((3, 'Unified', self._of(l3=cpu.l3)))
      for i, (level, kind, members) in enumerate(caches):
        cache = f'{own}/cache/index{i}'
        self._write(f'{cache}/level', str(level))
        self._write(f'{cache}/type', kind)
        self._write(f'{cache}/size', f'{level * 512}K')
        self._write(f'{cache}/coherency_line_size', '64')
        self._write(f'{cache}/number_of_sets', '64')
        self._write(f'{cache}/physical_line_partition', '1')
        self._write(f'{cache}/shared_cpu_map', cpu_mask(members))
        self._write(f'{cache}/shared_cpu_list', cpu_list(members))

  def _plant_nodes(self):
    nodes = sorted({cpu.node for cpu in self.cpus if cpu.node is not None})
    if not nodes:
      return
    base = 'sys/devices/system/node'
    for name in ('online', 'possible', 'has_cpu', 'has_memory'):
      self._write(f'{base}/{name}', cpu_list(nodes))
    for node in nodes:
      members = self._of(node=node)
      self._write(f'{base}/node{node}/cpumap', cpu_mask(members))
      self._write(f'{base}/node{node}/cpulist', cpu_list(members))
      self._write(f'{base}/node{node}/meminfo',
                  f'Node {node} MemTotal: 4194304 kB')
      self._write(f'{base}/node{node}/distance', ' '.join(
          '10' if node == other else '20' for other in nodes))

  # Writes the sysfs files of one PCI device. The device gets a bus and a root
  # bus of its own.
  def _plant_device(self, device):
    host = 'pci' + device.address.rsplit(':', 1)[0]
    own = f'sys/devices/{host}/{device.address}'
    near = self._of(node=device.node) if device.node >= 0 else self._of()
    config = bytearray(64)
    config[10], config[11] = (device.pci_class >> 8) & 0xff, (
        device.pci_class >> 16)
    for name, content in (
        ('class', f'0x{device.pci_class:06x}'), ('vendor', '0x10de'),
        ('device', '0x2330'), ('subsystem_vendor', '0x10de'),
        ('subsystem_device', '0x0001'), ('revision', '0x00'),
        ('numa_node', str(device.node)), ('local_cpus', cpu_mask(near)),
        ('local_cpulist', cpu_list(near))):
      self._write(f'{own}/{name}', content)
    self._write(f'{own}/config', bytes(config))
    self._link(f'sys/bus/pci/devices/{device.address}',
               f'../../../devices/{host}/{device.address}')
    kind = {ETHERNET_CLASS: 'net',
            INFINIBAND_CLASS: 'infiniband'}.get(device.pci_class)
    if kind and device.name:
      self._write(f'{own}/{kind}/{device.name}/address', '')
      self._link(f'{own}/{kind}/{device.name}/device',
                 f'../../../{device.address}')
      self._link(f'sys/class/{kind}/{device.name}',
                 f'../../devices/{host}/{device.address}/{kind}/'
                 f'{device.name}')
