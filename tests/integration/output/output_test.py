#!/usr/bin/python3
"""Tests workers' output on consoles that are slow, full, closed or not read."""

import os
import pty
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(_HERE)), 'python')]

import kernel_events
import xml_main

_LAUNCH = os.path.realpath(os.environ.get('MUSTER_LAUNCH', 'launcher/launch'))
_PATIENCE_S = 60
# Number of lines that fit into the console's pipe and launch's queue together,
# but not into the pipe alone.
_LINES = 30000
# Number of lines that are too many for all buffers between worker and console.
_MANY_LINES = 900000


class Output(unittest.TestCase):

  def setUp(self):
    super().setUp()
    self.folder = tempfile.mkdtemp()
    self.addCleanup(shutil.rmtree, self.folder)
    self.events = kernel_events.FolderEvents(self.folder)
    self.addCleanup(self.events.close)

  def launch(self, flags, script, **streams):
    environment = dict(os.environ, TMPDIR=self.folder)
    process = subprocess.Popen(
        [_LAUNCH, '--standalone', *flags, '--no-python', 'sh', '-c', script],
        env=environment, stdin=subprocess.DEVNULL, **streams)
    self.addCleanup(process.wait)
    self.addCleanup(process.kill)
    return process

  def await_file(self, name):
    """Waits until a worker has created a file in the folder. Returns its path.
    """
    path = os.path.join(self.folder, name)
    self.assertTrue(
        self.events.wait_until(lambda: os.path.exists(path),
                               time.monotonic() + _PATIENCE_S),
        'no worker has made %s' % path)
    return path

  def assert_waits(self, process):
    """Checks that the process is blocked by its reader for at least two
    seconds."""
    with self.assertRaises(subprocess.TimeoutExpired):
      process.wait(2)

  def test_a_slow_reader_gets_every_line(self):
    process = self.launch([], 'seq 1 %d' % _LINES, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    self.assert_waits(process)
    lines = process.communicate(timeout=_PATIENCE_S)[0].splitlines()
    self.assertEqual(len(lines), _LINES)
    self.assertRegex(lines[-1].decode(), r'^\[\S+:0\] %d$' % _LINES)
    self.assertEqual(process.returncode, 0)

  def test_workers_wait_for_a_reader_and_nothing_is_missing(self):
    process = self.launch(['--nproc-per-node=2'], 'seq 1 %d' % _MANY_LINES,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    self.assert_waits(process)
    lines = process.communicate(timeout=5 * _PATIENCE_S)[0].splitlines()
    self.assertEqual(len(lines), 2 * _MANY_LINES)
    for rank in (b'0', b'1'):
      numbers = [line.split(b'] ')[1] for line in lines
                 if line.split(b'] ')[0].endswith(b':' + rank)]
      self.assertEqual(numbers, [b'%d' % i for i in range(1, _MANY_LINES + 1)])

  def test_last_words_and_the_verdict_come_after_whole_lines(self):
    process = self.launch(
        [], 'seq 1 %d; echo last words >&2; exit 3' % _LINES,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    self.assert_waits(process)
    text = process.communicate(timeout=_PATIENCE_S)[0].decode()
    self.assertEqual(process.returncode, 3)
    self.assertEqual(len(re.findall(r'^\[\S+:0\] \d+$', text, re.M)), _LINES)
    self.assertRegex(text, r'(?m)^\[\S+:0\] last words$')
    self.assertRegex(text, r'(?m)^sh FAILED')

  def test_an_unread_console_is_given_up_and_says_where_the_output_is(self):
    process = self.launch(['--console=wait:0.2'], 'seq 1 %d' % _LINES,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said = process.stderr.read().decode()
    self.assertEqual(process.wait(_PATIENCE_S), 0)
    process.stdout.close()
    process.stderr.close()
    told = re.search(r'(\d+) bytes were left out of stdout, because its reader has stopped; '
                     r"the workers' output is in the files of (\S+)", said)
    self.assertTrue(told, said)
    with open(told[2] + '/attempt_0/0/stdout.log', encoding='utf-8') as log:
      self.assertEqual(len(log.readlines()), _LINES)

  def test_a_reader_that_left_holds_nobody_up(self):
    process = self.launch([], 'seq 1 %d' % _MANY_LINES, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    process.stdout.readline()
    process.stdout.close()
    self.assertEqual(process.wait(_PATIENCE_S), 0)

  def test_full_disk_is_reported_on_the_other_stream_and_by_the_status(self):
    with open('/dev/full', 'wb') as full:
      process = self.launch([], 'seq 1 3', stdout=full, stderr=subprocess.PIPE)
      said = process.communicate(timeout=_PATIENCE_S)[1].decode()
      self.assertEqual(process.returncode, 74, said)
      self.assertIn('stdout cannot be written: No space left on device', said)
      self.assertRegex(said, r'\d+ bytes could not be written to stdout')
      process = self.launch([], 'echo why >&2; exit 3', stderr=full,
                            stdout=subprocess.PIPE)
      said = process.communicate(timeout=_PATIENCE_S)[0].decode()
      self.assertEqual(process.returncode, 3, said)
      self.assertIn('stderr cannot be written: No space left on device', said)

  def test_a_job_whose_console_nobody_reads_can_be_stopped(self):
    terminal, side = pty.openpty()
    self.addCleanup(os.close, terminal)
    process = self.launch(['--nproc-per-node=2'],
                          'touch %s/$RANK; yes' % self.folder,
                          stdout=side, stderr=side)
    os.close(side)
    for rank in (0, 1):
      self.await_file(str(rank))
    process.send_signal(signal.SIGINT)
    self.assertEqual(process.wait(_PATIENCE_S), 130)

  def test_first_signal_ends_the_wait_for_a_console_after_the_workers_end(self):
    # The workers' output is larger than the buffer of the terminal and launch's
    # queue together. So the rest of the output stays in the workers' pipes.
    terminal, side = pty.openpty()
    self.addCleanup(os.close, terminal)
    process = self.launch(
        ['--console=wait:600', '--nproc-per-node=2'],
        'echo $$ > {0}/$RANK.new; mv {0}/$RANK.new {0}/$RANK; '
        'head -c 2400000 /dev/zero | tr "\\0" x | fold -w 1000'.format(
            self.folder), stdout=side, stderr=side)
    os.close(side)
    for rank in (0, 1):
      with open(self.await_file(str(rank)), encoding='utf-8') as file:
        worker = int(file.read())
      self.assertTrue(
          kernel_events.wait_for_end(worker, time.monotonic() + _PATIENCE_S),
          'worker %d (pid %d) has not ended' % (rank, worker))
    process.send_signal(signal.SIGINT)
    # The exit status is 130 if SIGINT arrives before `launch` has learned that
    # the workers have ended; otherwise 0.
    self.assertIn(process.wait(_PATIENCE_S), (0, 130))

  def test_each_run_of_a_node_has_a_log_folder_of_its_own(self):
    logs = os.path.join(self.folder, 'logs')
    streams = {'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL}
    for flags in ([], [], ['--rdzv-id=j'], ['--rdzv-id=j']):
      process = subprocess.Popen(
          [_LAUNCH, '--log-dir=' + logs, *flags, '--no-python', 'echo',
           *(flags or ['none'])], **streams)
      self.assertEqual(process.wait(_PATIENCE_S), 0)
    folders = [name for name in os.listdir(logs) if name != 'latest']
    self.assertEqual(len(folders), 4)
    self.assertEqual(sum(name.startswith('j_') for name in folders), 2)
    for name in folders + ['latest']:
      with open('%s/%s/attempt_0/0/stdout.log' % (logs, name),
                encoding='utf-8') as log:
        self.assertEqual(len(log.readlines()), 1)
    self.assertTrue(os.readlink(logs + '/latest').startswith('j_'))

  def redirected(self, flags, script, limit=resource.RLIM_INFINITY):
    """Runs a job with redirected output. Returns the exit status, the messages,
    and the bytes of the log files."""
    logs = os.path.join(self.folder, 'logs')
    process = self.launch(
        ['-r', '3', '--log-dir=' + logs, *flags], script,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                              (limit, limit)))
    said = process.communicate(timeout=_PATIENCE_S)[1].decode()
    folder = logs + '/latest/attempt_0/0/'
    return process.returncode, said, sum(
        os.path.getsize(folder + name) for name in os.listdir(folder))

  def test_a_redirected_stream_is_rotated_only_where_that_is_asked_for(self):
    script = 'yes 0123456789abcdef | head -c 8000000'
    status, said, size = self.redirected(['--log-rotate-mb=1'], script)
    self.assertEqual(status, 0, said)
    dropped = re.search(r'rotation has deleted (\d+) bytes', said)
    self.assertTrue(dropped, said)
    self.assertEqual(int(dropped[1]) + size, 8000000)

  def test_a_redirected_stream_is_kept_whole_in_a_temporary_folder(self):
    process = self.launch(
        ['-r', '3'], 'yes 0123456789abcdef | head -c 50000000',
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.communicate(timeout=_PATIENCE_S)[1].decode()
    self.assertEqual(process.returncode, 0, said)
    folder = re.search(r'log and error files are in (\S+)', said)[1]
    size = 0
    for path, _, names in os.walk(folder):
      size += sum(os.path.getsize(os.path.join(path, name)) for name in names
                  if name.startswith('stdout.log'))
    self.assertEqual(size, 50000000)

  def test_redirected_bytes_that_no_file_has_change_the_status(self):
    status, said, size = self.redirected([], 'seq 1 100000', limit=10 << 10)
    self.assertEqual(status, 74, said)
    self.assertEqual(size, 10 << 10)
    self.assertRegex(said, r'log: cannot write \S+: File too large')
    self.assertRegex(said, r'launch: \d+ bytes of workers\' output are lost')

  def test_removed_log_folder_is_reported(self):
    status, said, _ = self.redirected([], """
      log=$(echo %s/logs/latest/*/0/stdout.log); echo first
      until [ -s $log ]; do :; done
      rm -rf %s/logs/latest/attempt_0; echo second""" % (self.folder, self.folder))
    self.assertEqual(status, 74, said)
    self.assertIn('stdout.log was removed while it was written: 6 bytes', said)
    self.assertIn('launch: 6 bytes of workers\' output are lost', said)

  def test_lines_begin_as_the_template_says(self):
    process = self.launch(
        ['--role=trainer', '--log-line-prefix-template',
         '<${role_name}${local_rank}/${rank}> '], 'echo line',
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    text = process.communicate(timeout=_PATIENCE_S)[0]
    self.assertEqual(text, b'<trainer0/0> line\n')

  def test_an_unfinished_line_is_shown(self):
    words = [os.path.join(self.folder, 'word%d' % rank) for rank in (0, 1)]
    for word in words:
      os.mkfifo(word)
    process = self.launch(
        ['--nproc-per-node=2'],
        'printf "Continue? "; cat %s/word$RANK' % self.folder,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    text = b''
    while text.count(b'Continue? ') < 2:
      self.assertTrue(select.select([process.stdout], [], [], _PATIENCE_S)[0])
      text += os.read(process.stdout.fileno(), 1000)
    for word in words:
      with open(word, 'w', encoding='utf-8') as fifo:
        fifo.write('yes\n')
    text += process.communicate(timeout=_PATIENCE_S)[0]
    self.assertEqual(text.count(b'yes\n'), 2, text)
    self.assertEqual(process.returncode, 0)


if __name__ == '__main__':
  xml_main.main()
