#!/usr/bin/python3
"""Tests launch on a terminal, and its workers' stdin."""

import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.realpath(__file__)),
                             os.pardir, os.pardir, 'python')]

import terminal
import xml_main

_LAUNCH = os.path.realpath('launcher/launch')
_PATIENCE_S = terminal.PATIENCE_S


def launched(*flags, python='', program=None):
  worker = program or ['/usr/bin/python3', '-u', '-c', python]
  return [_LAUNCH, '--standalone', '--no-python', *flags, *worker]


def on_terminal(*flags, **worker):
  return terminal.Terminal(launched(*flags, **worker))


def piped(argv, text):
  return subprocess.run(argv, input=text, capture_output=True, text=True,
                        timeout=_PATIENCE_S, check=False)


class Stdin(unittest.TestCase):

  def test_the_only_worker_reads_it(self):
    ended = piped(launched(program=['cat']), 'hello\n')
    self.assertEqual(ended.returncode, 0, ended.stderr)
    self.assertIn('] hello', ended.stdout)

  def test_the_first_of_several_reads_it_and_no_other(self):
    ended = piped(
        launched('--nproc-per-node=3', program=[
            'sh', '-c', 'echo "rank $RANK read: $(cat)"']), 'hello\n')
    self.assertEqual(ended.returncode, 0, ended.stderr)
    self.assertIn('rank 0 read: hello\n', ended.stdout)
    self.assertIn('rank 1 read: \n', ended.stdout)
    self.assertIn('rank 2 read: \n', ended.stdout)

  def test_the_rank_that_is_named_reads_it(self):
    ended = piped(
        launched('--nproc-per-node=2', '--stdin=1', program=[
            'sh', '-c', 'echo "rank $RANK read: $(cat)"']), 'hello\n')
    self.assertIn('rank 0 read: \n', ended.stdout)
    self.assertIn('rank 1 read: hello\n', ended.stdout)

  def test_none_reads_it_where_none_is_asked_for(self):
    ended = piped(launched('--stdin=none', program=['cat']), 'hello\n')
    self.assertEqual(ended.returncode, 0, ended.stderr)
    self.assertNotIn('hello', ended.stdout)

  def test_the_next_rounds_worker_reads_on(self):
    ended = piped(
        launched('--max-restarts=1', program=[
            'sh', '-c', 'read line; echo "round $MUSTER_ROUND read: $line";'
                        '[ "$MUSTER_ROUND" = 2 ]']), 'one\ntwo\n')
    self.assertEqual(ended.returncode, 0, ended.stderr)
    self.assertIn('round 1 read: one\n', ended.stdout)
    self.assertIn('round 2 read: two\n', ended.stdout)

  def test_under_torchruns_name_all_inherit_it(self):
    # Each worker reads its line by a single system call. The shell's `read`
    # reads single bytes, so two workers could each get parts of both lines.
    with tempfile.TemporaryDirectory() as folder:
      name = os.path.join(folder, 'torchrun')
      os.symlink(_LAUNCH, name)
      ended = piped([name, '--standalone', '--nproc-per-node=2', '--no-python',
                     'sh', '-c',
                     'echo "read: $(dd bs=4 count=1 status=none)"'],
                    'one\ntwo\n')
    self.assertEqual(ended.returncode, 0, ended.stderr)
    self.assertIn('read: one\n', ended.stdout)
    self.assertIn('read: two\n', ended.stdout)

  def test_no_rank_is_refused(self):
    ended = piped(launched('--stdin=first', program=['cat']), '')
    self.assertEqual(ended.returncode, 2)
    self.assertIn('--stdin=first: is no rank', ended.stderr)


_SAY_TTYS = 'import os; print([os.isatty(fd) for fd in range(3)])'


