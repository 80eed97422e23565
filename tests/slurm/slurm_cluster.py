"""A real Slurm of several nodes on this machine, for one test.

munged, slurmctld and one slurmd per node run in new namespaces (processes,
network, host name, mounts). So the kernel ends all of them however the test
ends, and they affect no port, file or process of the machine.
"""

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time

_INSIDE = 'MUSTER_SLURM_TEST_INSIDE'
_PROGRAMS = ('munged', 'slurmctld', 'slurmd', 'srun', 'sbatch', 'scontrol')
_HOST = 'slurm-test'
_PAUSE = threading.Event()  # never set
_START_LIMIT_S = 30
_SHORT_S = 60
_ENDED = ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT', 'NODE_FAIL',
          'PREEMPTED')


class CannotStart(Exception):
  """Slurm cannot be started on this machine; the message contains the reason.
  """


def enter_namespaces():
  """Runs this program again in new namespaces and exits with its status.

  Returns in the new namespaces. Raises CannotStart if they cannot be created.
  """
  if _INSIDE in os.environ:
    del os.environ[_INSIDE]
    return
  path = os.environ.get('PATH', '') + ':/usr/sbin:/sbin'
  missing = [name for name in _PROGRAMS if not shutil.which(name, path=path)]
  if missing:
    raise CannotStart('not installed: ' + ', '.join(missing))
  if os.geteuid() != 0:
    raise CannotStart('slurmd needs root')
  unshare = ['unshare', '--pid', '--mount', '--net', '--uts', '--ipc', '--fork',
             '--kill-child', '--mount-proc']
  tried = subprocess.run([*unshare, 'true'], stderr=subprocess.PIPE, text=True,
                         check=False)
  if tried.returncode != 0:
    raise CannotStart('no namespaces here: ' + tried.stderr.strip())
  os.environ.update({_INSIDE: '1', 'PATH': path})
  os.execvp('unshare', [*unshare, sys.executable, *sys.argv])


def poll(condition, what, limit_s=_SHORT_S):
  """Waits until `condition()` returns a true value, and returns that value.

  Args:
    what: text for the error message that names the awaited event, or a function
    that returns this text.
  """
  deadline = time.monotonic() + limit_s
  while True:
    value = condition()
    if value:
      return value
    if time.monotonic() > deadline:
      raise AssertionError(f'not within {limit_s} s: '
                           f'{what() if callable(what) else what}')
    _PAUSE.wait(0.02)


def _contents(path):
  try:
    with open(path, 'rb') as file:
      return file.read()
  except OSError:
    return b''  # the process has ended


def processes_of(job_id):
  """The pids of the job's processes, including Slurm's own."""
  wanted = f'SLURM_JOB_ID={job_id}'.encode()
  title = f'slurmstepd: [{job_id}.'.encode()
  return [int(pid) for pid in filter(str.isdigit, os.listdir('/proc'))
          if wanted in _contents(f'/proc/{pid}/environ').split(b'\0')
          or _contents(f'/proc/{pid}/cmdline').startswith(title)]


def _set_up_loopback(count):
  """Sets up the loopback device with an address for each node."""
  with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    def request(code, name, payload):
      fcntl.ioctl(s, code, struct.pack('16s24s', name.encode(), payload))

    up = struct.pack('h', 0x1 | 0x40)  # IFF_UP | IFF_RUNNING
    request(0x8914, 'lo', up)  # SIOCSIFFLAGS
    for number in range(1, count + 1):
      address = struct.pack('HH4s', socket.AF_INET, 0,
                            socket.inet_aton(f'10.77.0.{number}'))
      request(0x8916, f'lo:{number}', address)  # SIOCSIFADDR


class Job:
  """A batch job and its output."""

  def __init__(self, cluster, job_id, output):
    self.cluster = cluster
    self.id = job_id
    self.path = output

  def output(self):
    try:
      with open(self.path, encoding='utf-8', errors='replace') as file:
        return file.read()
    except FileNotFoundError:
      return ''

  def facts(self):
    """The fields of `scontrol show job`, as a dictionary."""
    text = self.cluster.run('scontrol', '-o', 'show', 'job', self.id)
    return dict(word.split('=', 1) for word in text.split() if '=' in word)

  def state(self):
    return self.facts().get('JobState', '')

  def wait_for(self, text, count=1, limit_s=_SHORT_S):
    """Waits until `text` has been printed `times` times, in whole lines."""
    poll(lambda: self.output().rpartition('\n')[0].count(text) >= count,
         lambda: f'{count} x {text!r} of job {self.id}; it printed:\n'
         f'{self.output()}', limit_s)

  def wait(self, limit_s=_SHORT_S):
    """Waits until the job has ended. Returns (state, exit code)."""
    def ended():
      facts = self.facts()
      return facts if facts.get('JobState') in _ENDED else None
    facts = poll(ended, lambda: f'end of job {self.id} ({self.state()}), '
                 f'which printed:\n'
                 f'{self.output()}', limit_s)
    return facts['JobState'], int(facts['ExitCode'].split(':')[0])


