"""Builds the pure cores and their tests directly with g++, one object at a
time.

Bazel is not used: a mutant is one changed file, so it needs one compilation and
one link.
"""

import collections
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess

# Compile without optimisation: most of the time is spent on compiling.
_FLAGS = ['-std=c++20', '-O0', '-w', '-I.']
# If the linker gold is installed, use it: it links twice as fast as bfd.
_LINKER = ['-fuse-ld=gold'] if shutil.which('ld.gold') else []
_GTEST = ['-l:libgmock_main.a', '-l:libgmock.a', '-l:libgtest.a']

# A test program. `units`: sources that it tests, and their tests. `linked`:
# further sources. `libraries`: linker flags. A mutant is tested only by the
# programs that contain its source file. Many small programs save time: a single
# large program would run all tests for each mutant.
_Suite = collections.namedtuple('_Suite', 'name units linked libraries')

_PROTOCOL = ('rendezvous/protocol/job_spec.cc',
             'rendezvous/protocol/signal_names.cc',
             'rendezvous/protocol/time_ledger.cc',
             'rendezvous/protocol/verdict.cc')

_QUARANTINE = ('rendezvous/quarantine/evidence.cc',
               'rendezvous/quarantine/node_memory.cc')

_NETWORK_CHECK = ('rendezvous/network_check/gpu_judgement.cc',
                  'rendezvous/network_check/measured_values.cc',
                  'rendezvous/network_check/network_check.cc')

