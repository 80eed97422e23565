#!/usr/bin/python3
"""Tests that a job belongs to its user: no other local user can see or end a
job of one node, read its token through /proc, or cause the user's jobs to be
refused."""

import contextlib
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.realpath(__file__)),
                             os.pardir, 'python')]

import xml_main

_LAUNCH = os.path.realpath('launcher/launch')
_DAEMON = os.path.realpath('rendezvous/daemon/rendezvousd')
_PATIENCE_S = 60
_STRANGER = 65534
_SECRET = 'geheim-4711'


def as_user(uid):
  """Returns a preexec_fn that makes the process belong to another user from its
  start."""

  def become():
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)

  return become


def free_port():
  with socket.socket() as probe:
    probe.bind(('127.0.0.1', 0))
    return probe.getsockname()[1]


class Ownership(unittest.TestCase):

  def setUp(self):
    # A folder that other users can enter, unlike Bazel's folders.
    self.folder = tempfile.mkdtemp(prefix='muster_ownership_', dir='/tmp')
    self.addCleanup(shutil.rmtree, self.folder)
    os.chmod(self.folder, 0o755)
    self.environment = {
        name: value for name, value in os.environ.items()
        if not name.startswith('MUSTER_')}

  def program(self, path):
    """Returns the path of a copy of a program that other users can execute."""
    copy = os.path.join(self.folder, os.path.basename(path))
    if not os.path.exists(copy):
      shutil.copy(path, copy)
      os.chmod(copy, 0o755)
    return copy

  @contextlib.contextmanager
  def running(self, *argv, uid=None, **variables):
    """Starts a process in a new session, and kills it at the end of the block.
    """
    process = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, start_new_session=True,
        env={**self.environment, **variables},
        preexec_fn=None if uid is None else as_user(uid))
    try:
      yield process
    finally:
      process.kill()
      process.communicate(timeout=_PATIENCE_S)

  def ask(self, *words, uid=None, **variables):
    return subprocess.run(
        [self.program(_LAUNCH), *words], stdin=subprocess.DEVNULL, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=_PATIENCE_S,
        env={**self.environment, **variables}, check=False,
        preexec_fn=None if uid is None else as_user(uid))

  def line(self, process, pattern):
    """Returns the match of `pattern` in the first line of output that matches.
    """
    seen = []
    for text in process.stdout:
      seen.append(text)
      match = re.search(pattern, text)
      if match:
        return match
    self.fail(f'no {pattern} in {seen}')
    return None


_WAITING = ('--no-python', 'sh', '-c',
            'echo at=$MUSTER_COORDINATOR; exec sleep 600')


class JobOfOneNode(Ownership):

  def assert_closed(self, endpoint):
    """Checks that the coordinator refuses requests without a token, with a
    wrong token, and by another user."""
    uids = [_STRANGER] if os.getuid() == 0 else []
    for uid in uids:
      for verb in ('status', 'cancel'):
        asked = self.ask(verb, f'--endpoint={endpoint}', uid=uid)
        self.assertEqual(asked.returncode, 1, asked.stdout)
        self.assertIn('token', asked.stdout)
    asked = self.ask('cancel', f'--endpoint={endpoint}', MUSTER_TOKEN='wrong')
    self.assertEqual(asked.returncode, 1, asked.stdout)

  def assert_owned(self, *flags):
    with self.running(_LAUNCH, *flags, *_WAITING) as job:
      endpoint = self.line(job, r'at=(\S+)').group(1)
      self.assert_closed(endpoint)
      status = self.ask('status', f'--endpoint={endpoint}')
      self.assertEqual(status.returncode, 0, status.stdout)
      cancel = self.ask('cancel', MUSTER_COORDINATOR=endpoint)
      self.assertEqual(cancel.returncode, 0, cancel.stdout)
      job.wait(timeout=_PATIENCE_S)

  def test_standalone_job_obeys_its_user_alone(self):
    self.assert_owned('--standalone')

  def test_job_without_an_endpoint_obeys_its_user_alone(self):
    self.assert_owned('--nnodes=1')

  def test_job_of_one_node_with_an_endpoint_obeys_its_user_alone(self):
    port = free_port()
    self.assert_owned('--nnodes=1', f'--rdzv-endpoint=localhost:{port}')

  def test_second_process_of_its_user_joins_it(self):
    flags = ('--nnodes=1', f'--rdzv-endpoint=localhost:{free_port()}',
             '--rdzv-id=j', '--rdzv-conf=mixed_nodes=1')
    with self.running(_LAUNCH, *flags, *_WAITING) as first:
      endpoint = self.line(first, r'at=(\S+)').group(1)
      with self.running(_LAUNCH, *flags, *_WAITING) as spare:
        self.line(spare, 'spare')
        cancel = self.ask('cancel', f'--endpoint={endpoint}')
        self.assertEqual(cancel.returncode, 0, cancel.stdout)
        first.wait(timeout=_PATIENCE_S)
        spare.wait(timeout=_PATIENCE_S)

  def test_given_token_is_used(self):
    with self.running(_LAUNCH, '--standalone', *_WAITING,
                      MUSTER_TOKEN=_SECRET) as job:
      endpoint = self.line(job, r'at=(\S+)').group(1)
      without = self.ask('cancel', f'--endpoint={endpoint}')
      self.assertEqual(without.returncode, 1, without.stdout)
      cancel = self.ask('cancel', f'--endpoint={endpoint}',
                        MUSTER_TOKEN=_SECRET)
      self.assertEqual(cancel.returncode, 0, cancel.stdout)
      job.wait(timeout=_PATIENCE_S)