class SlurmCluster:
  """A Slurm cluster that runs in `folder`; stop() ends it.

  Args:
    folder: an existing folder that nothing else uses. nodes: number of nodes,
    which are named n1, n2, ... gpus: number of fake GPUs (/dev/null) of each
    node.
  """

  def __init__(self, folder, nodes=4, gpus=(0, 0, 0, 0)):
    self.folder = folder
    self.names = [f'n{number}' for number in range(1, nodes + 1)]
    self._children = []
    self._environment = {
        'PATH': os.environ['PATH'], 'HOME': folder, 'LANG': 'C.UTF-8',
        'SLURM_CONF': self._path('slurm.conf'), 'TMPDIR': folder}
    try:
      self._start(gpus)
    except BaseException:
      self.stop()
      raise

  def _path(self, name):
    return os.path.join(self.folder, name)

  def _write(self, name, text):
    with open(self._path(name), 'w', encoding='utf-8') as file:
      file.write(text)

  def _start(self, gpus):
    os.chmod(self.folder, 0o755)
    socket.sethostname(_HOST)
    _set_up_loopback(len(self.names))
    self._write('hosts', f'127.0.0.1 localhost {_HOST}\n' + ''.join(
        f'10.77.0.{i} {name}\n' for i, name in enumerate(self.names, 1)))
    subprocess.run(['mount', '--bind', self._path('hosts'), '/etc/hosts'],
                   check=True)
    with open(self._path('munge.key'), 'wb') as file:
      os.chmod(self._path('munge.key'), 0o600)
      file.write(os.urandom(128))
    self._daemon('munged', '--foreground', '--force', '--num-threads=2',
                 '--key-file=' + self._path('munge.key'),
                 '--socket=' + self._path('munge.socket'),
                 '--pid-file=' + self._path('munged.pid'),
                 '--log-file=' + self._path('munged.log'),
                 '--seed-file=' + self._path('munge.seed'))
    poll(lambda: os.path.exists(self._path('munge.socket')), 'munged')
    self._configure(gpus)
    self._daemon('slurmctld', '-D', '-c')
    for name in self.names:
      self._daemon('slurmd', '-D', '-N', name)
    poll(self._all_idle, lambda: 'all nodes idle; slurmctld says:\n'
         + self._tail('slurmctld.out'), _START_LIMIT_S)

  def _tail(self, name):
    with open(self._path(name), encoding='utf-8', errors='replace') as file:
      return ''.join(file.readlines()[-20:])

  def _all_idle(self):
    text = subprocess.run(['sinfo', '-h', '-o', '%t %D'],
                          env=self._environment, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    return text.stdout.split() == ['idle', str(len(self.names))]

  def _configure(self, gpus):
    os.mkdir(self._path('state'))
    lines = []
    gres = []
    for i, name in enumerate(self.names, 1):
      has = gpus[i - 1]
      lines.append(f'NodeName={name} NodeHostname={_HOST} '
                   f'NodeAddr=10.77.0.{i} Port={17000 + i} CPUs=8 '
                   f'RealMemory=2000' + (f' Gres=gpu:{has}' if has else ''))
      if has:
        for number in range(has):
          self._write(f'gpu{number}', '')
        gres.append(f'NodeName={name} Name=gpu '
                    f'File={self._path("gpu")}[0-{has - 1}]')
    self._write('slurm.conf', '\n'.join([
        'ClusterName=test',
        f'SlurmctldHost={_HOST}(127.0.0.1)',
        'SlurmUser=root',
        'SlurmdUser=root',
        'AuthInfo=socket=' + self._path('munge.socket'),
        'StateSaveLocation=' + self._path('state'),
        'SlurmdSpoolDir=' + self._path('spool.%n'),
        'SlurmdPidFile=' + self._path('slurmd.%n.pid'),
        'SlurmctldPidFile=' + self._path('slurmctld.pid'),
        'SlurmdLogFile=' + self._path('slurmd.%n.log'),
        'SlurmctldLogFile=' + self._path('slurmctld.log'),
        'ProctrackType=proctrack/linuxproc',
        'TaskPlugin=task/none',
        'JobAcctGatherType=jobacct_gather/none',
        'SelectType=select/cons_tres',
        'SelectTypeParameters=CR_CPU',
        'GresTypes=gpu',
        'TopologyPlugin=topology/tree',
        'SlurmdParameters=config_overrides',
        'SlurmctldParameters=preempt_send_user_signal',
        'PreemptType=preempt/partition_prio',
        'PreemptMode=REQUEUE',
        'ReturnToService=2',
        'KillWait=3',
        'InactiveLimit=0',
        'MpiDefault=none',
        # Let the backfill scheduler run often, because only it starts
        # heterogeneous jobs.
        'SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,'
        'bf_interval=1,sched_interval=1',
        'AccountingStorageType=accounting_storage/none',
        *lines,
        'PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP '
        'PriorityTier=1 OverSubscribe=NO GraceTime=10',
        'PartitionName=urgent Nodes=ALL MaxTime=60 State=UP PriorityTier=2 '
        'PreemptMode=OFF',
        '']))
    self._write('gres.conf', '\n'.join(gres) + '\n')
    # Nodes with adjacent names are on different switches, so that sorting the
    # nodes by name does not sort them by switch.
    self._write('topology.conf', '\n'.join([
        'SwitchName=leaf1 Nodes=' + ','.join(self.names[0::2]),
        'SwitchName=leaf2 Nodes=' + ','.join(self.names[1::2]),
        'SwitchName=top Switches=leaf[1-2]', '']))
    self._write('cgroup.conf', 'CgroupPlugin=cgroup/v1\n')

  def _daemon(self, *command):
    log = open(self._path(os.path.basename(command[0]) + '.out'), 'ab')
    with log:
      child = subprocess.Popen(command, env=self._environment, stdout=log,
                               stderr=log, stdin=subprocess.DEVNULL)
    self._children.append(child)
    return child

  def run(self, *command, check=True, **options):
    """Runs a command. Returns its output (stdout and stderr)."""
    done = subprocess.run(command, env={**self._environment,
                                        **options.pop('env', {})},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=60, check=False, cwd=self.folder,
                          **options)
    if check and done.returncode != 0:
      raise AssertionError(f'{command}: {done.returncode}: {done.stdout}')
    return done.stdout

  def sbatch(self, script, *flags):
    """Submits a batch script, given as text without the #! line. For arrays use
    sbatch_array."""
    output = self._path('out-%j')
    job_id = self._submit(script, output, flags)
    return Job(self, job_id, output.replace('%j', job_id))

  def sbatch_array(self, script, tasks, *flags):
    """Submits an array of tasks 1 to `tasks`. Returns one Job for each task."""
    output = self._path('out-%A-%a')
    job_id = self._submit(script, output, (f'--array=1-{tasks}', *flags))
    return [Job(self, f'{job_id}_{task}',
                output.replace('%A', job_id).replace('%a', str(task)))
            for task in range(1, tasks + 1)]

  def _submit(self, script, output, flags):
    answer = self.run('sbatch', '--parsable', '--output=' + output, *flags,
                      input='#!/bin/bash\n' + script)
    return answer.split()[-1].split(';')[0]

  def start_now(self, job):
    """Starts a requeued job, which would otherwise wait for two minutes.

    The job starts two seconds from now: nodes refuse a job that starts again
    within the second in which its old credential was revoked.
    """
    # Slurm gives each task of an array, such as "5_1", a job number of its own.
    # The task's processes can be found by this number.
    number = job.facts()['JobId']
    poll(lambda: job.state() == 'PENDING' and not processes_of(number),
         lambda: f'the requeued job {job.id}; its processes: '
         f'{processes_of(number)}, its facts: {job.facts()}; it printed:\n'
         f'{job.output()}\nslurmctld says:\n' + self._tail('slurmctld.log'))
    self.run('scontrol', 'update', 'jobid=' + job.id, 'starttime=now+2')

  def bring_up(self, node):
    """Puts a node that was marked down back into service."""
    self.run('scontrol', 'update', 'nodename=' + node, 'state=idle',
             check=False)  # the node may already be in service again
    poll(lambda: self.run('sinfo', '-h', '-p', 'main', '-n', node, '-o',
                          '%t').strip() in ('idle', 'mix'), node)

  def stop(self):
    for child in reversed(self._children):
      child.kill()
    for child in self._children:
      child.wait()
    self._children = []
