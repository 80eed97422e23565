"""Calls every method of PyTorch's store in PyTorch itself.

Run by store_methods_test.py with the Python of one version of PyTorch. Its
argument is the port of a store on 127.0.0.1. Prints the result of each case as
JSON.
"""

import datetime
import json
import sys
import threading
import time
import traceback

_SOON = datetime.timedelta(milliseconds=50)
_LATE = datetime.timedelta(seconds=60)


class Absent(Exception):
  """This version of PyTorch does not have the method of the case."""


class Clients:
  """Creates clients of the store whose keys no other case uses."""

  def __init__(self, dist, port, name):
    self.dist = dist
    self.port = port
    self.name = name

  def connect(self, timeout=_LATE, **more):
    return self.dist.TCPStore('127.0.0.1', self.port, None, False, timeout,
                              **more)

  def __call__(self, timeout=_LATE, needs=()):
    """Returns a client of the store. Raises Absent if it lacks one of the
    methods."""
    store = self.connect(timeout)
    for method in needs:
      if not hasattr(store, method):
        raise Absent('this PyTorch has no TCPStore.' + method)
    return self.dist.PrefixStore(self.name, store)


def raises(call, *arguments):
  """Whether the call raises an error, however long it takes."""
  try:
    call(*arguments)
  # Accept any type of error: PyTorch raises RuntimeError or DistStoreError,
  # which depends on its version.
  except Exception:
    return True
  return False


class Later(threading.Thread):
  """A call in a new thread. `join` raises the exception of the call."""

  def __init__(self, call, arguments):
    super().__init__()
    self.call = call
    self.arguments = arguments
    self.error = None

  def run(self):
    try:
      self.call(*self.arguments)
    except BaseException as error:  # pylint: disable=broad-except
      self.error = error

  def join(self, timeout=None):
    super().join(timeout)
    if self.error:
      raise self.error


def later(call, *arguments):
  thread = Later(call, arguments)
  thread.start()
  return thread


def case_set_and_get(clients):
  store = clients()
  store.set('k', 'v')
  assert store.get('k') == b'v'
  store.set('k', '')
  assert store.get('k') == b''
  assert clients().get('k') == b''


def case_a_large_value(clients):
  store = clients()
  value = 'abcdefgh' * (1 << 19)
  store.set('k', value)
  assert store.get('k') == value.encode()


def case_get_waits_for_the_key(clients):
  waiting, setting = clients(), clients()
  thread = later(setting.set, 'k', 'v')
  assert waiting.get('k') == b'v'
  thread.join()


def case_get_times_out_and_the_store_goes_on(clients):
  # In TCPStore's old protocol a client cannot cancel a wait. Instead, the
  # client closes its connection when the wait times out. The store must then
  # still serve other clients.
  store = clients.connect()
  store.set_timeout(_SOON)
  assert raises(store.get, clients.name + 'never')
  store = clients()
  store.set('never', 'after all')
  assert store.get('never') == b'after all'


def case_a_wait_that_timed_out_leaves_no_answer_behind(clients):
  store = clients(needs=['check'])
  assert raises(store.wait, ['k'], _SOON)
  store.set('k', 'v')
  assert store.add('n', 7) == 7
  assert store.get('k') == b'v'


def case_wait_for_several_keys(clients):
  waiting, setting = clients(), clients()
  thread = later(lambda: [setting.set('k%d' % i, 'v') for i in range(20)])
  waiting.wait(['k%d' % i for i in range(20)])
  waiting.wait(['k3', 'k3'], _LATE)
  thread.join()


def case_wait_times_out(clients):
  started = time.monotonic()
  assert raises(clients().wait, ['here', 'not'], _SOON)
  assert time.monotonic() - started >= _SOON.total_seconds()


def case_add(clients):
  store = clients()
  assert store.add('n', 3) == 3
  assert store.add('n', -5) == -2
  assert store.get('n') == b'-2'
  store.set('m', '40')
  assert store.add('m', 2) == 42


def case_add_of_many_clients(clients):
  def count():
    store = clients()
    for _ in range(50):
      store.add('sum', 1)
  threads = [later(count) for _ in range(8)]
  for thread in threads:
    thread.join()
  assert clients().add('sum', 0) == 400


def case_compare_set(clients):
  store = clients()
  assert store.compare_set('k', 'other', 'new') == b'other'
  assert store.compare_set('k', '', 'first') == b'first'
  assert store.compare_set('k', 'wrong', 'x') == b'first'
  assert store.compare_set('k', 'first', 'second') == b'second'
  assert store.get('k') == b'second'


def case_delete_key(clients):
  store = clients.connect()
  key = clients.name + 'k'
  assert not store.delete_key(key)
  store.set(key, 'v')
  assert store.delete_key(key)
  assert not store.delete_key(key)


