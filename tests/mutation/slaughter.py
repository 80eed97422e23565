"""Applies mutants one at a time and finds the programs that notice them."""

import collections
import concurrent.futures
import difflib
import os
import shutil
import subprocess
import tempfile
import threading
import time

import build
import mutant as mutant_lib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))

# The time limit of a test program that contains a mutant is five times the
# program's time without a mutant, but at least this number of seconds. A mutant
# counts as noticed if the program exceeds the limit.
_MIN_TIMEOUT_SECONDS = 20
_UNCHANGED_TIMEOUT_SECONDS = 900


# A mutant's change of a source file: the file's path, its text before and
# after.
Change = collections.namedtuple('Change', 'mutant file old new')


def read_sources(programs):
  """Returns the sources of `programs` by path, as mutant.Source, without tests.
  """
  found = {}
  for program in programs:
    for path in program.sources:
      if path not in found and not build.is_test(path):
        with open(os.path.join(ROOT, path), encoding='utf-8') as file:
          found[path] = mutant_lib.Source(file.read())
  return found


def changes(chosen, sources):
  """Returns the Changes of the chosen mutants, and a line for each mutant that
  cannot be applied."""
  found, complaints = [], []
  for mutant in chosen:
    places = mutant.find(sources)
    if len(places) != 1:
      complaints.append('%s: %s: %d statements match %r in %s%s' % (
          mutant.folder, mutant.name, len(places), mutant.at,
          mutant.function or 'no function',
          ''.join('\n  %s: %s' % (path, sources[path].text[slice(*each.head)])
                  for path, each in places)))
      continue
    (path, statement), = places
    old = sources[path].text
    try:
      new = mutant.apply(old, statement)
    except ValueError as error:
      complaints.append('%s: %s: %s:\n  %s' % (
          path, mutant.name, error, old[slice(*statement.head)]))
      continue
    found.append(Change(mutant, path, old, new))
  return found, complaints


def difference(change):
  """Returns the change as a unified diff without context."""
  return ''.join(difflib.unified_diff(
      change.old.splitlines(True), change.new.splitlines(True), change.file,
      change.mutant.name, n=0))


def programs_of(change, programs):
  """Returns those of `programs` that contain the changed source."""
  return [program for program in programs if change.file in program.sources]


def _memory_folder():
  """Returns a folder in memory for the files of tests: on a disk, the tests of
  the journal take ten times as long. None: it does not have 1 GiB of room.
  """
  folder = '/dev/shm'
  has_room = os.path.isdir(folder) and shutil.disk_usage(folder).free > 2**30
  return folder if has_room else None


class House:
  """A copy of the sources. Each program is built without a mutant when the
  first Change needs it. Then each Change is built and run separately."""

  def __init__(self, jobs):
    self._jobs = jobs
    self._programs = build.programs(ROOT)
    self._building = threading.Lock()
    self._timeouts = {}  # time limits in seconds, by name of a built program

  def __enter__(self):
    self._folder = tempfile.TemporaryDirectory(prefix='mutation.')
    self._files = tempfile.TemporaryDirectory(prefix='mutation.',
                                              dir=_memory_folder())
    os.environ['TEST_TMPDIR'] = self._files.name
    self._sources = os.path.join(self._folder.name, 'sources')
    for top in ('base', 'rendezvous', 'agent', 'launcher', 'store',
                'trainer_sdk', 'models', 'tests/simulation'):
      shutil.copytree(os.path.join(ROOT, top), os.path.join(self._sources, top))
    self._objects = os.path.join(self._folder.name, 'objects')
    self._prelude = build.precompile(ROOT, self._folder.name)
    return self

  def __exit__(self, *unused):
    self._files.cleanup()
    self._folder.cleanup()

  def _timeout(self, program):
    """Returns the time limit of `program`, in seconds. Builds and runs the
    program without a mutant before."""
    with self._building:
      if program.name not in self._timeouts:
        build.compile_all(self._sources, program.sources, self._objects,
                          self._prelude, self._jobs)
        target = os.path.join(self._folder.name, program.name)
        build.link(program, [self._objects], target)
        started = time.monotonic()
        if self._fails(target, program, _UNCHANGED_TIMEOUT_SECONDS):
          raise RuntimeError('the %s fail without any mutant' % program.name)
        self._timeouts[program.name] = max(
            _MIN_TIMEOUT_SECONDS, 5 * (time.monotonic() - started))
      return self._timeouts[program.name]

  def kill(self, chosen, everybody):
    """Yields each Change with the names of the programs that noticed it."""
    with concurrent.futures.ThreadPoolExecutor(self._jobs) as pool:
      yield from zip(chosen, pool.map(
          lambda change: self._killers(change, everybody), chosen))

  def _killers(self, change, everybody):
    with tempfile.TemporaryDirectory(dir=self._folder.name) as folder:
      path = os.path.join(folder, change.file)
      os.makedirs(os.path.dirname(path))
      with open(path, 'w', encoding='utf-8') as file:
        file.write(change.new)
      errors = build.compile_file(
          self._sources, path,
          os.path.join(folder, build.object_name(change.file)), self._prelude)
      if errors:
        raise RuntimeError('%s does not compile:\n%s' % (
            change.mutant.name, errors))
      killers = []
      for program in programs_of(change, self._programs):
        timeout = self._timeout(program)
        target = os.path.join(folder, program.name)
        build.link(program, [folder, self._objects], target)
        if self._fails(target, program, timeout):
          killers.append(program.name)
          if not everybody:
            break
      return killers

  @staticmethod
  def _fails(target, program, timeout):
    try:
      return subprocess.run(
          [target] + program.arguments, stdout=subprocess.DEVNULL,
          stderr=subprocess.DEVNULL, timeout=timeout,
          check=False).returncode != 0
    except subprocess.TimeoutExpired:
      return True
