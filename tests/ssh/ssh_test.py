#!/usr/bin/python3
"""Tests of launch --hostfile with a real sshd on loopback."""

import os
import re
import signal
import socket
import subprocess
import sys

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(os.path.dirname(_HERE), 'python')]

import free_port
import over_ssh
import ssh_hosts
import xml_main


class Ssh(over_ssh.OverSsh):

  # --- Tests of the workers' output

  def test_no_line_is_missing(self):
    count = 150000
    front = self.finish(['127.0.0.%d slots=2' % n for n in (1, 2, 3)],
                        ['--ssh-fan-out=1'], ['count', str(count)])
    for rank in range(6):
      mark = ':%d] ' % rank
      lines = [line.split(mark)[1] for line in front.out if mark in line]
      self.assertEqual(lines[1:], [str(i) for i in range(1, count + 1)])

  def test_a_slow_reader_gets_every_line(self):
    count = 30000
    hosts = self.write(self.folder, 'slow', '127.0.0.1\n127.0.0.2\n')
    front = subprocess.Popen(
        [over_ssh.LAUNCH, '--hostfile=' + hosts,
         '--ssh-args=-F ' + self.hosts.path('config'), over_ssh.WORKER, 'count',
         str(count)], cwd=self.work, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env={'PATH': os.environ['PATH'],
                                        'HOME': self.home})
    self.addCleanup(front.wait)
    self.addCleanup(front.kill)
    with self.assertRaises(subprocess.TimeoutExpired):
      front.wait(8)
    text = front.communicate(timeout=ssh_hosts.PATIENCE_S)[0].decode()
    self.assertEqual(front.returncode, 0)
    for rank in (0, 1):
      self.assertEqual(text.count(':%d] ' % rank), count + 1)

  # --- Tests of ranks, working folders and streams

  def test_single_host(self):
    front = self.finish(['127.0.0.1'], [], ['succeed'])
    self.assertEqual(len(front.lines('up rank=0 of=1 ')), 1, front.text())
    self.assertEqual(len(front.lines('SUCCEEDED')), 1, front.text())

  def test_slots_ranks_folder_and_streams(self):
    front = self.finish(['127.0.0.2 slots=1', '127.0.0.1:2'], [], ['succeed'])
    for rank, local, node in ((0, 0, 0), (1, 0, 1), (2, 1, 1)):
      lines = front.lines('up rank=%d of=3 local=%d node=%d ' %
                          (rank, local, node))
      self.assertEqual(len(lines), 1, front.text())
      self.assertIn(' in=%s ' % self.work, lines[0])
      # The worker's line of output must have exactly one prefix: that of its
      # own host.
      self.assertRegex(lines[0], r'^\[[^\]]+:%d\] up ' % rank)
    self.assertEqual([l for l in front.out if 'complaint' in l], [])
    self.assertEqual([l for l in front.err if ' up ' in l], [])
    self.assertEqual(len(front.lines('complaint of rank=')), 3)
    self.assertEqual(len(front.lines('SUCCEEDED')), 1, front.text())

  def test_workers_given_win_over_slots_and_nodes_takes_the_first(self):
    front = self.finish(
        ['127.0.0.%d slots=4' % i for i in range(1, 5)],
        ['--nproc-per-node=1', '--nnodes=2'], ['succeed'])
    self.assertEqual(len(front.lines(' of=2 ')), 2, front.text())

  def test_exclude(self):
    front = self.finish(
        ['127.0.0.1', '127.0.0.2', '127.0.0.3'],
        ['--exclude=127.0.0.2'], ['print', 'MUSTER_NODE_ID'])
    self.assertEqual(sorted(line.split('] ')[1] for line in
                            front.lines('MUSTER_NODE_ID=')),
                     ['rank=0 MUSTER_NODE_ID=127.0.0.1',
                      'rank=1 MUSTER_NODE_ID=127.0.0.3'], front.text())

  def test_included_slots_are_workers_and_what_cuda_sees(self):
    front = self.finish(['127.0.0.1 slots=4', '127.0.0.2 slots=1'],
                        ['--include=127.0.0.1:1,3@127.0.0.2'],
                        ['print', 'LOCAL_RANK', 'CUDA_VISIBLE_DEVICES'],
                        CUDA_VISIBLE_DEVICES='0')
    self.assertEqual(
        sorted(line.split('] ')[1] for line in front.out if '=' in line and
               ' up ' not in line),
        ['rank=0 CUDA_VISIBLE_DEVICES=1,3', 'rank=0 LOCAL_RANK=0',
         'rank=1 CUDA_VISIBLE_DEVICES=1,3', 'rank=1 LOCAL_RANK=1',
         'rank=2 CUDA_VISIBLE_DEVICES=0', 'rank=2 LOCAL_RANK=0'],
        front.text())

  def test_terminals_are_safe_from_workers(self):
    front = self.finish(['127.0.0.1'], [], ['paint'])
    self.assertEqual(len(front.lines('] abc')), 1, front.text())

  def test_two_jobs_on_the_same_hosts(self):
    hosts = ['127.0.0.1', '127.0.0.2']
    one = self.launch(hosts, [], ['forever'])
    self.assertTrue(one.printed('ready rank=', 2), one.text())
    two = self.finish(list(hosts), [], ['succeed'])
    self.assertEqual(len(two.lines(' of=2 ')), 2, two.text())
    one.signal(signal.SIGTERM)
    self.assertEqual(one.end(), 143, one.text())

  # --- Tests of the environment and of secrets

  def test_environment(self):
    self.write(self.home, '.deepspeed_env',
               'FROM_HOME=1\nFROM_BOTH=home\n# no more\n')
    self.write(self.work, '.deepspeed_env', 'FROM_BOTH = folder\n')
    front = self.finish(
        ['127.0.0.1', '127.0.0.2'],
        ['--export=MINE,MORE_*,SET=a=b'],
        ['print', 'NCCL_SOCKET_IFNAME', 'FROM_HOME', 'FROM_BOTH', 'MINE',
         'MORE_1', 'SET', 'OTHER', 'MUSTER_TOKEN', 'PWD'],
        NCCL_SOCKET_IFNAME='lo', MINE='mine "and" \'yours\' $HOME',
        MORE_1='more', OTHER='no', MUSTER_TOKEN='s3cret')
    for rank in (0, 1):
      self.assertEqual(
          [line.split('] ', 1)[1] for line in front.out
           if 'rank=%d ' % rank in line and 'up rank' not in line],
          ['rank=%d %s' % (rank, text) for text in (
              'NCCL_SOCKET_IFNAME=lo', 'FROM_HOME=1', 'FROM_BOTH=folder',
              'MINE=mine "and" \'yours\' $HOME', 'MORE_1=more', 'SET=a=b',
              'OTHER=unset', 'MUSTER_TOKEN=unset', 'PWD=' + self.work)],
          front.text())

  def test_an_environment_file_that_is_not_there_is_said(self):
    front = self.finish(['127.0.0.1'], [], ['succeed'], DS_ENV_FILE='absent')
    self.assertEqual(len(front.lines('launch: DS_ENV_FILE=absent: there is no '
                                     'such file in the home folder or the ')),
                     1, front.text())
    self.write(self.home, 'there', 'A=1\n')
    front = self.finish(['127.0.0.1'], [], ['print', 'A'], DS_ENV_FILE='there')
    self.assertEqual(len(front.lines('A=1')), 1, front.text())
    self.assertEqual(front.lines('DS_ENV_FILE'), [], front.text())

  def test_an_environment_file_that_others_can_write_is_refused(self):
    self.write(self.work, '.deepspeed_env', 'A=1\n')
    path = os.path.join(self.work, '.deepspeed_env')
    os.chmod(path, 0o666)
    front = self.finish(['127.0.0.1'], [], ['print', 'A'], code=2)
    self.assertEqual(len(front.lines(
        'launch: %s: other users can write it' % path)), 1, front.text())
    front = self.finish(['127.0.0.1'], [], ['print', 'A'], DS_ENV_FILE=path)
    self.assertEqual(len(front.lines('A=1')), 1, front.text())

  def check_no_command_line_has(self, secret):
    for pid in filter(str.isdigit, os.listdir('/proc')):
      try:
        with open('/proc/%s/cmdline' % pid, 'rb') as file:
          self.assertNotIn(secret, file.read())
      except OSError:
        continue

  def check_no_secret(self, secret):
    """Checks that the secret is in no command line, and not in the environment
    of an ssh process."""
    seen = 0
    for pid in filter(str.isdigit, os.listdir('/proc')):
      try:
        with open('/proc/%s/cmdline' % pid, 'rb') as file:
          words = file.read()
        with open('/proc/%s/environ' % pid, 'rb') as file:
          environment = file.read()
      except OSError:
        continue
      self.assertNotIn(secret, words)
      if os.path.basename(words.split(b'\0')[0]) == b'ssh':
        seen += 1
        self.assertNotIn(secret, environment)
    self.assertGreater(seen, 0)

  def on_hosts(self, name):
    """Returns the values of an environment variable in the hosts' processes."""
    found = set()
    for pid in self.hosts.processes():
      try:
        with open('/proc/%d/environ' % pid, 'rb') as file:
          found.update(re.findall(rb'(?:^|\0)%s=([^\0]+)' % name.encode(),
                                  file.read()))
      except OSError:
        continue  # the process has ended meanwhile
    return found

  def status(self, **variables):
    """Returns the exit code and the output of `launch status` for the running
    job."""
    endpoint, = self.on_hosts('MUSTER_COORDINATOR')
    asked = subprocess.run(
        [over_ssh.LAUNCH, 'status', '--endpoint=' + endpoint.decode()],
        env={'PATH': os.environ['PATH'], 'HOME': self.home, **variables},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        stderr=subprocess.STDOUT, timeout=ssh_hosts.PATIENCE_S, check=False)
    return asked.returncode, asked.stdout

  def check_a_token_is_asked_for(self):
    """Checks that the coordinator has a token, and that no process shows it."""
    code, said = self.status()
    self.assertEqual(code, 1, said)
    self.assertIn('asks for a job token', said)
    self.assertEqual(self.on_hosts('MUSTER_TOKEN'), set())

  def test_the_token_is_fresh_and_in_no_environment(self):
    front = self.launch(['127.0.0.1', '127.0.0.2'], [], ['forever'])
    self.assertTrue(front.printed('ready rank=', 2), front.text())
    self.check_a_token_is_asked_for()
    front.signal(signal.SIGTERM)
    self.assertEqual(front.end(), 143, front.text())

  def test_where_a_host_hosts_at_a_given_endpoint_there_is_a_token_too(self):
    front = self.launch(
        ['127.0.0.1', '127.0.0.2'],
        ['--rdzv-endpoint=127.0.0.1:%d' % free_port.free_port()], ['forever'])
    self.assertTrue(front.printed('ready rank=', 2), front.text())
    self.check_a_token_is_asked_for()
    front.signal(signal.SIGTERM)
    self.assertEqual(front.end(), 143, front.text())

  def test_neither_are_a_given_token_and_exports(self):
    front = self.launch(['127.0.0.1', '127.0.0.2', '127.0.0.3'],
                        ['--ssh-fan-out=1', '--export=KEY_OF_MINE'],
                        ['forever'],
                        MUSTER_TOKEN='g1ven-t0ken')
    self.assertEqual(front.end(), 2)
    front = self.launch(['127.0.0.1', '127.0.0.2', '127.0.0.3'],
                        ['--ssh-fan-out=1', '--export=KEY_OF_MINE'],
                        ['forever'], MUSTER_TOKEN='g1ven-t0ken',
                        HF_TOKEN='hf-s3cret', KEY_OF_MINE='m1ne-s3cret')
    self.assertTrue(front.printed('ready rank=', 3), front.text())
    self.check_a_token_is_asked_for()
    code, said = self.status(MUSTER_TOKEN='g1ven-t0ken')
    self.assertEqual(code, 0, said)
    self.check_no_secret(b'g1ven-t0ken')
    for name, secret in (('HF_TOKEN', b'hf-s3cret'),
                         ('KEY_OF_MINE', b'm1ne-s3cret')):
      self.assertEqual(self.on_hosts(name), {secret})
      self.check_no_command_line_has(secret)
    front.signal(signal.SIGINT)
    self.assertEqual(front.end(), 130, front.text())

  # --- Tests of the end of a job

  def test_a_failed_worker_gives_the_exit_code_and_one_verdict(self):
    front = self.finish(['127.0.0.1', '127.0.0.2'], [], ['fail', '1'], code=7)
    self.assertEqual(len(front.lines('FAILED')), 1, front.text())

  def test_ctrl_c_stops_everything_with_grace(self):
    front = self.launch(['127.0.0.1', '127.0.0.2'], [], ['forever'])
    self.assertTrue(front.printed('ready rank=', 2), front.text())
    front.signal(signal.SIGINT)
    self.assertEqual(front.end(), 130, front.text())
    self.assertEqual(len(front.lines('caught INT')), 2, front.text())

  def test_twice_is_at_once(self):
    front = self.launch(['127.0.0.1', '127.0.0.2'],
                        ['--shutdown-timeout=3600'], ['deaf'])
    self.assertTrue(front.printed('ready rank=', 2), front.text())
    front.signal(signal.SIGINT)
    self.assertTrue(front.printed('once more to stop it at once'))
    front.signal(signal.SIGINT)
    self.assertEqual(front.end(), 130, front.text())

  def test_a_killed_front_leaves_nothing(self):
    front = self.launch(['127.0.0.1', '127.0.0.2', '127.0.0.3'],
                        ['--ssh-fan-out=2'], ['forever'])
    self.assertTrue(front.printed('ready rank=', 3), front.text())
    front.signal(signal.SIGKILL)
    front.process.wait()
    self.assertEqual(self.hosts.wait_for_nothing(), {})

  def test_the_terminals_end_is_sighup_to_the_job(self):
    front = self.launch(['127.0.0.1', '127.0.0.2'], [], ['forever'])
    self.assertTrue(front.printed('ready rank=', 2), front.text())
    front.signal(signal.SIGHUP)
    self.assertEqual(front.end(), 128 + signal.SIGHUP, front.text())
    self.assertTrue(front.lines('cancelled: SIGHUP'), front.text())

  def test_hosts_beyond_the_most_are_spares_whoever_comes_first(self):
    for host in ('1', '2'):
      os.mkfifo(os.path.join(self.work, host))
    # A replacement for ssh, which `launch` runs once for each host. For the
    # first two hosts the script waits, on a FIFO, until the script for the
    # fourth host has started. So the first two hosts are late.
    slow = self.write(self.folder, 'ordered_ssh', (
        '#!/bin/sh\nexport %s\ncd %s\ncase "$*" in\n'
        '  *127.0.0.1\\ *) read -r _ <1 ;;\n'
        '  *127.0.0.2\\ *) read -r _ <2 ;;\n'
        '  *127.0.0.4\\ *) : >1; : >2 ;;\nesac\nexec ssh "$@"\n' % (
            self.hosts.mark, self.work)))
    os.chmod(slow, 0o700)
    front = self.finish(['127.0.0.%d' % i for i in range(1, 5)],
                        ['--nnodes=1:2'], ['print', 'MUSTER_NODE_ID'],
                        MUSTER_SSH=slow)
    self.assertEqual(sorted(line.split('] ')[1] for line in
                            front.lines('MUSTER_NODE_ID=')),
                     ['rank=0 MUSTER_NODE_ID=127.0.0.1',
                      'rank=1 MUSTER_NODE_ID=127.0.0.2'], front.text())

  # --- Tests with hosts that cannot take part

  def test_every_host_that_fails_is_named_in_sshs_words(self):
    front = self.finish(['127.0.0.1', 'closed', 'refusing', 'unknown',
                         'nowhere', self.hosts.BARE], [], ['succeed'], code=1)
    for host, words in (('closed', 'Connection refused'),
                        ('refusing', 'Permission denied'),
                        ('unknown', 'Host key verification failed'),
                        ('nowhere', 'Could not resolve hostname'),
                        (self.hosts.BARE, 'no launch at ')):
      self.assertRegex(front.text(), 'launch: %s: .*%s' % (host, words))
    self.assertTrue(front.lines('5 of 6 hosts cannot take part'))
    self.assertEqual(front.lines('up rank'), [])

  def test_a_silent_host_is_named_within_its_deadline(self):
    with socket.create_server(('127.0.0.1', 0)) as silent:
      front = self.launch(
          ['127.0.0.1'],
          ['--ssh-args=-F %s -p %d' % (self.hosts.path('config'),
                                       silent.getsockname()[1]),
           '--ssh-timeout=0.5'], ['succeed'])
      self.assertEqual(front.end(), 1, front.text())
    self.assertRegex(front.text(),
                     '127.0.0.1: (did not answer|.*timed out)')

  def test_nothing_of_an_ssh_that_took_too_long_is_left(self):
    slow = self.write(self.folder, 'slow_ssh',
                      '#!/bin/sh\nexport %s\nsleep 3600\n' % self.hosts.mark)
    os.chmod(slow, 0o700)
    self.finish(['127.0.0.1'], ['--ssh-timeout=0.5'], ['succeed'], code=1,
                MUSTER_SSH=slow)
    self.assertEqual(self.hosts.wait_for_nothing(), {})

  def test_a_job_that_may_grow_starts_without_them(self):
    front = self.finish(['closed', '127.0.0.1', '127.0.0.2'],
                        ['--nnodes=2:3', '--rdzv-conf=last_call_timeout=0'],
                        ['succeed'])
    self.assertTrue(front.lines('the job starts without it'), front.text())
    self.assertEqual(len(front.lines(' of=2 ')), 2, front.text())

  def test_a_folder_that_is_not_there(self):
    wrapper = self.write(self.folder, 'ssh_wrapper',
                         '#!/bin/sh\nrmdir "%s"\nexec ssh "$@"\n' % self.work)
    os.chmod(wrapper, 0o700)
    front = self.finish(['127.0.0.1'], [], ['succeed'], code=1,
                        MUSTER_SSH=wrapper)
    self.assertTrue(front.lines(
        '127.0.0.1: the working directory %s cannot be entered' % self.work),
        front.text())

  def test_an_agent_that_refuses_ends_the_job(self):
    path = self.write(self.work, 'hosts', '127.0.0.1\n127.0.0.2\n')
    front = ssh_hosts.Launch(
        [over_ssh.LAUNCH, '--hostfile', path, '--ssh-args',
         '-F ' + self.hosts.path('config'), './no-such-program'],
        self.work, {'PATH': '/usr/bin:/bin', 'HOME': self.home})
    self.addCleanup(front.close)
    self.assertEqual(front.end(), 127, front.text())
    self.assertTrue(front.lines('no-such-program'), front.text())
    self.assertEqual(front.lines('127.0.0.2: '), [], front.text())

  # --- Tests of the tree of ssh processes (--ssh-fan-out)

  def ssh_children(self, pid):
    children = []
    for other in filter(str.isdigit, os.listdir('/proc')):
      try:
        with open('/proc/%s/stat' % other, encoding='utf-8') as file:
          name, rest = file.read().rsplit(')', 1)
      except OSError:
        continue
      if name.endswith('(ssh') and int(rest.split()[1]) == pid:
        children.append(int(other))
    return children

  def test_a_tree_of_two_levels(self):
    front = self.launch(['127.0.0.%d' % i for i in range(1, 5)],
                        ['--ssh-fan-out=2'], ['forever'])
    self.assertTrue(front.printed('ready rank=', 4), front.text())
    self.assertEqual(len(self.ssh_children(front.process.pid)), 2)
    first = self.node_process('127.0.0.1')[0]
    self.assertEqual(len(self.ssh_children(first)), 1)
    front.signal(signal.SIGINT)
    self.assertEqual(front.end(), 130, front.text())
    self.assertEqual(len(front.lines('caught INT')), 4, front.text())

  def test_the_next_host_takes_the_place_of_one_that_is_not_reached(self):
    front = self.finish(
        ['127.0.0.1', '127.0.0.2', 'closed', '127.0.0.4', '127.0.0.5'],
        ['--ssh-fan-out=2', '--nnodes=4:5',
         '--rdzv-conf=last_call_timeout=0'], ['succeed'])
    self.assertEqual(len(front.lines(' of=4 ')), 4, front.text())
    self.assertTrue(front.lines('closed: '), front.text())

  # --- Tests of errors in the command line

  def test_usage(self):
    for hosts, flags, words in (
        (['a b'], [], "line 1: unknown word 'b'"),
        (['a'], ['--nnodes=2'], 'asks for more hosts'),
        (['a'], ['--node-rank=0'], '--node-rank: is for one node'),
        (['a'], ['--include=b'], 'the host file has no host b'),
        (['a'], ['--include=a', '--exclude=a'], 'does not go with --exclude'),
        (['a'], ['--export=1x'], "'1x' is no variable")):
      with self.subTest(words):
        front = self.finish(hosts, flags, ['succeed'], code=2)
        self.assertTrue(front.lines(words), front.text())
        self.assertEqual(len(front.err), 1, front.text())


if __name__ == '__main__':
  xml_main.main()
