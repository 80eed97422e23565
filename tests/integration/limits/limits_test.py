#!/usr/bin/python3
"""Programs that may have too few processes, descriptors or too little address
space must print one clear error line."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.realpath(__file__)),
                             os.pardir, os.pardir, 'python')]

import xml_main

_LAUNCH = os.path.realpath('launcher/launch')
_AGENT = os.path.realpath('launcher/agent')
_DAEMON = os.path.realpath('rendezvous/daemon/rendezvousd')
_PATIENCE_S = 60

_JOB = ('--standalone', '--nproc-per-node=2', '--no-python', 'echo', 'ran')


def limited(argv, limit, value, uid=None):
  """Runs `argv` under a resource limit. Returns its output and exit code."""

  def prepare():
    if uid is not None:
      os.setgroups([])
      os.setgid(uid)
      os.setuid(uid)
    resource.setrlimit(limit, (value, value))

  return subprocess.run(argv, stdin=subprocess.DEVNULL, text=True,
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                        timeout=_PATIENCE_S, preexec_fn=prepare, check=False)


class Limits(unittest.TestCase):

  def assert_one_line(self, ended, program, *words):
    self.assertEqual(ended.returncode, 1, ended.stdout)
    lines = ended.stdout.splitlines()
    self.assertEqual(len(lines), 1, ended.stdout)
    self.assertTrue(lines[0].startswith(program + ': '), lines)
    for word in words:
      self.assertIn(word, lines[0])


class Descriptors(Limits):

  def test_launch_says_that_there_are_too_few(self):
    for limit in (8, 20, 30):
      with self.subTest(limit=limit):
        self.assert_one_line(
            limited([_LAUNCH, *_JOB], resource.RLIMIT_NOFILE, limit),
            'launch', 'descriptors', 'ulimit -n')

  def test_an_agent_says_so(self):
    self.assert_one_line(
        limited([_AGENT, '--rdzv-endpoint=127.0.0.1:1', 'true'],
                resource.RLIMIT_NOFILE, 20),
        'agent', 'descriptors', 'ulimit -n')

  def test_the_daemon_says_so(self):
    self.assert_one_line(
        limited([_DAEMON, '--listen=127.0.0.1:0'], resource.RLIMIT_NOFILE, 12),
        'rendezvousd', 'descriptors', 'ulimit -n')

  def test_as_many_as_it_asks_for_are_enough(self):
    # `launch` asks for 64 descriptors plus six for each worker
    # (launcher/run_command.cc). So 90 are enough for two workers.
    ended = limited([_LAUNCH, *_JOB], resource.RLIMIT_NOFILE, 90)
    self.assertEqual(ended.returncode, 0, ended.stdout)
    self.assertEqual(ended.stdout.count('] ran'), 2)


class Addresses(Limits):

  def test_a_job_runs_in_400_mb(self):
    ended = limited([_LAUNCH, *_JOB], resource.RLIMIT_AS, 400_000 << 10)
    self.assertEqual(ended.returncode, 0, ended.stdout)
    self.assertEqual(ended.stdout.count('] ran'), 2)

  def test_with_less_launch_says_what_there_is_too_little_of(self):
    size = self.mapped()
    self.assert_one_line(
        limited([_LAUNCH, *_JOB], resource.RLIMIT_AS, size + (6 << 20)),
        'launch', 'ulimit -v')

  def mapped(self):
    """Returns the number of bytes of address space that the program file itself
    needs."""
    for limit in range(8 << 20, 1 << 30, 2 << 20):
      ended = limited([_LAUNCH, '--version'], resource.RLIMIT_AS, limit)
      if ended.returncode == 0:
        return limit
    return self.fail('it takes more than 1 GiB')


# This script prints whether the worker, the guardian (its parent) and the agent
# (the guardian's parent) ignore SIGXFSZ.
_SAY_IGNORED = '''
agent=$(cut -d" " -f4 /proc/$PPID/stat)
for pid in self $PPID $agent; do
  mask=$(sed -n 's/^SigIgn:\\t*//p' /proc/$pid/status)
  echo "$((0x$mask >> 24 & 1))"
done | tr -d "\\n"
'''


class FileSizes(Limits):

  def ignorers(self, restore_signals):
    # Python ignores SIGXFSZ. With restore_signals=False, `launch` starts with
    # SIGXFSZ ignored; otherwise Python restores the default action first.
    ended = subprocess.run(
        [_LAUNCH, '--standalone', '--no-python', 'sh', '-c', _SAY_IGNORED],
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=_PATIENCE_S, restore_signals=restore_signals, check=False)
    self.assertEqual(ended.returncode, 0, ended.stderr)
    return ended.stdout.split('] ')[-1].strip()

  def test_all_but_the_workers_ignore_the_signal(self):
    self.assertEqual(self.ignorers(restore_signals=True), '011')

  def test_a_worker_ignores_it_where_launch_did_from_the_beginning(self):
    self.assertEqual(self.ignorers(restore_signals=False), '111')

  def test_a_log_file_beyond_the_limit_ends_no_job(self):
    for status in (0, 3):
      ended = limited(
          [_LAUNCH, '--standalone', '--no-python', 'sh', '-c',
           'seq 1 100000; echo last words >&2; exit %d' % status],
          resource.RLIMIT_FSIZE, 10 << 10)
      self.assertEqual(ended.returncode, status, ended.stdout[-2000:])
      self.assertIn('] 100000\n', ended.stdout)
      self.assertRegex(ended.stdout, r'log: cannot write \S+: File too large')
      if status != 0:
        self.assertRegex(ended.stdout, r'stderr +\| last words')

  def test_output_that_is_lost_changes_the_status(self):
    with tempfile.TemporaryFile() as out:
      ended = subprocess.run(
          [_LAUNCH, '--standalone', '--no-python', 'seq', '1', '100000'],
          stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
          text=True, timeout=_PATIENCE_S, check=False,
          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                (10 << 10, 10 << 10)))
    self.assertEqual(ended.returncode, 74, ended.stderr)
    self.assertIn('stdout cannot be written: File too large', ended.stderr)


@unittest.skipUnless(os.getuid() == 0, 'needs root, to be another user')
class Processes(Limits):
  # a user id that no other process has: the limit counts all processes of a
  # user
  UID = 54321

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.folder = tempfile.mkdtemp(dir='/tmp')
    os.chmod(cls.folder, 0o755)
    for program in (_LAUNCH, _AGENT, _DAEMON):
      shutil.copy(program, cls.folder)

  @classmethod
  def tearDownClass(cls):
    shutil.rmtree(cls.folder)
    super().tearDownClass()

  def run_with(self, processes, program, *arguments):
    return limited([os.path.join(self.folder, program), *arguments],
                   resource.RLIMIT_NPROC, processes, self.UID)

  def test_launch_says_that_there_are_too_few(self):
    for processes in (1, 2, 5, 12):
      with self.subTest(processes=processes):
        self.assert_one_line(self.run_with(processes, 'launch', *_JOB),
                             'launch', 'ulimit -u')

  def test_an_agent_says_so(self):
    self.assert_one_line(
        self.run_with(4, 'agent', '--rdzv-endpoint=127.0.0.1:1', 'true'),
        'agent', 'ulimit -u')

  def test_the_daemon_says_so(self):
    self.assert_one_line(
        self.run_with(4, 'rendezvousd', '--listen=127.0.0.1:0'),
        'rendezvousd', 'ulimit -u')

  def test_as_many_as_it_asks_for_are_enough(self):
    ended = self.run_with(40, 'launch', *_JOB)
    self.assertEqual(ended.returncode, 0, ended.stdout)
    self.assertEqual(ended.stdout.count('] ran'), 2)


if __name__ == '__main__':
  xml_main.main()
