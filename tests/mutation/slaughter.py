"""Applies mutants one at a time and finds out who notices."""

import concurrent.futures
import os
import shutil
import subprocess
import tempfile

import build

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))

# A mutant that waits for ever, or runs in circles, is noticed as well.
_PATIENCE_SECONDS = 60


def _read(root, path):
  with open(os.path.join(root, path), encoding='utf-8') as file:
    return file.read()


def mismatches(mutant):
  """Why `mutant` cannot be applied, if so."""
  times = len(mutant.places(_read(ROOT, mutant.file)))
  if times != 1:
    yield '%s: %s: its text occurs %d times, not once:\n%s' % (
        mutant.file, mutant.name, times, mutant.old)


def programs_of(chosen):
  """The programs that have a source of a chosen mutant; no other is built."""
  files = {mutant.file for mutant in chosen}
  return [program for program in build.programs(ROOT)
          if files & set(program.sources)]


class House:
  """A copy of the sources, built once; then each mutant on its own."""

  def __init__(self, jobs, chosen):
    self._jobs = jobs
    self._chosen = chosen

  def __enter__(self):
    self._folder = tempfile.TemporaryDirectory(prefix='mutation.')
    self._sources = os.path.join(self._folder.name, 'sources')
    for top in ('base', 'rendezvous', 'agent', 'launcher', 'store',
                'trainer_sdk', 'models', 'tests/simulation'):
      shutil.copytree(os.path.join(ROOT, top), os.path.join(self._sources, top))
    self._programs = programs_of(self._chosen)
    self._objects = os.path.join(self._folder.name, 'objects')
    paths = {path for program in self._programs for path in program.sources}
    self._prelude = build.precompile(ROOT, self._folder.name)
    build.compile_all(self._sources, sorted(paths), self._objects,
                      self._prelude, self._jobs)
    for program in self._programs:
      target = os.path.join(self._folder.name, program.name)
      build.link(program, [self._objects], target)
      if self._fails(target, program):
        raise RuntimeError('the %s fail without any mutant' % program.name)
    return self

  def __exit__(self, *unused):
    self._folder.cleanup()

  def kill(self, chosen, everybody):
    """Yields each mutant with the names of those that noticed it, in order."""
    with concurrent.futures.ThreadPoolExecutor(self._jobs) as pool:
      yield from zip(chosen, pool.map(
          lambda mutant: self._killers(mutant, everybody), chosen))

  def _killers(self, mutant, everybody):
    with tempfile.TemporaryDirectory(dir=self._folder.name) as folder:
      path = os.path.join(folder, mutant.file)
      os.makedirs(os.path.dirname(path))
      with open(path, 'w', encoding='utf-8') as file:
        file.write(mutant.apply(_read(self._sources, mutant.file)))
      errors = build.compile_file(
          self._sources, path,
          os.path.join(folder, build.object_name(mutant.file)), self._prelude)
      if errors:
        raise RuntimeError('%s does not compile:\n%s' % (mutant.name, errors))
      killers = []
      for program in self._programs:
        if mutant.file not in program.sources:
          continue
        target = os.path.join(folder, program.name)
        build.link(program, [folder, self._objects], target)
        if self._fails(target, program):
          killers.append(program.name)
          if not everybody:
            break
      return killers

  @staticmethod
  def _fails(target, program):
    try:
      return subprocess.run(
          [target] + program.arguments, stdout=subprocess.DEVNULL,
          stderr=subprocess.DEVNULL, timeout=_PATIENCE_SECONDS,
          check=False).returncode != 0
    except subprocess.TimeoutExpired:
      return True