_SUITES = (
    _Suite('tests of jobs',
           ('rendezvous/job/*.cc', 'rendezvous/protocol/job_spec_test.cc',
            'rendezvous/takeover/*.cc', 'rendezvous/takeover/testing/*.cc'),
           (*_PROTOCOL, *_QUARANTINE,
            'rendezvous/stragglers/link_watch.cc',
            'rendezvous/stragglers/straggler_watch.cc',
            *_NETWORK_CHECK), []),
    _Suite('tests of the check by pairs', ('rendezvous/network_check/*.cc',),
           (), []),
    _Suite('tests of slow ranks', ('rendezvous/stragglers/*.cc',), (), []),
    _Suite('tests of quarantine',
           ('rendezvous/quarantine/evidence*.cc',
            'rendezvous/quarantine/node_memory*.cc'), (), []),
    _Suite('tests of agents', ('agent/lifecycle/*.cc',), _PROTOCOL, []),
    _Suite('tests of bounds',
           ('agent/guardian/start_retry*.cc', 'agent/logs/old_rounds*.cc',
            'rendezvous/events/event_throttle*.cc'), (), []),
    _Suite('tests of binding',
           ('agent/binding/binding_*.cc', 'agent/binding/cpu_list*.cc'),
           # These files define synthetic machines for the tests of binding.
           ('agent/binding/layouts.cc', 'agent/binding/read_layout.cc',
            'agent/binding/no_udev.cc'),
           ['-l:libhwloc.a']),
    _Suite('tests of GPUs',
           ('agent/gpus/gpu_list*.cc', 'agent/gpus/job_files*.cc',
            'agent/gpus/xid*.cc', 'agent/metrics/gpu_metrics*.cc'),
           ('base/write_all.cc', 'rendezvous/metrics/exposition.cc'), []),
    _Suite('tests of metrics of nodes', ('agent/metrics/agent_metrics*.cc',),
           ('rendezvous/metrics/exposition.cc',
            'rendezvous/metrics/job_metrics.cc',
            'rendezvous/protocol/job_status.cc',
            'rendezvous/protocol/time_ledger.cc'), []),
    _Suite('tests of file backlogs', ('base/file_backlog*.cc',), (), []),
    _Suite('tests of training',
           ('trainer_sdk/ddp/backward_tracker*.cc',
            'trainer_sdk/ddp/bucket_assignment*.cc',
            'trainer_sdk/ddp/power_sgd_state*.cc',
            'trainer_sdk/optim/gradient_norm*.cc',
            'trainer_sdk/optim/step_plan*.cc',
            'trainer_sdk/zero/shard_partition*.cc'),
           ('trainer_sdk/checkpoint/checkpoint_slice.cc',
            'trainer_sdk/safetensors/safetensors_header.cc',
            'trainer_sdk/tensor/tensor.cc'), []),
    _Suite('tests of the store',
           ('store/core/*.cc', 'store/server/buffer_budget*.cc'),
           ('store/wire/request.cc',), []),
    _Suite('tests of who is served',
           ('agent/store/store_plan*.cc', 'base/net/address_set*.cc',
            'store/server/listening_socket*.cc'),
           ('base/net/socket_address.cc',), []),
    _Suite('tests of the relay', ('store/relay/relay_core*.cc',),
           ('store/wire/relay_frames.cc', 'store/wire/request.cc'), []),
    _Suite('tests of pending records',
           ('rendezvous/journal/held_results*.cc',
            'rendezvous/journal/pending_records*.cc'), (), []),
    _Suite('tests of the journal', ('rendezvous/journal/journal*.cc',),
           ('base/file_backlog.cc', 'base/file_below.cc', 'base/file_queue.cc',
            'base/folder.cc', 'base/poll.cc', 'base/rotating_file.cc',
            'base/subprocess.cc', 'base/write_all.cc',
            'rendezvous/journal/pending_records.cc'),
           ['-l:libsqlite3.a']),
    _Suite('tests of the dashboard',
           ('rendezvous/dashboard/dashboard_access*.cc',
            'rendezvous/dashboard/job_history*.cc'),
           ('base/bounded_file.cc', 'base/net/socket_address.cc',
            'base/poll.cc', 'base/secrets.cc',
            'rendezvous/endpoint/endpoint.cc',
            'rendezvous/protocol/job_status.cc',
            'rendezvous/tls/principal.cc',
            'rendezvous/tls/token_identity.cc', 'rendezvous/tls/x509.cc',
            'rendezvous/token/token.cc'),
           ['-lcrypto']),
    _Suite('tests of states',
           ('rendezvous/events/state_schedule*.cc',
            'rendezvous/events/shown_command*.cc'), (), []),
    _Suite('tests of reports',
           ('launcher/run_report/recorded_event*.cc',
            'launcher/run_report/report_record*.cc',
            'launcher/run_report/run_report*.cc'),
           ('agent/logs/terminal_text.cc', 'base/file_backlog.cc',
            'base/file_below.cc', 'base/file_queue.cc', 'base/folder.cc',
            'base/poll.cc', 'base/rotating_file.cc', 'base/subprocess.cc',
            'base/write_all.cc',
            'rendezvous/events/event_log.cc',
            'rendezvous/events/event_throttle.cc',
            'rendezvous/events/shown_command.cc',
            'rendezvous/events/status_json.cc',
            'rendezvous/job/blame.cc', 'rendezvous/job/membership.cc',
            'rendezvous/protocol/job_status.cc',
            'rendezvous/protocol/signal_names.cc',
            'rendezvous/protocol/time_ledger.cc',
            'rendezvous/quarantine/node_memory.cc'), []),
    _Suite('tests of the election', ('rendezvous/etcd/leadership*.cc',), (),
           []),
    _Suite('tests of connections',
           ('base/net/connection_crowd*.cc',
            'rendezvous/server/connection_pool*.cc',
            'rendezvous/server/self_check*.cc'), (), []),
    _Suite('tests of inquiries',
           ('rendezvous/client/output_cursor*.cc',
            'rendezvous/protocol/output_tail*.cc',
            'rendezvous/server/inquiry_session*.cc',
            'rendezvous/server/job_inquiries*.cc'), (), []),
    _Suite('tests of hosts', ('launcher/ssh/remote_job*.cc',),
           ('agent/lifecycle/agent_policy.cc',
            'base/net/socket_address.cc', 'launcher/ssh/meeting_flags.cc',
            'rendezvous/endpoint/endpoint.cc',
            'rendezvous/protocol/signal_names.cc'), []),
    _Suite('tests of certificate names',
           ('rendezvous/tls/principal*.cc',),
           ('rendezvous/tls/x509.cc',), ['-lcrypto']),
    _Suite('tests of the wire', ('store/wire/*.cc',), (), []),
    _Suite('tests of the flight recorder',
           ('trainer_sdk/flight_recorder/flight_analysis*.cc',
            'trainer_sdk/flight_recorder/flight_deaths*.cc',
            'trainer_sdk/flight_recorder/flight_log*.cc',
            'trainer_sdk/flight_recorder/flight_messages*.cc',
            'trainer_sdk/flight_recorder/flight_moment*.cc',
            'trainer_sdk/flight_recorder/flight_running*.cc'),
           ('base/message_text.cc', 'trainer_sdk/process_group/element.cc',
            'trainer_sdk/process_group/operation.cc',
            'trainer_sdk/process_group/operations.cc',
            'trainer_sdk/process_group/signature.cc'), []),
)
_SIMULATION = ('rendezvous/job/*.cc', 'rendezvous/takeover/*.cc', 'agent/lifecycle/*.cc', *_PROTOCOL,
               'rendezvous/etcd/leadership.cc',
               'rendezvous/journal/held_results.cc',
               'rendezvous/journal/pending_records.cc',
               'rendezvous/stragglers/link_watch.cc',
               'rendezvous/stragglers/straggler_watch.cc', *_QUARANTINE,
               *_NETWORK_CHECK,
               'tests/simulation/*.cc', 'tests/simulation/checkers/*.cc',
               'rendezvous/protocol/job_status.cc')

