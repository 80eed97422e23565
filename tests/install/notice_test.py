#!/usr/bin/python3
"""Compares NOTICE with the programs: it lists exactly the libraries that they
link."""

import collections
import fnmatch
import glob
import os
import re
import subprocess
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import notice
import xml_main

_ROOT = os.path.join(_HERE, os.pardir, os.pardir)
# The folder of the built programs. Bazel runs a test in a folder with the same
# layout as bazel-bin.
_BUILT = os.getcwd()
_PROGRAMS = {
    'launch': 'launcher/launch',
    'agent': 'launcher/agent',
    'rendezvousd': 'rendezvous/daemon/rendezvousd',
    'muster-bench': 'trainer_sdk/bench/muster-bench',
    'libmuster_trainer_sdk.so':
        'trainer_sdk/library/libmuster_trainer_sdk.so.*',
    'libmuster_gloo.so': 'trainer_sdk/gloo/libmuster_gloo.so',
    'libmuster_cuda.so': 'trainer_sdk/cuda/libmuster_cuda.so',
    'gpt': 'models/trainer/gpt',
}

# A library that is built only if there is a CUDA toolkit.
_OPTIONAL = ('libmuster_cuda.so',)
# The folders in which g++ looks for static libraries on Debian.
_ARCHIVES = ('/usr/lib/x86_64-linux-gnu/', '/usr/lib/gcc/x86_64-linux-gnu/*/')
# _C_LIBRARY: names of libraries that are part of the C library. _NO_LIBRARY:
# names in ldd's output that are no files.
_C_LIBRARY = {'dl', 'm', 'pthread', 'rt'}
_NO_LIBRARY = {'linux-vdso.so.1'}
_LIMIT_S = 200


def said(*command):
  return subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True,
                        stderr=subprocess.DEVNULL, timeout=_LIMIT_S).stdout


def built():
  return [name for name in _PROGRAMS
          if name not in _OPTIONAL or glob.glob(os.path.join(_BUILT, _PROGRAMS[name]))]


def program_path(name):
  return glob.glob(os.path.join(_BUILT, _PROGRAMS[name]))[0]


def functions(path, *arguments):
  """Returns the functions that an archive or a program defines."""
  return set(re.findall(r'(?m)^[0-9a-f]+ [Tt] (\S+)$',
                        said('nm', '--defined-only', *arguments, path)))


def archives(patterns):
  return [path for pattern in patterns if pattern.endswith('.a')
          for folder in _ARCHIVES for path in glob.glob(folder + pattern)]


def linked_by_build_files():
  """Returns the libraries that the BUILD files outside of tests/ pass to the
  linker."""
  found = set()
  for folder, folders, names in os.walk(_ROOT):
    folders[:] = [f for f in folders if f not in ('.git', 'tests')
                  and not os.path.islink(os.path.join(folder, f))]
    if 'BUILD' in names and os.path.basename(folder) != 'bazel':
      with open(os.path.join(folder, 'BUILD'), encoding='utf-8') as file:
        found.update(re.findall(r'"-l:?([^"]+)"', file.read()))

  def library(linkopts=(), testonly=False, **_):
    if not testonly:
      found.update(re.sub('^-l:?', '', option) for option in linkopts
                   if option.startswith('-l'))

  # bazel/BUILD computes the lists of libraries that it passes to Bazel's
  # cc_library. So execute the file as Python, and let the function `library`
  # above take the calls of cc_library.
  with open(os.path.join(_ROOT, 'bazel', 'BUILD'), encoding='utf-8') as file:
    exec(file.read(),  # pylint: disable=exec-used
         collections.defaultdict(lambda: lambda *_, **__: None,
                                 cc_library=library))
  return found - _C_LIBRARY


class Tables(unittest.TestCase):

  def test_are_read(self):
    text = ('Contained: of\n\nLibrary  Licence  Found as  Package  Programs\n'
            'A b  MIT  liba.a libb.a  a-dev  launch agent\n\n\nLoaded: x\n')
    self.assertEqual(notice.rows_of(text, 'Contained'), [
        notice.Row('A b', 'MIT', ['liba.a', 'libb.a'], 'a-dev',
                   ['launch', 'agent'])])

  def test_every_package_has_its_licence_on_this_machine(self):
    for row in notice.rows('Contained') + notice.rows('Loaded'):
      with self.subTest(row.library):
        self.assertTrue(os.path.isfile(
            '/usr/share/doc/%s/copyright' % row.package))
        self.assertLessEqual(set(row.programs), set(_PROGRAMS))


