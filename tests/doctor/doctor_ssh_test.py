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
# Exit codes of `launch doctor` if all checks ran: 0 without findings, 3 with
# warnings, 4 with errors. The test accepts all of them, because the findings
# depend on the machine.
_SOUND = (0, 3, 4)


@unittest.skipIf(ssh_hosts.missing(), ssh_hosts.missing())
class OverSsh(unittest.TestCase):

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.folder = tempfile.mkdtemp()
    cls.addClassCleanup(shutil.rmtree, cls.folder)
    cls.hosts = ssh_hosts.Hosts(cls.folder)
    cls.addClassCleanup(cls.hosts.stop)

  def doctor(self, hosts, *flags):
    """Runs `launch doctor --nodes` with a host file. Returns the ended process.
    """
    path = os.path.join(self.folder, 'hosts')
    with open(path, 'w', encoding='utf-8') as file:
      file.write(hosts)
    front = ssh_hosts.Launch(
        [_LAUNCH, 'doctor', '--nodes', '--hostfile=' + path,
         '--ssh-args=-F ' + self.hosts.path('config'), *flags], self.folder,
        {'PATH': os.environ.get('PATH', '/usr/bin:/bin'), 'HOME': self.folder,
         'TMPDIR': self.folder})
    self.addCleanup(front.close)
    return front, front.end()

  def test_single_command_checks_all_hosts(self):
    front, code = self.doctor('127.0.0.1\n127.0.0.2\n127.0.0.3 slots=8\n',
                              '--json')
    self.assertIn(code, _SOUND, front.text())
    found = json.loads('\n'.join(front.out))
    self.assertEqual(found['expected'], 3)
    self.assertEqual([node['node'] for node in found['nodes']],
                     ['127.0.0.1', '127.0.0.2', '127.0.0.3'], front.text())
    # The coordinator tells a worker the worker's address ("seen") only if the
    # worker presents the job token, which was created for this job. So each
    # address shows that a worker got the token.
    self.assertEqual([node['addresses']['seen'] for node in found['nodes']],
                     ['127.0.0.1'] * 3)
    between = [one['id'] for one in found['between']['findings']]
    self.assertNotIn('nodes-absent', between)
    self.assertIn('nodes', between)
    self.assertNotIn('nodes-unreachable', between)
    ids = [one['id'] for node in found['nodes'] for one in node['findings']]
    self.assertEqual(ids.count('coordinator'), 3, front.text())

  def test_dead_hosts_are_named_on_the_page_of_the_others(self):
    front, code = self.doctor(
        'nowhere\nh2 slots=4\nclosed\nh3\nh4\n', '--exclude=h4')
    self.assertEqual(code, 4, front.text())
    page = ' '.join(' '.join(front.out).split())
    self.assertTrue(page.startswith('launch doctor on 2 of 4 nodes'), page)
    self.assertRegex(page, 'error nowhere: .*resolve.*nodes-absent')
    self.assertRegex(page, r'error closed: .*refused.*\[nodes-absent\] do: ')
    self.assertIn('h2, h3; 2 connections between them', page)
    self.assertIn('all: ', page)

  def test_agents_that_cannot_meet_say_why(self):
    front, code = self.doctor(
        'h1\nh2\n', '--rdzv-endpoint=127.0.0.1:1', '--connect-timeout=1',
        '--rdzv-conf=is_host=0')
    self.assertEqual(code, 4, front.text())
    page = ' '.join(' '.join(front.out).split())
    self.assertTrue(page.startswith('launch doctor on 0 of 2 nodes'), page)
    for host in ('h1', 'h2'):
      self.assertRegex(page, f'error {host}: its agent ended with status 1: '
                       'no answer from the coordinator')

  def test_no_host_answers(self):
    front, code = self.doctor('nowhere\nclosed\n', '--json')
    self.assertEqual(code, 4, front.text())
    found = json.loads('\n'.join(front.out))
    self.assertEqual(found['nodes'], [])
    self.assertEqual([one['id'] for one in found['between']['findings']],
                     ['nodes-absent'] * 2)


if __name__ == '__main__':
  xml_main.main()
