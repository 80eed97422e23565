#!/usr/bin/python3
"""Tests launch and launch --slurm in batch jobs of a real Slurm with four
nodes."""

import glob
import os
import random
import re
import signal
import socket
import sys
import tempfile
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import gate
import slurm_cluster
import xml_main

_LAUNCH = os.path.abspath('launcher/launch')
_EXPAND = os.path.abspath('tests/slurm/expand_hosts')
_WORKER = os.path.join(_HERE, 'worker.sh')
_SCRIPTS = os.path.join(_HERE, os.pardir, os.pardir, 'deploy', 'slurm')
_SRUN = f'srun --ntasks-per-node=1 --kill-on-bad-exit=0 {_LAUNCH}'
# The scripts in deploy/slurm call `launch` by name, so its folder must be in
# PATH.
_PATH = os.path.dirname(_LAUNCH) + ':' + os.environ['PATH']
# A worker that trains until it is preempted; in the job's next run it trains to
# the end.
_TRAIN = r"""
import os, signal, sys
def say(word):
  sys.stdout.write(f"{word} rank={os.environ['RANK']} "
                   f"run={os.environ['MUSTER_RUN_ID']} .\n")
  sys.stdout.flush()
def save(*_):
  say("saved")
  sys.exit(0)
signal.signal(signal.SIGTERM, save)
say("up")
while "SLURM_RESTART_COUNT" not in os.environ:
  signal.pause()
"""
# Numbers of GPUs of the nodes n1 to n4. The nodes n1 and n3 are on one switch,
# n2 and n4 on another one.
_GPUS = (2, 2, 4, 1)

_why_not = ''  # reason why Slurm cannot run on this machine


def setUpModule():
  if _why_not:
    raise unittest.SkipTest(_why_not)


def workers(job):
  """Returns the reports of the job's workers as dictionaries, ordered by rank.
  """
  found = [dict(word.split('=', 1) for word in line.split()
                if '=' in word)
           for line in re.findall(r'up (rank=.*) \.', job.output())]
  return sorted(found, key=lambda worker: int(worker['rank']))


def script_text(name):
  """Returns the text of a script in deploy/slurm, without the #! line."""
  with open(os.path.join(_SCRIPTS, name + '.sbatch'),
            encoding='utf-8') as file:
    return file.read().split('\n', 1)[1]


def of_rounds(job):
  """Returns the lines that the job's nodes print about waiting and rounds,
  without the workers' lines."""
  return re.findall(r'^launch: (waiting: .*|round \d+.*)$', job.output(),
                    re.MULTILINE)


def ranks_that_caught(signal, job):
  """Returns the ranks that caught a signal. Slurm sends signals to the workers
  as well as to their agent."""
  return set(re.findall(rf'caught {signal} rank=(\d+) \.', job.output()))