# A worker that reads, in /proc, all that it can of its two ancestors: the
# guardian (its parent process) and the agent.
_SPY = r'''
import os, sys
pid = os.getppid()
for _ in range(2):
  with open(f'/proc/{pid}/status') as status:
    parent = int(next(l for l in status if l.startswith('PPid')).split()[1])
  for name in ('environ', 'mem'):
    try:
      with open(f'/proc/{pid}/{name}', 'rb') as file:
        print('can open', name, b'geheim' in file.read() if name == 'environ'
              else '')
    except OSError:
      print('cannot open', name)
  pid = parent
print('inherited', any('geheim' in value for value in os.environ.values()))
print('the end')
sys.stdout.flush()
'''


class Token(Ownership):

  def test_environ_of_a_process_is_cleared(self):
    # Once the worker runs, the file /proc/PID/environ of `launch` must not
    # contain the token, because root can read this file of every process.
    with self.running(_LAUNCH, '--standalone', *_WAITING,
                      MUSTER_TOKEN=_SECRET) as job:
      self.line(job, 'at=')
      self.assert_cleared(job.pid)
    with self.running(_DAEMON, '--listen=127.0.0.1:0',
                      MUSTER_TOKEN=_SECRET) as daemon:
      self.line(daemon, 'job token asked for')
      self.assert_cleared(daemon.pid)

  def assert_cleared(self, pid):
    try:
      with open(f'/proc/{pid}/environ', 'rb') as file:
        content = file.read()
    except PermissionError:
      return
    self.assertNotIn(_SECRET.encode(), content)
    self.assertIn(b'PATH=', content)

  def test_worker_cannot_read_its_agent(self):
    if os.getuid() != 0:
      self.skipTest('needs another user than root to be readable by nobody')
    with self.running(self.program(_LAUNCH), '--standalone', '--no-python',
                      '/usr/bin/python3', '-c', _SPY, uid=_STRANGER,
                      HOME=self.folder, MUSTER_TOKEN=_SECRET) as job:
      output, _ = job.communicate(timeout=_PATIENCE_S)
    self.assertIn('the end', output)
    self.assertNotIn('can open', output)
    self.assertEqual(output.count('cannot open environ'), 2, output)
    self.assertIn('inherited False', output)

  def test_commands_do_not_inherit_it(self):
    ended = self.ask(
        '--standalone', '--health-command=env >&2; env | grep -q geheim && '
        'exit 1; exit 0', '--max-restarts=0', '--no-python', 'true',
        MUSTER_TOKEN=_SECRET)
    self.assertEqual(ended.returncode, 0, ended.stdout)
    self.assertNotIn(_SECRET, ended.stdout)


