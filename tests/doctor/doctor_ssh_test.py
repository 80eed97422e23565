#!/usr/bin/python3
"""launch doctor --nodes --hostfile over a real ssh."""

import json
import os
import shutil
import sys
import tempfile
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
_TESTS = os.path.dirname(_HERE)
sys.path[:0] = [os.path.join(_TESTS, name) for name in ('ssh', 'python')]

import ssh_hosts
import xml_main

_LAUNCH = os.path.realpath(os.environ.get('MUSTER_LAUNCH', 'launcher/launch'))
# Whatever this machine is like, the nodes come together and are compared.
_SOUND = (0, 3, 4)


@unittest.skipIf(ssh_hosts.missing(), ssh_hosts.missing())
class OverSsh(unittest.TestCase):

  def test_one_command_for_all_hosts(self):
    folder = tempfile.mkdtemp()
    self.addCleanup(shutil.rmtree, folder)
    hosts = ssh_hosts.Hosts(folder)
    self.addCleanup(hosts.stop)
    path = os.path.join(folder, 'hosts')
    with open(path, 'w', encoding='utf-8') as file:
      file.write('127.0.0.1\n127.0.0.2\n127.0.0.3 slots=8\n')
    front = ssh_hosts.Launch(
        [_LAUNCH, 'doctor', '--nodes', '--json', '--hostfile=' + path,
         '--ssh-args=-F ' + hosts.path('config')], folder,
        {'PATH': os.environ.get('PATH', '/usr/bin:/bin'), 'HOME': folder,
         'TMPDIR': folder})
    self.addCleanup(front.close)
    self.assertIn(front.end(), _SOUND, front.text())
    found = json.loads('\n'.join(front.out))
    self.assertEqual(len(found['nodes']), 3, front.text())
    between = [one['id'] for one in found['between']['findings']]
    self.assertIn('nodes', between)
    self.assertNotIn('nodes-unreachable', between)
    ids = [one['id'] for node in found['nodes'] for one in node['findings']]
    self.assertEqual(ids.count('coordinator'), 3, front.text())


if __name__ == '__main__':
  xml_main.main()
