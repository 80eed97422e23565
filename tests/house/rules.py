"""The house rules: each rule is a function that takes one source and yields its
complaints.

A rule that depends on other files takes these too. For every rule house_test.py
has a text that violates it.
"""

import collections
import fnmatch
import os
import re

PURE_FOLDERS = ('rendezvous/protocol/', 'rendezvous/job/', 'agent/lifecycle/',
                'base/net/connection_crowd',
                'rendezvous/dashboard/job_history',
                'rendezvous/events/state_schedule',
                'rendezvous/events/shown_command',
                'launcher/run_report/recorded_event',
                'launcher/run_report/run_report',
                'launcher/run_report/report_record',
                'launcher/run_report/html_text',
                'launcher/run_report/report_page',
                'rendezvous/dashboard/dashboard_access',
                'rendezvous/metrics/', 'agent/metrics/',
                'rendezvous/quarantine/evidence',
                'rendezvous/quarantine/node_memory',
                'rendezvous/network_check/',
                'rendezvous/journal/held_results',
                'rendezvous/journal/pending_records',
                'rendezvous/server/answer_cache',
                'rendezvous/server/connection_pool',
                'rendezvous/server/self_check',
                'agent/gpus/gpu_list', 'agent/gpus/xid',
                'agent/workers/', 'launcher/cluster/',
                'agent/binding/binding_plan',
                'agent/health/examine_', 'agent/health/finding_table',
                'agent/health/nccl_variables',
                'launcher/doctor/compare_nodes', 'launcher/hostfile/',
                'launcher/slurm/srun_command', 'launcher/ssh/messages',
                'launcher/ssh/remote_plan',
                'store/wire/', 'store/core/',
                'store/relay/relay_core', 'store/server/buffer_budget',
                'trainer_sdk/ddp/backward_tracker',
                'trainer_sdk/ddp/bucket_assignment', 'trainer_sdk/optim/',
                'trainer_sdk/pipeline/schedule/',
                'trainer_sdk/pipeline/runtime/rank_plan',
                'trainer_sdk/pipeline/runtime/stream_agreement',
                'trainer_sdk/pipeline/runtime/first_cause',
                'trainer_sdk/checkpoint/share_plan',
                'trainer_sdk/checkpoint/manifest',
                'trainer_sdk/safetensors/safetensors_header',
                'trainer_sdk/zero/shard_partition')

# Folders whose code must be in the namespace muster::FOLDER. Code of all other
# folders is in muster itself: base and trainer_sdk, which trainers link, and
# the tests that belong to no single folder.
NAMESPACES = ('rendezvous', 'store', 'nccl', 'agent', 'launcher', 'models')

# Folders whose code is linked into trainers. The code must not use gRPC or
# Protocol Buffers, because a trainer may contain another copy of these, which
# would conflict.
SMALL_FOLDERS = ('base/', 'nccl/', 'store/', 'trainer_sdk/')

# Calls that code in pure folders must not make. They wait, do I/O, or return
# results that depend on more than their arguments.
_PURE_BANS = (
    (r'::now\(', 'reads a clock'),
    (r'\b(clock_gettime|gettimeofday|time)\(', 'reads a clock'),
    (r'\bstd::j?thread\b', 'starts a thread'),
    (r'\bstd::(shared_|recursive_|timed_)?mutex\b', 'locks'),
    (r'\bstd::(condition_variable|future|promise|atomic)\b', 'synchronises'),
    (r'\b(random_device|mt19937\w*)\b|\bs?rand(om)?\(', 'draws at random'),
    (r'\bunordered_\w+|\b(flat|node)_hash_\w+', 'iterates in hash order'),
    (r'\bgetenv\(', 'reads the environment'),
    (r'#include\s+[<"](thread|mutex|shared_mutex|condition_variable|future|'
     r'random|atomic|fstream|iostream|filesystem|unistd\.h|sys/[^>"]*)[>"]',
     'includes what only a driver needs'),
    (r'#include\s+[<"](grpc\w*/|google/protobuf/|[^>"]*\.pb\.h)',
     'includes gRPC or protobuf'),
)

_NOT_IN_SMALL = re.compile(
    r'#include\s+[<"](grpc\w*/|google/protobuf/|[^>"]*\.pb\.h|agent/|launcher/|'
    r'rendezvous/|proto/)[^>"]*[>"]')