class SlurmTest(unittest.TestCase):

  @classmethod
  def setUpClass(cls):
    folder = tempfile.TemporaryDirectory(dir='/tmp')
    cls.addClassCleanup(folder.cleanup)
    cls.folder = folder.name
    cls.slurm = slurm_cluster.SlurmCluster(folder.name, gpus=_GPUS)
    cls.addClassCleanup(cls.slurm.stop)
    # Start the job `timed` before all tests, so that it approaches its time
    # limit while they run: Slurm checks time limits only every 30 s. The job's
    # --on-preempt command writes to the file `told`.
    cls.told = os.path.join(folder.name, 'told')
    cls.timed = cls.slurm.sbatch(
        f"exec {_LAUNCH} --slurm --on-preempt='echo $MUSTER_PREEMPTION_SIGNAL "
        f">> {cls.told}' {_WORKER} catch\n",
        '--nodes=2', '--nodelist=n[1,4]', '--time=1', '--signal=B:USR1@60')

  def succeeded(self, job):
    self.assertEqual(job.wait(), ('COMPLETED', 0), job.output())

  def test_jobs_of_one_two_and_four_nodes(self):
    for nodes in (1, 2, 4):
      for command in (_SRUN, f'{_LAUNCH} --slurm'):
        with self.subTest(nodes=nodes, command=command):
          job = self.slurm.sbatch(f'{command} --nproc-per-node=2 {_WORKER}\n',
                                  f'--nodes={nodes}')
          self.succeeded(job)
          said = workers(job)
          self.assertEqual(len(said), 2 * nodes)
          self.assertEqual({w['of'] for w in said}, {str(2 * nodes)})
          self.assertEqual({w['run'] for w in said}, {job.id + '.0'})
          self.assertEqual(len({w['node'] for w in said}), nodes)
          # Agents may try to connect before the coordinator listens. They must
          # print no message about these attempts.
          self.assertNotIn('no coordinator at', job.output())
          if nodes > 1:
            self.assertEqual({w['at'] for w in said},
                             {f'n1:{port_of(int(job.id), 0)}'})

  def test_neighbours_on_a_switch_have_neighbouring_ranks(self):
    job = self.slurm.sbatch(f'{_SRUN} {_WORKER}\n', '--nodes=4')
    self.succeeded(job)
    self.assertEqual([w['node'] for w in workers(job)],
                     ['n1', 'n3', 'n2', 'n4'])

  def test_each_node_has_as_many_workers_as_gpus(self):
    # Slurm must divide five GPUs between n2, which has two, and n3, which has
    # four. So the nodes get different numbers of GPUs.
    job = self.slurm.sbatch(f'{_SRUN} {_WORKER}\n', '--nodes=2',
                            '--nodelist=n[2-3]', '--exclusive', '--gpus=5')
    self.succeeded(job)
    nodes = [w['node'] for w in workers(job)]
    self.assertEqual(len(nodes), 5)
    self.assertIn((nodes.count('n2'), nodes.count('n3')), [(1, 4), (2, 3)])

  def test_a_heterogeneous_job(self):
    # Task 0 of this job runs on n3, so n3 must host the coordinator. The step's
    # node list does not show this: it is sorted, and its first node is n1.
    parts = ('--nodelist=n3', '--gpus-per-node=1', ':', '--nodelist=n[1-2]',
             '--gpus-per-node=2')
    for command in (_SRUN.replace('srun', 'srun --het-group=0,1'),
                    f'{_LAUNCH} --slurm'):
      with self.subTest(command=command):
        job = self.slurm.sbatch(f'{command} {_WORKER}\n', *parts)
        self.succeeded(job)
        said = workers(job)
        self.assertEqual(sorted(w['node'] for w in said),
                         ['n1', 'n1', 'n2', 'n2', 'n3'])
        self.assertEqual({w['at'].split(':')[0] for w in said}, {'n3'})

  def test_a_script_for_a_task_a_worker(self):
    """The tasks share a node's GPUs; launch --slurm gives all of them to one
    agent."""
    job = self.slurm.sbatch(
        f'{_LAUNCH} --slurm {_WORKER}; {_SRUN[:4]} {_LAUNCH} true\n',
        '--nodes=2', '--nodelist=n[1-2]', '--ntasks-per-node=2',
        '--gpus-per-task=1')
    self.assertEqual(job.wait(), ('FAILED', 2))
    self.assertEqual([w['node'] for w in workers(job)],
                     ['n1', 'n1', 'n2', 'n2'])
    self.assertIn('SLURM_STEP_TASKS_PER_NODE=2(x2)', job.output())
    self.assertIn('write srun --ntasks-per-node=1', job.output())

  def test_a_step_narrower_than_its_job_and_two_at_once(self):
    go = gate.Gate(os.path.join(self.folder, 'go-steps'))
    job = self.slurm.sbatch(
        f'srun --exact --nodes=2 --ntasks=2 --nodelist=n[3-4] {_LAUNCH} '
        f'--nproc-per-node=1 {_WORKER} until {go.path} &\n'
        f'srun --exact --nodes=2 --ntasks=2 --nodelist=n[3-4] {_LAUNCH} '
        f'--nproc-per-node=1 {_WORKER} until {go.path} &\nwait\n',
        '--nodes=4', '--ntasks-per-node=2')
    job.wait_for('up rank', 4)
    go.open()
    self.succeeded(job)
    said = workers(job)
    self.assertEqual({w['run'] for w in said},
                     {job.id + '.0', job.id + '.1'})
    number = int(job.id)
    self.assertEqual({w['at'] for w in said},
                     {f'n3:{port_of(number, 0)}', f'n3:{port_of(number, 1)}'})
    self.assertEqual({w['of'] for w in said}, {'2'})

  def test_arrays_on_the_same_nodes_do_not_collide(self):
    go = gate.Gate(os.path.join(self.folder, 'go-array'))
    jobs = self.slurm.sbatch_array(f'{_SRUN} {_WORKER} until {go.path}\n', 4,
                                   '--nodes=2', '--nodelist=n[1-2]')
    for job in jobs:
      job.wait_for('up rank', 2)
    go.open()
    for job in jobs:
      self.succeeded(job)
      self.assertEqual({w['run'] for w in workers(job)}, {job.id + '.0'})
    self.assertEqual(len({w['at'] for job in jobs for w in workers(job)}), 4)

  def test_the_exit_code_is_the_jobs(self):
    for command in (_SRUN, f'{_LAUNCH} --slurm'):
      with self.subTest(command=command):
        job = self.slurm.sbatch(f'{command} {_WORKER} exit 7\n', '--nodes=2')
        self.assertEqual(job.wait(), ('FAILED', 7), job.output())

  def test_an_elastic_job_goes_on_without_a_node_that_is_down(self):
    flags = ('--nnodes=2:3 --rdzv-conf=last_call_timeout=60,'
             'keep_alive_interval=1,keep_alive_max_attempt=5')
    for command, code in ((_SRUN.replace('srun', 'srun --no-kill --wait=0'),
                           None), (f'{_LAUNCH} --slurm', '0')):
      with self.subTest(command=command):
        go = gate.Gate(os.path.join(self.folder, f'go-elastic-{code}'))
        job = self.slurm.sbatch(
            f'{command} {flags} --nproc-per-node=1 '
            f'{_WORKER} round 2 {go.path}\n'
            'echo "code=$? ."\n', '--nodes=3', '--nodelist=n[1-3]', '--no-kill')
        job.wait_for('up rank', 3)
        lost = workers(job)[2]['node']
        self.slurm.run('scontrol', 'update', 'nodename=' + lost, 'state=down',
                       'reason=test')
        # Let the Slurm step end only after both workers of round 2 have
        # printed: after the loss of a node, a race in srun may lose the last
        # output of the Slurm step.
        job.wait_for('up rank', 5)
        go.open()
        self.succeeded(job)
        self.assertEqual(
            {w['node'] for w in workers(job) if w['round'] == '2'},
            {w['node'] for w in workers(job) if w['node'] != lost},
            job.output())
        # The verdict must be printed once, even if the lost node is the one
        # that prints the job's messages.
        self.assertEqual(job.output().count('SUCCEEDED'), 1, job.output())
        said = of_rounds(job)
        self.assertEqual(len(said), len(set(said)), job.output())
        self.assertEqual(
            [re.sub(r'\(.*\)', '(...)', line) for line in said
             if not line.startswith('waiting')],
            ['round 1: 3 nodes, 3 workers',
             'round 1 is broken (...); stopping the workers',
             'round 2: 2 nodes, 2 workers'], job.output())
        # `launch --slurm` must exit with 0 (`code`), although a node was lost.
        # `code` is None for plain srun: its exit code is not checked, because
        # srun counts the lost node as failed.
        if code:
          self.assertIn(f'code={code} .', job.output())
        self.slurm.bring_up(lost)

  def test_a_job_of_a_fixed_size_ends_soon_without_a_node(self):
    job = self.slurm.sbatch(
        f'exec {_LAUNCH} --slurm --rdzv-conf=rejoin_timeout=1 '
        f'--nproc-per-node=1 {_WORKER} forever\n',
        '--nodes=2', '--nodelist=n[1-2]', '--no-kill')
    job.wait_for('up rank', 2)
    self.slurm.run('scontrol', 'update', 'nodename=n2', 'state=down',
                   'reason=test')
    self.assertEqual(job.wait(), ('FAILED', 1), job.output())
    self.assertIn('only 1 of at least 2 nodes is left', job.output())
    self.assertIn('slurm-test (node n2), node rank 1', job.output())
    self.slurm.bring_up('n2')

  def test_status_finds_the_jobs_launch(self):
    go = gate.Gate(os.path.join(self.folder, 'go-st'))
    ask = os.path.join(self.folder, 'ask')
    os.mkfifo(ask)
    # The first step of this job does not run `launch`, so `launch status` must
    # find the second step.
    job = self.slurm.sbatch(
        'srun --nodes=1 --ntasks=1 true\n'
        f'{_SRUN} --nproc-per-node=1 {_WORKER} until {go.path} &\n'
        f'read -r _ <{ask}\n{_LAUNCH} status\nwait\n',
        '--nodes=2')
    job.wait_for('up rank', 2)
    shown = [self.slurm.run(_LAUNCH, 'status', '--slurm-job', job.id),
             self.slurm.run('srun', '--jobid=' + job.id, '--overlap',
                            '--nodes=1', '--ntasks=1', _LAUNCH, 'status')]
    with open(ask, 'wb'):
      pass
    said = f'job {job.id}.1: '
    job.wait_for(said)
    go.open()
    self.succeeded(job)
    for text in shown:
      self.assertIn(said, text)
    gone = self.slurm.run(_LAUNCH, 'status', '--slurm-job', job.id, check=False)
    self.assertIn(job.id, gone)

  def test_launch_slurm_makes_a_token_that_its_user_finds(self):
    go = gate.Gate(os.path.join(self.folder, 'go-token'))
    job = self.slurm.sbatch(
        f'exec {_LAUNCH} --slurm --nproc-per-node=1 '
        f'{_WORKER} until {go.path}\n',
        '--nodes=2')
    job.wait_for('up rank', 2)
    # This machine and the nodes keep secret tokens in different folders, so
    # `launch status` does not find the job's token here. It must ask the
    # coordinator through a job step on the coordinator's host.
    shown = self.slurm.run(_LAUNCH, 'status', '--slurm-job', job.id,
                           env={'MUSTER_TOKEN': ''})
    self.assertTrue(glob.glob('/dev/shm/muster_*/tokens/*'))
    refused = self.slurm.run(_LAUNCH, 'status', '--slurm-job', job.id,
                             env={'MUSTER_TOKEN': 'another-' * 4},
                             check=False)
    go.open()
    self.succeeded(job)
    self.assertIn(f'job {job.id}.0: ', shown)
    self.assertIn('has another token', refused)
    self.assertNotIn('is open', job.output())

  def test_a_job_put_back_into_its_queue(self):
    job = self.slurm.sbatch(f'{_SRUN} {_WORKER} restarted\n', '--nodes=2')
    job.wait_for('up rank', 2)
    self.assertEqual({w['run'] for w in workers(job)}, {job.id + '.0'})
    self.slurm.run('scontrol', 'requeue', job.id)
    self.slurm.start_now(job)
    self.succeeded(job)
    self.assertEqual({w['run'] for w in workers(job)}, {job.id + '.0-r1'})

  def test_with_its_state_a_killed_step_goes_on_in_the_next(self):
    state = os.path.join(self.folder, 'state')
    go = gate.Gate(os.path.join(self.folder, 'go-on'))
    command = (f'{_LAUNCH} --slurm --state-dir={state} --max-restarts=1 '
               f'{_WORKER} round 2 {go.path}')
    job = self.slurm.sbatch(f'{command}\n{command}\n', '--nodes=2')
    job.wait_for('up rank', 2)
    self.slurm.run('scancel', '--signal=KILL', f'{job.id}.0')
    job.wait_for('round=2', 2)
    go.open()
    self.succeeded(job)
    self.assertIn(f'goes on with job {job.id} of {state}: round 1',
                  job.output())
    self.assertEqual({w['run'] for w in workers(job)}, {job.id})
    self.assertEqual({w['round'] for w in workers(job)}, {'1', '2'})

  def kill_worker(self, job, round_number):
    """Kills a worker of a job of three nodes, once all run in this round."""
    job.wait_for(f'round={round_number} ', 3)
    os.kill(int(next(worker['pid'] for worker in workers(job)
                     if worker['round'] == str(round_number))),
            signal.SIGKILL)

  def test_with_its_state_a_requeued_job_keeps_its_rounds_and_budget(self):
    state = os.path.join(self.folder, 'state-requeue')
    # The batch script still runs after the step has ended, so that Slurm can
    # requeue the job.
    job = self.slurm.sbatch(
        f'{_LAUNCH} --slurm --state-dir={state} --max-restarts=1 '
        f'{_WORKER} forever\n'
        'code=$?; [ -n "$SLURM_RESTART_COUNT" ] || exec tail -f /dev/null\n'
        'exit $code\n',
        '--nodes=3', '--requeue', '--open-mode=append')
    self.kill_worker(job, 1)
    job.wait_for('round=2 ', 3)
    # End all processes of the step at once, as a failure of its nodes does.
    self.slurm.run('scancel', '--signal=KILL', f'{job.id}.0')
    self.slurm.run('scontrol', 'requeue', job.id)
    self.slurm.start_now(job)
    job.wait_for('round=3 ', 3)
    # `scontrol requeue` alone sends SIGTERM, which is a preemption.
    self.slurm.run('scontrol', 'requeue', job.id)
    self.slurm.start_now(job)
    self.kill_worker(job, 4)
    self.assertEqual(job.wait(), ('FAILED', 137), job.output())
    for last in (2, 3):
      self.assertIn(f'goes on with job {job.id} of {state}: round {last}',
                    job.output())
    self.assertIn('PREEMPTED', job.output())
    self.assertIn('4 rounds, 1 of 1 restart used', job.output())
    self.assertEqual({w['run'] for w in workers(job)}, {job.id})

  def caught_by_both(self, job, code=75):
    self.assertEqual(job.wait(60), ('FAILED', code), job.output())
    self.assertEqual(ranks_that_caught('TERM', job), {'0', '1'}, job.output())
    self.assertIn('PREEMPTED', job.output())

  def test_a_notice_by_the_jobs_signal_before_its_time_is_over(self):
    self.caught_by_both(self.timed)
    with open(self.told, encoding='utf-8') as file:
      self.assertEqual(file.read().split(), ['SIGUSR1', 'SIGUSR1'],
                       self.timed.output())

  def test_a_notice_to_the_steps(self):
    job = self.slurm.sbatch(f'{_SRUN} {_WORKER} catch\n', '--nodes=2')
    job.wait_for('ready rank', 2)
    self.slurm.run('scancel', '--signal=USR1', job.id)
    self.caught_by_both(job)

  def test_a_notice_to_the_batch_script(self):
    # A script that runs srun gets SIGUSR1 instead of SIGTERM, because at
    # SIGTERM srun would kill its tasks.
    for command, number in ((f'exec {_LAUNCH} --slurm', 'TERM'),
                            (f'exec {_SRUN}', 'USR1')):
      with self.subTest(command=command):
        job = self.slurm.sbatch(f'{command} {_WORKER} catch\n', '--nodes=2')
        job.wait_for('ready rank', 2)
        self.slurm.run('scancel', '--batch', '--signal=' + number, job.id)
        self.caught_by_both(job)

  def test_a_preempted_job_runs_again(self):
    job = self.slurm.sbatch(
        f'{_SRUN} --requeue {_WORKER} preempted\n', '--nodes=2',
        '--nodelist=n[2-3]', '--open-mode=append')
    job.wait_for('ready rank', 2)
    # Send SIGCONT alone, as Slurm does when it resumes a job. This is not the
    # notice of a preemption, for which Slurm sends SIGCONT and then SIGTERM.
    self.slurm.run('scancel', '--signal=CONT', job.id)
    urgent = self.slurm.sbatch('true\n', '--partition=urgent', '--exclusive',
                               '--nodes=2', '--nodelist=n[2-3]')
    job.wait_for('caught TERM rank=0')
    job.wait_for('caught TERM rank=1')
    self.slurm.start_now(job)
    self.succeeded(urgent)
    self.succeeded(job)
    self.assertEqual(re.findall(r'SIG\w+ at .*being preempted', job.output()),
                     ['SIGTERM at slurm-test: the job is being preempted'])
    self.assertEqual({w['run'] for w in workers(job)},
                     {job.id + '.0', job.id + '.0-r1'})

  def test_the_script_for_preemption_and_an_arrays_task_run_again(self):
    """Tests both scripts at the same time, since both wait for Slurm."""
    folder = os.path.join(self.folder, 'preempted')
    os.mkdir(folder)
    with open(os.path.join(folder, 'train.py'), 'w', encoding='utf-8') as file:
      file.write(_TRAIN)
    whole = self.slurm.sbatch(
        # --oversubscribe: this job may share its nodes with the array of jobs
        # below, which runs at the same time.
        script_text('preempt_requeue'), '--gpus-per-node=1', '--oversubscribe',
        f'--export=ALL,PATH={_PATH}', '--chdir=' + folder)
    go = gate.Gate(os.path.join(folder, 'go'))
    task, sibling = self.slurm.sbatch_array(
        f'test $SLURM_ARRAY_TASK_ID = 1 || exec {_LAUNCH} --slurm --requeue '
        f'{_WORKER} until {go.path}\n'
        f'exec {_LAUNCH} --slurm --requeue {_WORKER} preempted\n', 2,
        '--nodes=2', '--nodelist=n[1-2]', '--requeue', '--open-mode=append')
    whole.wait_for('up rank', 4)
    task.wait_for('ready rank', 2)
    sibling.wait_for('up rank', 2)
    for job in (whole, task):
      # Send the signal that #SBATCH --signal=B:USR1@120 would send.
      self.slurm.run('scancel', '--batch', '--signal=USR1', job.id)
    for job in (whole, task):
      self.slurm.start_now(job)
    for job, ranks in ((whole, 4), (task, 2)):
      self.succeeded(job)
      self.assertEqual([w['run'] for w in workers(job)],
                       [job.id + '.0', job.id + '.0-r1'] * ranks,
                       job.output())
      self.assertEqual(job.output().count('putting the job back'), 1)
      self.assertEqual(job.output().count('being preempted'), 1)
      self.assertEqual(job.output().count('PREEMPTED'), 1)
      self.assertEqual(job.output().count('SUCCEEDED'), 1)
    self.assertEqual(whole.output().count('saved rank'), 4, whole.output())
    self.assertEqual(ranks_that_caught('TERM', task), {'0', '1'})
    go.open()
    self.succeeded(sibling)
    self.assertEqual([w['run'] for w in workers(sibling)],
                     [sibling.id + '.0'] * 2)
    self.assertNotIn('PREEMPTED', sibling.output())

  def test_a_cancelled_job_is_not_put_back(self):
    job = self.slurm.sbatch(f'{_SRUN} --requeue {_WORKER} catch\n',
                            '--nodes=2')
    job.wait_for('ready rank', 2)
    self.slurm.run('scancel', job.id)
    job.wait_for('not put back into its queue')
    self.assertEqual(job.wait()[0], 'CANCELLED')

  def test_nothing_is_left_of_a_cancelled_job(self):
    for command in (_SRUN, f'{_LAUNCH} --slurm', f'exec {_LAUNCH} --slurm'):
      with self.subTest(command=command):
        job = self.slurm.sbatch(f'{command} {_WORKER} deaf\n', '--nodes=2')
        job.wait_for('up rank', 2)
        job.wait_for('litter .', 2)
        self.assertGreater(len(slurm_cluster.processes_of(job.id)), 4)
        self.slurm.run('scancel', job.id)
        self.assertEqual(job.wait()[0], 'CANCELLED')
        slurm_cluster.poll(
            lambda: not slurm_cluster.processes_of(job.id),
            lambda: f'left: {slurm_cluster.processes_of(job.id)}')
        # Slurm itself signals the job's steps, so `launch` must not print that
        # it did not reach them.
        self.assertNotIn('did not reach', job.output())

  def test_ctrl_c_at_launch_slurm_stops_with_grace(self):
    job = self.slurm.sbatch(f'exec {_LAUNCH} --slurm {_WORKER} catch\n',
                            '--nodes=2')
    job.wait_for('ready rank', 2)
    self.slurm.run('scancel', '--batch', '--signal=INT', job.id)
    self.assertEqual(job.wait(), ('FAILED', 130))
    self.assertEqual(ranks_that_caught('INT', job), {'0', '1'}, job.output())

  def test_a_port_in_use_is_named_and_nobody_meets_a_stranger(self):
    probe = self.slurm.sbatch('true\n')
    self.succeeded(probe)
    number = int(probe.id) + 1
    with socket.create_server(('', port_of(number, 0))):
      job = self.slurm.sbatch(
          f'{_SRUN} --connect-timeout=2 {_WORKER}\n', '--nodes=2')
      self.assertEqual(job.id, str(number))
      self.assertEqual(job.wait()[0], 'FAILED')
    self.assertIn(str(port_of(number, 0)), job.output())
    self.assertIn('in use', job.output())
    self.assertEqual(workers(job), [])

  def test_where_a_node_is_none(self):
    job = self.slurm.sbatch(
        f'{_LAUNCH} {_WORKER}; {_LAUNCH} --nnodes=1 {_WORKER}\n', '--nodes=2')
    self.succeeded(job)
    self.assertIn('batch script of a job of 2 nodes', job.output())
    self.assertEqual([w['run'] for w in workers(job)], [job.id])
    shell = self.slurm.run('salloc', '--nodes=2', 'sh', '-c',
                           f'{_LAUNCH} true; echo "code=$? ."; '
                           f'{_LAUNCH} --slurm {_WORKER}')
    self.assertIn('need not be on one', shell)
    self.assertIn('code=2 .', shell)
    self.assertEqual(shell.count('] up rank='), 2)

  def test_the_job_scripts_run(self):
    with open(os.path.join(self.folder, 'train.py'), 'w',
              encoding='utf-8') as file:
      file.write('import os\nprint("trained", os.environ["WORLD_SIZE"], ".")\n')
    # Run each script with one GPU per node, instead of the number of GPUs that
    # it requests. `ranks`: the world size that the workers of the script must
    # print.
    for name, ranks in (('single_node', 1), ('many_nodes', 4), ('elastic', 4),
                        ('array', 2), ('requeue_state', 4)):
      with self.subTest(name=name):
        script = script_text(name)
        flags = ('--gpus-per-node=1', f'--export=ALL,PATH={_PATH}')
        jobs = (self.slurm.sbatch_array(script, 2, *flags) if name == 'array'
                else [self.slurm.sbatch(script, *flags)])
        for job in jobs:
          self.succeeded(job)
          self.assertEqual(job.output().count(f'trained {ranks} .'), ranks)

  def test_host_lists_are_expanded_as_by_scontrol(self):
    draw = random.Random(1)
    lists = [random_list(draw) for _ in range(150)]
    ours = self.slurm.run(_EXPAND, input='\n'.join(lists) + '\n').splitlines()
    theirs = self.slurm.run(
        'sh', '-c', 'while read list; do scontrol show hostnames "$list" | '
        'tr "\\n" " "; echo; done', input='\n'.join(lists) + '\n').splitlines()
    self.assertEqual(len(theirs), len(lists))
    for text, our, their in zip(lists, ours, theirs):
      self.assertEqual(our.split(), their.split(), text)


def port_of(job, step):
  """Returns the port that launcher/cluster/slurm/slurm_place.h defines."""
  return 12000 + (16 * job + step) % 20768


def random_list(draw):
  """Returns a random host list in Slurm's format, without suffixes and with at
  most two brackets."""
  def numbers():
    ranges = []
    for _ in range(draw.randint(1, 3)):
      low = draw.choice([0, 1, 7, 8, 9, 98, 99, 100])
      high = low + draw.randint(0, 4)
      width = draw.choice([0, 0, 2, 3])
      text = str(low).zfill(width)
      if draw.random() < 0.7:
        text += '-' + str(high).zfill(width)
      ranges.append(text)
    return '[' + ','.join(ranges) + ']'

  def entry():
    shape = draw.choice(['n', 'n#', 'node-#', 'r#n#', '#', 'x7y#', 'a.b#',
                         'r#-#'])
    return ''.join(numbers() if c == '#' else c for c in shape)

  return ','.join(entry() for _ in range(draw.randint(1, 3)))


if __name__ == '__main__':
  try:
    slurm_cluster.enter_namespaces()
  except slurm_cluster.CannotStart as reason:
    _why_not = str(reason)
    print('SKIPPED:', reason)
  xml_main.main()