Program = collections.namedtuple('Program', 'name sources libraries arguments')


def abseil(root):
  """Returns the static libraries of //bazel:absl, read from its BUILD file."""
  with open(os.path.join(root, 'bazel/BUILD'), encoding='utf-8') as file:
    listed = re.search(r'_ABSEIL = \[(.*?)\]', file.read(), re.DOTALL).group(1)
  names = re.findall(r'"(\w+)"', listed)
  return (['-Wl,--start-group'] + ['-l:libabsl_%s.a' % n for n in names] +
          ['-Wl,--end-group', '-lpthread'])


def programs(root):
  """Returns the test programs. A mutant of one of their sources must make one
  fail."""
  def sources(patterns):
    found = []
    for pattern in patterns:
      matches = sorted(glob.glob(os.path.join(root, pattern)))
      if not matches:
        raise RuntimeError('no file matches %s' % pattern)
      found += matches
    return [os.path.relpath(path, root) for path in found]

  found = [
      Program(suite.name, sources(suite.units + suite.linked),
              _GTEST + suite.libraries + abseil(root),
              ['--gtest_brief=1', '--gtest_fail_fast'])
      for suite in _SUITES]
  simulated = sources(_SIMULATION)
  return found + [
      Program('simulation', [path for path in simulated if not is_test(path)],
              abseil(root), ['--until-failure', '1', '600'])]


def is_test(path):
  return path.endswith(('_test.cc', '_fixture.cc'))


def object_name(path):
  return os.path.splitext(path)[0] + '.o'


def precompile(root, folder):
  """Precompiles the headers that most tests include."""
  header = os.path.join(folder, 'prelude.h')
  os.symlink(os.path.join(root, 'bazel/test_prelude.h'), header)
  subprocess.run(['g++'] + _FLAGS + ['-x', 'c++-header', header, '-o',
                                     header + '.gch'], cwd=root, check=True)
  return header


def compile_file(source_root, path, target, prelude):
  """Compiles `path` into `target`. Returns the compiler's errors, or ''."""
  os.makedirs(os.path.dirname(target), exist_ok=True)
  done = subprocess.run(
      ['g++'] + _FLAGS + ['-include', prelude, '-c', path, '-o', target],
      cwd=source_root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
      text=True, check=False)
  return done.stdout if done.returncode else ''


def compile_all(source_root, paths, objects, prelude, jobs):
  """Compiles those of `paths` that have no object in the folder `objects`."""
  def compile_one(path):
    target = os.path.join(objects, object_name(path))
    if os.path.exists(target):
      return ''
    return compile_file(source_root, path, target, prelude)

  with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
    for errors in pool.map(compile_one, paths):
      if errors:
        raise RuntimeError(errors)


def link(program, folders, target):
  """Links `program`. Takes each object from the first of `folders` that
  contains it."""
  objects = []
  for path in program.sources:
    for folder in folders:
      candidate = os.path.join(folder, object_name(path))
      if os.path.exists(candidate):
        objects.append(candidate)
        break
  subprocess.run(['g++'] + _LINKER + objects + ['-o', target] +
                 program.libraries, check=True)