_BEHIND_THE_SDK = re.compile(
    r'#include\s+"(store|nccl|agent|launcher|rendezvous|proto|tests)/[^"]*"')
_LABELS_BEHIND_THE_SDK = re.compile(
    r'(?<!visibility = \[)"//(store|nccl|agent|launcher|rendezvous|proto)[/:]'
    r'[^"]*"')

_SLEEPS = re.compile(
    r'\b(sleep_for|sleep_until|SleepFor|u?sleep|nanosleep|clock_nanosleep|'
    r'PauseUntil)\s*\('
    r'|\btime\.sleep\b')
_SHELL_SLEEP = re.compile(
    r'(?m)(?:^|[;&|]|\bdo|\bthen|\belse)\s*sleep\s+[\d.$]')

# Folders whose tests may call sleep. The value is the reason.
SLEEP_ALLOWED = {
    'base/poll_test.cc': 'tests PauseUntil',
    'tests/bench/': 'measures real time, and is not run as a test',
    'tests/house/': 'spells what this rule forbids',
    'tests/integration/stragglers/slow_worker.cc':
        "a user's program, waits as for a device",
    'tests/integration/worker.sh': "a user's program, polls for a file",
}

# Headers whose functions may have a parameter of type bool. The value is the
# reason.
BOOL_ALLOWED = {
    'rendezvous/wire/bounded_reader.h': 'the bool is what the message holds',
}

# Headers with functions that only code outside of the project calls. The value
# says which code calls them.
CALLED_BY_OTHERS = {
    'models/kernels/aligned_floats.h': 'std::vector calls its allocator',
}

# Files that may call poll instead of PollUntil (base/poll.h). The value is the
# reason.
POLL_ALLOWED = {
    'agent/guardian/guardian_loop.cc': 'sweeps if poll fails; never aborts',
    'agent/guardian/spawn.cc': "runs in the guardian's process too",
    'base/poll.cc': 'is PollUntil',
    'store/server/hub_events.cc': 'calls epoll_wait by that name',
}

# Files that may start a process without StartSubprocess (base/subprocess.h).
# The value is the reason.
PROCESS_ALLOWED = {
    'agent/guardian/exec_program.cc': "executes a worker's program",
    'agent/guardian/guardian.cc': 'the guardian is this program',
    'agent/guardian/spawn.cc': 'a worker is bound to cores, and traced',
    'agent/guardian/staged_worker.cc': 'stands in for a worker that forks',
    'base/subprocess.cc': 'is StartSubprocess',
    'launcher/admin_command.cc': 'srun takes the place of this program',
    'launcher/bench_command.cc': 'the program takes the place of this one',
    'launcher/doctor/apart.cc': 'the child runs a function',
    'launcher/init_process.cc': 'the child is this program',
    'trainer_sdk/shared_memory/testing/forked_ranks.cc':
        'the ranks of a test run a function',
}

# Files that may name absl::Mutex. The value is the reason.
MUTEX_ALLOWED = {
    'rendezvous/grpc/grpc_setup.cc': 'switches its deadlock detector off',
}

_BOOL_PARAMETER = re.compile(r'[(,]\s*(?:const\s+)?bool\s*(?:\w+\s*)?[,)=]')
# Write each pattern with a forbidden name in two halves, so that this file does
# not violate its own rules.
_SCOPE = re.compile(
    r'namespace\s+(?P<namespace>[\w:]+)\s*{|'
    r'\b(?:enum\s+class|enum|class|struct|union)\s+(?:\[\[\w+\]\]\s*)?'
    r'(?P<type>\w+)\s*(?:final\s*)?(?::[^;{}()]*)?{|{|}')
_DECLARED = re.compile(
    r'(?:  )?(?!\s|return\b|if\b|for\b|while\b|case\b|else\b|ASSERT|EXPECT)'
    r'(?:\[\[nodiscard\]\] )?[\w:<>,&*\s]*?[\s&*](?P<name>\w+)\(')
