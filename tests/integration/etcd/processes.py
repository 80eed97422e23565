"""A real etcd, daemons that share it, and nodes of a job, for tests."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.realpath(__file__)),
                             os.pardir, os.pardir, 'python')]

import free_port
import process

LAUNCH = os.path.realpath('launcher/launch')
DAEMON = os.path.realpath('rendezvous/daemon/rendezvousd')


class EtcdCase(unittest.TestCase):
  """A test case with a temporary folder. The processes that it starts end with
  it."""

  def setUp(self):
    # Make the test's folder outside of TEST_TMPDIR: the path of TEST_TMPDIR may
    # be too long for the programs that open FIFOs in the folder.
    self.folder = tempfile.mkdtemp(prefix='etcd_test')
    self.addCleanup(shutil.rmtree, self.folder)

  def start(self, name, argv, env=None):
    started = process.Process(name, argv, env)
    self.addCleanup(started.end)
    return started

  def start_etcd(self, *options, scheme='http'):
    """Starts an etcd on a free port. Returns its process, with the attribute
    `port`."""
    url = scheme + '://127.0.0.1:0'
    etcd = self.start('etcd', [
        'etcd', '--data-dir', os.path.join(self.folder, 'etcd'),
        '--listen-client-urls', url, '--advertise-client-urls', url,
        '--listen-peer-urls', 'http://127.0.0.1:0', *options])
    etcd.port = int(etcd.wait_for(
        r'serving \S*\s?client requests on 127\.0\.0\.1:(\d+)').group(1))
    return etcd

  def compact(self, etcd):
    """Removes all revisions of the keys but the newest one, and rewrites etcd's
    database without them."""
    def etcdctl(*words):
      return subprocess.run(
          ['etcdctl', '--endpoints=127.0.0.1:%d' % etcd.port, *words],
          check=True, stdout=subprocess.PIPE, timeout=process.LONGEST_S).stdout
    status = json.loads(etcdctl('endpoint', 'status', '--write-out=json'))
    etcdctl('compact', str(status[0]['Status']['header']['revision']))
    etcdctl('defrag')

  def start_daemon(self, etcd, *options, port=None):
    """Starts a daemon that shares `etcd`. Returns its process, with the
    attribute `endpoint`."""
    port = port or free_port.free_port()
    daemon = self.start('rendezvousd', [
        DAEMON, '--listen', '127.0.0.1:%d' % port,
        '--state', 'etcd://127.0.0.1:%d' % etcd.port, *options])
    daemon.endpoint = '127.0.0.1:%d' % port
    return daemon

  def start_nodes(self, endpoints, *options):
    """Starts two nodes with one worker each.

    A worker prints its rank and how often it was started, and exits with the
    code that the test writes to the FIFO of its rank (`end_worker`).
    """
    for rank in range(2):
      fifo = os.path.join(self.folder, 'rank%d' % rank)
      if not os.path.exists(fifo):
        os.mkfifo(fifo)
    worker = ('echo rank $RANK starts $TORCHELASTIC_RESTART_COUNT; '
              'read code < "%s/rank$RANK"; exit $code' % self.folder)
    return [
        self.start('node %d' % node, [
            LAUNCH, '--rdzv-endpoint=' + ','.join(endpoints),
            '--rdzv-conf=is_host=0', '--rdzv-id=shared', '--nnodes=2',
            '--node-rank=%d' % node, '--nproc-per-node=1', *options,
            '--no-python', 'sh', '-c', worker])
        for node in range(2)
    ]

  def end_worker(self, rank, code):
    """Makes a worker exit with `code`, as soon as it reads its FIFO."""
    with open(os.path.join(self.folder, 'rank%d' % rank), 'w',
              encoding='ascii') as fifo:
      fifo.write('%d\n' % code)