def case_num_keys(clients):
  store = clients.connect()
  before = store.num_keys()
  store.set(clients.name + 'a', '1')
  store.set(clients.name + 'b', '2')
  store.set(clients.name + 'b', '3')
  assert store.num_keys() == before + 2
  store.delete_key(clients.name + 'a')
  assert store.num_keys() == before + 1


def case_prefixes_do_not_meet(clients):
  below = clients()
  a, b = (clients.dist.PrefixStore(name, below) for name in 'ab')
  a.set('k', 'of a')
  b.set('k', 'of b')
  assert (a.get('k'), b.get('k')) == (b'of a', b'of b')
  assert below.get('a/k') == b'of a'


def case_workers_are_waited_for(clients):
  # If a PyTorch client has a world_size, it counts itself in a key under
  # "init/". Then it waits until that many clients are connected.
  joined = []
  def join():
    joined.append(clients.dist.TCPStore(
        '127.0.0.1', clients.port, 3, False, _LATE))
  threads = [later(join) for _ in range(3)]
  for thread in threads:
    thread.join()
  assert len(joined) == 3


def case_check(clients):
  store = clients(needs=['check'])
  store.set('a', '')
  assert store.check(['a'])
  assert not store.check(['a', 'b'])
  store.set('b', '')
  assert store.check(['a', 'b'])


def case_append(clients):
  store = clients(needs=['append'])
  store.append('k', 'a')
  store.append('k', 'bc')
  assert store.get('k') == b'abc'


def case_multi_set_and_multi_get(clients):
  store = clients(needs=['multi_get', 'multi_set'])
  keys = ['k%d' % i for i in range(300)]
  store.multi_set(keys, [key * 3 for key in keys])
  assert store.multi_get(keys) == [(key * 3).encode() for key in keys]
  assert store.has_extended_api()


def case_multi_get_waits(clients):
  waiting, setting = clients(needs=['multi_get']), clients()
  thread = later(setting.set, 'b', '2')
  waiting.set('a', '1')
  assert waiting.multi_get(['a', 'b']) == [b'1', b'2']
  thread.join()


def case_queues(clients):
  store = clients(needs=['queue_push', 'queue_pop', 'queue_len'])
  assert store.queue_len('q') == 0
  store.queue_push('q', 'first')
  store.queue_push('q', 'second')
  assert store.queue_len('q') == 2
  assert store.queue_pop('q') == b'first'
  assert store.queue_pop('q') == b'second'
  assert raises(store.queue_pop, 'q', False)


def case_queue_pop_waits(clients):
  waiting, pushing = clients(needs=['queue_pop']), clients()
  thread = later(pushing.queue_push, 'q', 'job')
  assert waiting.queue_pop('q') == b'job'
  thread.join()


def case_each_element_is_popped_once(clients):
  popped, lock = [], threading.Lock()
  clients(needs=['queue_pop'])
  def pop():
    store = clients()
    for _ in range(20):
      element = store.queue_pop('q')
      with lock:
        popped.append(element)
  threads = [later(pop) for _ in range(4)]
  store = clients()
  for i in range(80):
    store.queue_push('q', str(i))
  for thread in threads:
    thread.join()
  assert sorted(popped) == sorted(str(i).encode() for i in range(80)), popped


def case_list_keys(clients):
  store = clients(needs=['list_keys'])
  store.set('listed1', '')
  store.set('listed2', '')
  whole = clients.connect().list_keys()
  assert sum('listed' in key for key in whole) == 2, whole


def case_barrier(clients):
  clients(needs=['barrier'])
  passed = []
  def meet(rank):
    clients().barrier('b', 4, _LATE)
    passed.append(rank)
  threads = [later(meet, rank) for rank in range(4)]
  for thread in threads:
    thread.join()
  assert sorted(passed) == [0, 1, 2, 3]


def case_a_barrier_times_out(clients):
  store = clients(needs=['barrier'])
  assert raises(store.barrier, 'b', 2, _SOON)
  store.set('k', 'v')
  assert store.get('k') == b'v'


def case_a_clone_is_a_client_of_its_own(clients):
  store = clients.connect()
  if not hasattr(store, 'clone'):
    raise Absent('this PyTorch has no TCPStore.clone')
  store.set(clients.name + 'k', 'v')
  assert store.clone().get(clients.name + 'k') == b'v'


NAMES = sorted(name[5:] for name in globals() if name.startswith('case_'))


def main(port):
  import torch.distributed as dist  # pylint: disable=import-outside-toplevel
  outcomes = {}
  for name in NAMES:
    try:
      globals()['case_' + name](Clients(dist, port, name))
      outcomes[name] = ['passed', '']
    except Absent as absent:
      outcomes[name] = ['skipped', str(absent)]
    except Exception:  # Report any exception as the result of this case.
      outcomes[name] = ['failed', traceback.format_exc()]
  print(json.dumps(outcomes))


if __name__ == '__main__':
  main(int(sys.argv[1]))