_NAMESPACE = re.compile(r'^namespace muster(?:::(\w+))?\b', re.M)
_UNFINISHED = re.compile(r'\b(TO' r'DO|FIX' r'ME|XX' r'X|HA' r'CK)\b')
_PRIVATE_PATH = re.compile(r'(?<![\w.$}~-])/(home|root|work|Users)/\w')
_VAGUE_NAME = re.compile(r'(^|_)(utils?|helpers?|managers?|misc|common)(_|\.|$)')
_ONLY_FOR_TESTS = re.compile(r'\b\w+ForTest(s|ing|Only)?\b')
_ABSEIL_TRAPS = re.compile(r'\babsl::Mutex\b|absl/(synchronization/mutex|log/)')

_POLLS = re.compile(r'(?<![\w.>])(p?poll|(clock_)?nanosleep)\(')
_STEADY_CLOCK = re.compile(r'\bsteady_clock\b')
_STARTS = re.compile(
    r'(?<![\w.>])(v?fork|posix_spawnp?|exec[lv]p?e?|fexecve|popen|system)\(')

_CODE = ('.h', '.cc', '.cu', '.c')


def is_test(path):
  return path.startswith('tests/') or re.search(r'_test\.(cc|cu|py|sh)$', path)


def _line(text, position):
  return text.count('\n', 0, position) + 1


def _each(pattern, source, text, message):
  for match in re.finditer(pattern, text):
    yield '%s:%d: %s: %s' % (source.path, _line(text, match.start()), message,
                             match.group().strip())


def pure_code(source):
  """Code of pure folders uses no clock, thread, randomness, I/O or wire type.
  """
  if not source.path.startswith(PURE_FOLDERS) or is_test(source.path):
    return
  if not source.path.endswith(_CODE):
    return
  for pattern, what in _PURE_BANS:
    yield from _each(pattern, source, source.code, 'pure code ' + what)


def small_code(source):
  """Code that workers link uses neither the daemons' code nor their messages.
  """
  if source.path.startswith(SMALL_FOLDERS) and source.path.endswith(_CODE):
    yield from _each(_NOT_IN_SMALL, source, source.code,
                     'a worker must not link this')


def models_use_the_sdk(source):
  """Models and examples use the public headers of the SDK only."""
  if not source.path.startswith(('models/', 'examples/')):
    return
  if source.path.endswith(_CODE):
    yield from _each(_BEHIND_THE_SDK, source, source.code,
                     'a model reaches behind the SDK')
  elif source.path.endswith('/BUILD') and 'sh_test(' not in source.code:
    yield from _each(_LABELS_BEHIND_THE_SDK, source, source.code,
                     'a model reaches behind the SDK')


def no_sleep_in_tests(source):
  """Tests wait for events, with deadlines; they never sleep."""
  if not is_test(source.path) or source.path.startswith(tuple(SLEEP_ALLOWED)):
    return
  if not source.path.endswith('.md'):
    yield from _each(_SLEEPS, source, source.code, 'a test sleeps')
    yield from _each(_SHELL_SLEEP, source, source.text, 'a test sleeps')


def nothing_unfinished(source):
  """The code contains no marks of unfinished work."""
  yield from _each(_UNFINISHED, source, source.text, 'unfinished')


def header_guard(source):
  """A header's guard is derived from its path."""
  if not source.path.endswith('.h'):
    return
  guard = 'MUSTER_%s_' % re.sub(r'\W', '_', source.path).upper()
  if not (re.match(r'#ifndef %s\n#define %s\n' % (guard, guard), source.code.
                   lstrip()) and source.text.endswith(
                       '#endif  // %s\n' % guard)):
    yield '%s: its include guard must be %s' % (source.path, guard)


def own_namespace(source):
  """A folder with its own namespace defines nothing outside of this namespace.
  """
  part = source.path.split('/')[0]
  if part not in NAMESPACES or not source.path.endswith(_CODE + ('.inc',)):
    return
  for match in _NAMESPACE.finditer(source.code):
    # The namespace v1 is allowed in every folder, for forward declarations of
    # protobuf messages.
    if match.group(1) not in (part, 'v1'):
      yield '%s:%d: the namespace must be muster::%s' % (
          source.path, _line(source.code, match.start()), part)


def no_private_path(source):
  """The text contains no path of a private folder of one person or machine."""
  yield from _each(_PRIVATE_PATH, source, source.text, 'a private path')