# Each test waits only for text that a worker writes by a single write call.
# Between two writes, other output may appear on the terminal. Note that print()
# writes each value separately.
class OnATerminal(unittest.TestCase):

  def test_the_only_worker_finds_a_terminal(self):
    with on_terminal(python=_SAY_TTYS) as console:
      self.assertEqual(console.exit_code(), 0)
      self.assertIn('[True, True, True]', console.shown)
      self.assertEqual(terminal.modes(console.slave), console.modes)

  def test_of_several_none_does_for_its_output(self):
    with on_terminal('--nproc-per-node=2', python=_SAY_TTYS) as console:
      self.assertEqual(console.exit_code(), 0)
      self.assertIn(':0] [True, False, False]', console.shown)
      self.assertIn(':1] [False, False, False]', console.shown)

  def test_teed_output_is_lines(self):
    with on_terminal('--tee=3', python=_SAY_TTYS) as console:
      self.assertEqual(console.exit_code(), 0)
      self.assertIn(':0] [True, False, False]', console.shown)

  def test_output_in_a_file_is_no_terminal_and_errors_are(self):
    with tempfile.TemporaryDirectory() as folder:
      out = os.path.join(folder, 'out')
      with terminal.Terminal(
          ['sh', '-c', 'exec "$@" > ' + out, 'sh',
           *launched(python=_SAY_TTYS)]) as console:
        self.assertEqual(console.exit_code(), 0)
      with open(out, encoding='utf-8') as file:
        self.assertIn('[True, False, True]', file.read())

  def test_partial_lines_and_returns_are_shown_at_once(self):
    with on_terminal(python='''
print("half", end="", flush=True); input()
print("\\r50%", end="", flush=True); input()''') as console:
      console.until('half')
      console.type('\r')
      console.until('\r50%')
      console.type('\r')
      self.assertEqual(console.exit_code(), 0)
      self.assertNotIn(':0] ', console.shown)

  def test_typed_text_is_edited_and_echoed_once(self):
    with on_terminal(python='print("got", repr(input("name? ")))') as console:
      console.until('name? ')
      console.type('ab\x7fc\r')
      self.assertEqual(console.exit_code(), 0)
      self.assertIn("got 'ac'", console.shown)
      self.assertEqual(console.shown.count('name? ab'), 1)

  def test_the_debugger_works(self):
    with on_terminal(python='''
answer = 41
breakpoint()
print("it is", answer)''') as console:
      console.until('(Pdb) ')
      console.type('answer + 1\r')
      console.until('\n42')
      console.type('answer = 43\r')
      console.until('(Pdb) ', 3)
      console.type('continue\r')
      self.assertEqual(console.exit_code(), 0)
      self.assertIn('it is 43', console.shown)

  def test_the_end_of_typed_input_is_seen(self):
    with on_terminal(program=['cat']) as console:
      console.type('hello\r')
      console.until('hello\r\nhello\r\n')
      console.type('\x04')
      self.assertEqual(console.exit_code(), 0)

  def test_the_end_of_input_that_was_typed_before_launch_is_seen(self):
    with tempfile.TemporaryDirectory() as folder:
      gate = os.path.join(folder, 'gate')
      os.mkfifo(gate)
      with terminal.Terminal(
          ['sh', '-c', 'echo waiting; read line < "$0"; exec "$@"', gate,
           *launched('--quiet', program=['cat'])]) as console:
        console.until('waiting')
        console.type('hello\r\x04')
        console.until('hello')
        with open(gate, 'w', encoding='utf-8') as fifo:
          fifo.write('go\n')
        self.assertEqual(console.exit_code(), 0)
        self.assertEqual(console.shown.count('hello'), 3)
        self.assertNotIn('^@', console.shown)

  def test_the_end_of_input_reaches_the_worker_under_script(self):
    ended = subprocess.run(
        ['script', '-qec', ' '.join(launched('--quiet', program=['cat'])),
         '/dev/null'], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=_PATIENCE_S, check=False)
    self.assertEqual(ended.returncode, 0, ended.stdout)
    self.assertNotIn('^@', ended.stdout)

  def test_its_size_is_the_terminals_and_follows_it(self):
    with on_terminal(python='''
import os, signal
resized = {signal.SIGWINCH}
signal.pthread_sigmask(signal.SIG_BLOCK, resized)
print(os.get_terminal_size(1), os.get_terminal_size(2), flush=True)
while True:
  signal.sigwait(resized)
  print(os.get_terminal_size(2), flush=True)''') as console:
      console.until('columns=80, lines=24) os.terminal_size(columns=80')
      console.resize(33, 77)
      console.until('columns=77, lines=33)')

  def test_the_log_files_have_the_very_bytes(self):
    with tempfile.TemporaryDirectory() as folder:
      with on_terminal('--log-dir=' + folder, python='''
import sys
sys.stdout.buffer.write(b"out\\na\\tb\\r\\x1b[1mbold\\x04\\n")
sys.stdout.flush()
sys.stderr.write("err\\n")''') as console:
        self.assertEqual(console.exit_code(), 0)
      logs = {}
      for name in ('stdout', 'stderr'):
        path, = glob.glob(f'{folder}/latest/**/{name}.log', recursive=True)
        with open(path, 'rb') as file:
          logs[name] = file.read()
    self.assertEqual(logs['stdout'], b'out\na\tb\r\x1b[1mbold\x04\n')
    self.assertEqual(logs['stderr'], b'err\n')

  def test_the_verdict_has_the_last_words_and_a_line_of_its_own(self):
    with on_terminal(python='''
import sys
print("no newline", end="", flush=True)
sys.exit("ValueError: in the end")''') as console:
      self.assertEqual(console.exit_code(), 1)
      self.assertRegex(console.shown, r'stderr +\| ValueError: in the end')
      self.assertNotRegex(console.shown, r'newline *launch')

  def test_a_lot_of_output_comes_whole(self):
    with on_terminal(program=['seq', '1', '20000']) as console:
      self.assertEqual(console.exit_code(), 0)
      numbers = re.findall(r'^(\d+)\r$', console.shown, re.MULTILINE)
      self.assertEqual(numbers, [str(n) for n in range(1, 20001)])

  def test_a_restarted_worker_has_a_terminal_again(self):
    with on_terminal('--max-restarts=1', python='''
import os, sys
said = input("? ")
print(f"round {os.environ['MUSTER_ROUND']} {os.isatty(0)} {said}")
sys.exit(os.environ["MUSTER_ROUND"] == "1")''') as console:
      console.until('? ')
      console.type('a\r')
      console.until('round 1 True a')
      console.until('? ', 2)
      console.type('b\r')
      self.assertEqual(console.exit_code(), 0)
      self.assertIn('round 2 True b', console.shown)

  def test_without_stdin_the_terminal_stays_as_it_is(self):
    with on_terminal('--stdin=none', python=_SAY_TTYS + '''
import signal, sys
print(f"read {sys.stdin.read()!r}")
signal.pause()''') as console:
      console.until("read ''")
      self.assertEqual(terminal.modes(console.slave), console.modes)
      self.assertIn('[False, True, True]', console.shown)