class Contained(unittest.TestCase):

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.rows = notice.rows('Contained')
    cls.named = {name: sorted(row.library for row in cls.rows
                              if name in row.programs) for name in _PROGRAMS}

  def test_equals_what_the_programs_define(self):
    """A program contains a library if it defines a function that only this
    library has."""
    defined = {row.library: set().union(*[
        functions(path, '--extern-only') for path in archives(row.found)])
               for row in self.rows}
    seen = collections.Counter(
        name for names in defined.values() for name in names)
    for program in built():
      there = functions(program_path(program))
      symbols = said('nm', '--defined-only', program_path(program))
      found = []
      for row in self.rows:
        alone = {n for n in defined[row.library] if seen[n] == 1}
        spaces = [f[:-2] for f in row.found if f.endswith('::')]
        if alone & there or any(
            re.search(r' _ZNK?%d%s' % (len(space), space), symbols)
            for space in spaces):
          found.append(row.library)
      with self.subTest(program):
        self.assertEqual(self.named[program], sorted(found))

  def test_every_archive_is_there(self):
    for row in self.rows:
      for pattern in row.found:
        if pattern.endswith('.a'):
          self.assertTrue(archives([pattern]), pattern)

  def test_names_every_library_of_a_build_file(self):
    linked = linked_by_build_files()
    self.assertIn('libgrpc++.a', linked)
    self.assertIn('gloo', linked)
    patterns = [found for table in ('Contained', 'Loaded')
                for row in notice.rows(table) for found in row.found]
    unnamed = [name for name in linked if not any(
        fnmatch.fnmatch(name, p) or fnmatch.fnmatch('lib%s.so' % name,
                                                    re.sub(r'\.so\..*', '.so', p))
        for p in patterns)]
    self.assertEqual(unnamed, [])

  def test_names_the_package_of_every_header(self):
    headers = set()
    for path in said('git', '-C', _ROOT, 'ls-files', '*.h', '*.cc').split():
      if not path.startswith('tests/') and not path.endswith('_test.cc'):
        with open(os.path.join(_ROOT, path), encoding='utf-8') as file:
          headers.update(re.findall(r'(?m)^#include <([^>]+)>', file.read()))
    paths = [path for header in headers for path in (
        '/usr/include/' + header, '/usr/include/x86_64-linux-gnu/' + header)
             if os.path.exists(path)]
    packages = set(re.findall(r'(?m)^([^:\s]+)(?::\w+)?: ',
                              said('dpkg-query', '-S', *paths)))
    ours = {row.package for table in ('Contained', 'Loaded')
            for row in notice.rows(table)}
    # These packages need no row of their own in NOTICE. For Gloo, gRPC,
    # OpenBLAS and the C library, NOTICE names another package of the same
    # library, such as libgloo0 for libgloo-dev. The kernel's headers and
    # GoogleTest are not in the programs.
    self.assertEqual(packages - ours - {
        'libgloo-dev', 'libgrpc++-dev', 'libc6-dev', 'linux-libc-dev',
        'libgtest-dev', 'libgmock-dev', 'libopenblas-dev',
        'libopenblas-pthread-dev'}, set())


class Loaded(unittest.TestCase):

  def test_equals_what_ldd_says(self):
    rows = notice.rows('Loaded')
    for program in built():
      objects = {os.path.basename(line.split()[0]) for line in
                 said('ldd', program_path(program)).splitlines()} - _NO_LIBRARY
      patterns = [found for row in rows if program in row.programs
                  for found in row.found]
      with self.subTest(program):
        self.assertGreater(len(objects), 2)
        self.assertEqual([o for o in objects if not any(
            fnmatch.fnmatch(o, p) for p in patterns)], [], 'not in NOTICE')
        self.assertEqual([p for p in patterns if not fnmatch.filter(
            objects, p)], [], 'in NOTICE, but not loaded')


if __name__ == '__main__':
  xml_main.main()