def no_bool_parameter(source):
  """A call must show its meaning, so functions take an enum or an options
  struct instead of a bool."""
  if source.path.endswith('.h') and source.path not in BOOL_ALLOWED:
    yield from _each(_BOOL_PARAMETER, source, source.code, 'a bool parameter')


def name_says_it(source):
  """The name of a file is not vague, such as utils, common or misc."""
  if _VAGUE_NAME.search(os.path.basename(source.path)):
    yield '%s: the name says nothing about the job' % source.path


def nothing_only_for_tests(source):
  """Production code has no function that exists for tests only."""
  if source.path.endswith('.h') and not is_test(source.path):
    yield from _each(_ONLY_FOR_TESTS, source, source.code, 'only for tests')


def no_abseil_traps(source):
  """The code does not use absl::Mutex, which ThreadSanitizer does not support,
  or Abseil's log, which Debian's Abseil lacks."""
  if source.path.endswith(_CODE) and source.path not in MUTEX_ALLOWED:
    yield from _each(_ABSEIL_TRAPS, source, source.code, 'use std::mutex')


def one_way_to_wait(source):
  """Code waits only by the functions of base/poll.h, which handle signals and
  deadlines."""
  if source.path in POLL_ALLOWED or is_test(source.path):
    return
  if source.path.endswith(_CODE):
    yield from _each(_POLLS, source, source.code, 'use base/poll.h')


def one_clock(source):
  """Deadlines are times of MonotonicNow, the only clock."""
  if source.path == 'base/monotonic_clock.h' or is_test(source.path):
    return
  if source.path.endswith(_CODE):
    yield from _each(_STEADY_CLOCK, source, source.code,
                     'use base/monotonic_clock.h')


def one_way_to_start(source):
  """Programs are started by StartSubprocess."""
  if source.path in PROCESS_ALLOWED or is_test(source.path):
    return
  if source.path.endswith(_CODE):
    yield from _each(_STARTS, source, source.code, 'use base/subprocess.h')


def built(source, texts):
  """Every C++ and proto file is in the BUILD file of its folder or of a folder
  above.

  Args:
    source: the file.
    texts: text by path, of all files.
  """
  if not source.path.endswith(_CODE + ('.proto',)):
    return
  folder, name = os.path.split(source.path)
  while folder and os.path.join(folder, 'BUILD') not in texts:
    folder, last = os.path.split(folder)
    name = os.path.join(last, name)
  build = texts.get(os.path.join(folder, 'BUILD'), '')
  # A BUILD file may list file names without an ending and append the ending in
  # a loop: `name + "_test.cc"`.
  endings = [''] + re.findall(r'\w \+ "([^"\n]+)"', build)
  for literal in re.findall(r'"([^"\n]+)"', build):
    if any(literal + ending == name for ending in endings):
      return
    if '*' in literal and fnmatch.fnmatch(name, literal):
      return
  yield '%s: in no BUILD file' % source.path


def public_sdk(texts):
  """The public targets of the SDK are exactly those that its library contains.

  Args:
    texts: text by path, of all files.
  """
  library = set()
  for label in re.findall(r'"//(trainer_sdk/[^"]+)"',
                          texts['trainer_sdk/library/BUILD']):
    library.add(label if ':' in label else
                label + ':' + os.path.basename(label))
  public = set(_public_parts(texts))
  for label in sorted(public - library):
    yield '%s is public, and not in the library' % label
  for label in sorted(library - public):
    if not label.endswith('.bzl'):
      yield '%s is in the library, and not public' % label


def _public_parts(texts):
  """Returns the label of each public library of the SDK."""
  for path, text in sorted(texts.items()):
    folder, name = os.path.split(path)
    if name != 'BUILD' or not folder.startswith('trainer_sdk'):
      continue
    for rule in re.findall(r'(?ms)^cc_library\(\n.*?^\)', text):
      if '"//visibility:public"' in _list(
          rule, 'visibility', _list(text, 'default_visibility', '')):
        yield '%s:%s' % (folder, _string(rule, 'name'))


def _string(rule, attribute):
  return re.search(r'\b%s = "([^"]*)"' % attribute, rule).group(1)


def _list(rule, attribute, default):
  found = re.search(r'\b%s = \[([^]]*)\]' % attribute, rule)
  return found.group(1) if found else default