# A worker that waits for a signal. Each signal makes a descriptor readable.
# signal.pause() would miss a signal that arrives just before it.
_READY = '''
import os, select, signal
signals, wake = os.pipe2(os.O_NONBLOCK)
signal.set_wakeup_fd(wake)
print("ready", flush=True)
select.select([signals], [], [])'''


class Signals(unittest.TestCase):

  def test_ctrl_c_reaches_the_worker_and_ends_the_job(self):
    with on_terminal(python=_READY) as console:
      console.until('ready')
      console.type('\x03')
      self.assertEqual(console.exit_code(), 128 + signal.SIGINT)
      self.assertIn('KeyboardInterrupt', console.shown)
      self.assertIn('caught SIGINT: stopping the job', console.shown)
      self.assertEqual(terminal.modes(console.slave), console.modes)

  def test_a_killed_launch_leaves_the_terminal_in_order(self):
    with on_terminal(python=_READY) as console:
      console.until('ready')
      console.until_true(lambda: terminal.modes(console.slave) != console.modes,
                         'its keys are not forwarded')
      os.kill(console.pid, signal.SIGKILL)
      self.assertEqual(console.exit_code(), 128 + signal.SIGKILL)
      console.until_true(lambda: terminal.modes(console.slave) == console.modes,
                         'the terminal is not restored')

  def test_a_terminal_that_goes_ends_the_job(self):
    with tempfile.TemporaryDirectory() as folder:
      path = os.path.join(folder, 'pid')
      console = on_terminal(python=f'''
import os, signal
open({path!r}, "w").write(str(os.getpid()))
print("ready", flush=True)
signal.pause()''')
      console.until('ready')
      with open(path, encoding='utf-8') as file:
        worker = os.pidfd_open(int(file.read()))
      os.close(console.slave)
      os.close(console.master)
      self.assertTrue(terminal.select.select([worker], [], [], _PATIENCE_S)[0])
      os.close(worker)
      self.assertEqual(os.waitstatus_to_exitcode(
          os.waitpid(console.pid, 0)[1]), 128 + signal.SIGHUP)


class JobControl(unittest.TestCase):
  """Under a shell with job control."""

  def shell(self):
    console = terminal.Terminal(['bash', '--norc', '--noprofile', '-i'],
                                {'PS1': 'prompt> ', 'TERM': 'dumb'})
    console.until('prompt> ')
    return console

  def command(self, python):
    with tempfile.NamedTemporaryFile('w', suffix='.py', delete=False) as file:
      file.write(python)
    self.addCleanup(os.unlink, file.name)
    return f'{_LAUNCH} --standalone /usr/bin/python3 -u {file.name}\r'

  def state(self, pid):
    with open(f'/proc/{pid}/stat', encoding='utf-8') as stat:
      return stat.read().rpartition(') ')[2][0]

  def test_ctrl_z_stops_launch_and_worker_and_fg_lets_both_go_on(self):
    with self.shell() as console:
      console.type(self.command('''
import os
print(f"worker {os.getpid()} .")
while True: print(f"got {input('? ')!r}")'''))
      pid = int(re.search(r'worker (\d+) \.', console.until(' .')).group(1))
      console.until('? ')
      console.type('a\r')
      console.until("got 'a'")
      console.type('\x1a')
      console.until('Stopped')
      console.until('prompt> ', 2)
      console.until_true(lambda: self.state(pid) == 'T', 'the worker runs on')
      # While the worker is stopped, the shell owns the terminal, and the
      # terminal has its normal settings.
      console.type('echo in $((40 + 2)) order\r')
      console.until('in 42 order')
      console.type('fg\r')
      console.until_true(lambda: self.state(pid) != 'T', 'the worker stands')
      # After fg the worker owns the terminal again and reads the typed line.
      console.type('b\r')
      console.until("got 'b'")
      console.type('\x03')
      console.until('prompt> ', 4)
      console.type('echo status $?\r')
      console.until('status 130')

  def test_in_the_background_the_keys_are_the_shells(self):
    with self.shell() as console:
      console.type(self.command('''
print("ready")
print("got", repr(input("? ")))''').replace('\r', ' &\r'))
      console.until('ready')
      console.type('echo in $((40 + 2)) order\r')
      console.until('in 42 order')
      console.type('fg\r')
      console.until('launch --standalone')
      console.type('typed\r')
      console.until("got 'typed'")


if __name__ == '__main__':
  xml_main.main()