class TakenFolder(Ownership):

  def assert_runs(self):
    shared = os.path.join(self.folder, 'shared')
    ended = self.ask('--standalone', '--no-python', 'false', TMPDIR=shared)
    where = re.search(r'log and error files are in (\S+)', ended.stdout)
    self.assertIsNotNone(where, ended.stdout)
    self.assertIn('FAILED', ended.stdout)
    own = os.path.dirname(where.group(1))
    self.assertEqual(stat.S_IMODE(os.lstat(own).st_mode), 0o700)
    self.assertEqual(os.lstat(own).st_uid, os.geteuid())
    return own

  def test_folder_that_another_user_made_first_stops_no_job(self):
    shared = os.path.join(self.folder, 'shared')
    os.mkdir(shared)
    os.chmod(shared, 0o1777)
    taken = os.path.join(shared, f'muster_{os.geteuid()}')
    os.mkdir(taken)
    os.chmod(taken, 0o777)
    if os.getuid() == 0:
      os.chown(taken, _STRANGER, _STRANGER)
    own = self.assert_runs()
    self.assertNotEqual(own, taken)
    self.assertEqual(self.assert_runs(), own, 'the next job finds it again')
    self.assertEqual(os.listdir(taken), [])

  def test_link_that_another_user_made_first_stops_no_job(self):
    shared = os.path.join(self.folder, 'shared')
    elsewhere = os.path.join(self.folder, 'elsewhere')
    os.mkdir(shared)
    os.chmod(shared, 0o1777)
    os.mkdir(elsewhere)
    os.symlink(elsewhere, os.path.join(shared, f'muster_{os.geteuid()}'))
    self.assert_runs()
    self.assertEqual(os.listdir(elsewhere), [])


# A worker that waits in the first round until it is killed. In the second round
# it prints a line.
_TWICE = ('--no-python', 'sh', '-c', 'if [ $TORCHELASTIC_RESTART_COUNT = 0 ]; '
          'then echo worker=$$; exec sleep 600; fi; echo redirected')


class LogFolder(Ownership):

  def test_link_of_the_folders_owner_is_not_followed(self):
    if os.getuid() != 0:
      self.skipTest('needs root to make a link of another user')
    logs = os.path.join(self.folder, 'logs')
    os.mkdir(logs)
    os.chown(logs, _STRANGER, _STRANGER)
    victim = os.path.join(self.folder, 'victim')
    with open(victim, 'w', encoding='utf-8') as file:
      file.write('old')
    with self.running(_LAUNCH, '--standalone', f'--log-dir={logs}', '--tee=3',
                      '--max-restarts=1', *_TWICE) as job:
      worker = int(self.line(job, r'worker=(\d+)').group(1))
      # Replace the folder of the run, as the owner of the log folder may do at
      # any time. The new folder has links to the file `victim`, and `launch`
      # must not write to this file.
      run = os.path.realpath(os.path.join(logs, 'latest'))
      os.rename(run, run + '.away')
      rank = os.path.join(run, 'attempt_1', '0')
      os.makedirs(rank)
      for name in ('stdout.log', 'stderr.log'):
        os.symlink(victim, os.path.join(rank, name))
      for folder, folders, files in os.walk(run):
        for name in (folder, *folders, *files):
          os.chown(os.path.join(folder, name), _STRANGER, _STRANGER,
                   follow_symlinks=False)
      os.kill(worker, signal.SIGKILL)
      output, _ = job.communicate(timeout=_PATIENCE_S)
    with open(victim, encoding='utf-8') as file:
      self.assertEqual(file.read(), 'old', output)
    self.assertIn('redirected', output)
    self.assertIn(f'symbolic link of user {_STRANGER}', output)

  def test_own_link_to_the_folder_is_followed(self):
    os.mkdir(os.path.join(self.folder, 'real'))
    logs = os.path.join(self.folder, 'logs')
    os.symlink('real', logs)
    ended = self.ask('--standalone', f'--log-dir={logs}', '--redirects=3',
                     '--no-python', 'echo', 'output')
    self.assertEqual(ended.returncode, 0, ended.stdout)
    written = os.path.join(logs, 'latest', 'attempt_0', '0', 'stdout.log')
    with open(written, encoding='utf-8') as file:
      self.assertEqual(file.read(), 'output\n')


if __name__ == '__main__':
  xml_main.main()