def one_definition(sources):
  """No qualified name is defined in two headers."""
  homes = {}
  for source in sources:
    if source.path.endswith('.h'):
      for name in _defined_types(source.code):
        homes.setdefault(name, []).append(source.path)
  for name, paths in sorted(homes.items()):
    if len(set(paths)) > 1:
      yield '%s is defined in %s' % (name, ' and '.join(sorted(set(paths))))


def _defined_types(code):
  """Returns the qualified names of the types that `code` defines in namespaces.
  """
  code = re.sub(r'"(\\.|[^"\\\n])*"', '""', code)
  scopes = []
  for match in _SCOPE.finditer(code):
    if match.group() == '}':
      if scopes:
        scopes.pop()
      continue
    namespace, kind = match.group('namespace'), match.group('type')
    if kind and all(scope is not None for scope in scopes):
      yield '::'.join(scopes + [kind])
    # `scopes` gets None for the body of a type or of a function. Types inside
    # of such a body are not yielded, because their names are local and cannot
    # collide with other types.
    scopes.append(namespace if namespace else None)


def only_for_tests(sources, tests, documented):
  """Finds functions that a production header declares and that only tests call.

  Args:
    sources: all files. tests: the paths that only tests build. documented: the
    words of docs/SDK.md. Trainers may call all functions of the SDK that are
    named there.

  Yields:
    complaints.
  """
  calls = collections.Counter()
  headers = []
  for source in sources:
    if not source.path.endswith(_CODE + ('.inc',)) or source.path in tests:
      continue
    code = re.sub(r'"(\\.|[^"\\\n])*"', '""', source.code)
    if source.path.endswith('.h'):
      headers.append((source.path, code))
    for line in code.split('\n'):
      # In an unindented line, a name before the first parenthesis is that of a
      # function that the line defines or declares. This is not a call of the
      # function.
      defined = re.match(r'\w.*?(\w+)\(', line)
      # Variables often have the names of accessors, which begin with a
      # lower-case letter, so that such a name counts only with a parenthesis.
      for word in re.findall(r'\b[A-Z_]\w+\b|\b[a-z]\w*(?=\()', line):
        calls[word] += not (defined and word == defined.group(1))
  for path, code in headers:
    if path in CALLED_BY_OTHERS:
      continue
    called_by_trainers = documented if path.startswith('trainer_sdk/') else ()
    is_private = False
    for number, line in enumerate(code.split('\n'), 1):
      if re.match(r'\s*private:', line):
        is_private = True
      elif re.match(r'\s*public:|class|struct|namespace|}', line):
        is_private = False
      declared = _DECLARED.match(line)
      if not declared or is_private:
        continue
      name = declared.group('name')
      if (name not in called_by_trainers and
          calls[name] - line.startswith(' ') <= 0):
        yield '%s:%d: %s is called by tests alone' % (path, number, name)


def documented_variables(sources, tests, pages):
  """Finds environment variables that the product reads and that no document
  names.

  Args:
    sources: all files.
    tests: the paths that only tests build.
    pages: the text of all documents.

  Yields:
    complaints.
  """
  for source in sources:
    if source.path in tests or not source.path.endswith(_CODE):
      continue
    for name in re.findall(r'"(MUSTER_[A-Z_]+)"', source.text):
      if not re.search(r'\b%s\b' % name, pages):
        yield '%s: %s is in no document' % (source.path, name)


def test_support(texts):
  """Returns the paths of files in Bazel rules with testonly = True.

  Args:
    texts: text by path, of all files.
  """
  found = {path for path in texts if is_test(path)}
  for path, text in texts.items():
    if os.path.basename(path) != 'BUILD':
      continue
    folder = os.path.dirname(path)
    all_of_it = 'default_testonly = True' in text
    for rule in re.findall(r'(?ms)^\w+\(\n.*?^\)', text):
      if all_of_it or 'testonly = True' in rule:
        found.update(os.path.join(folder, name)
                     for name in re.findall(r'"([^":/]+\.\w+)"', rule))
  return found


EACH = (pure_code, small_code, models_use_the_sdk, no_sleep_in_tests,
        nothing_unfinished, header_guard, own_namespace, no_private_path,
        no_bool_parameter, name_says_it, nothing_only_for_tests,
        no_abseil_traps, one_way_to_wait, one_clock, one_way_to_start)
