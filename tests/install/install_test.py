#!/usr/bin/python3
"""Tests tools/install, and links a program outside of the source tree with the
installed SDK."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import notice
import xml_main

_ROOT = os.path.join(_HERE, os.pardir, os.pardir)
_INSTALL = os.path.join(_ROOT, 'tools', 'install')
_WORKER = os.path.join(_HERE, 'outside_worker.cc')
_GPU_WORKER = os.path.join(_HERE, os.pardir, os.pardir, 'examples', 'gpu',
                           'line_on_gpus.cc')
_DOCUMENTED = os.path.join(_HERE, 'documented.cc')
# The folder of the built programs. Bazel runs a test in a folder with the same
# layout as bazel-bin.
_BUILT = os.getcwd()
# The SDK's library for GPUs. It is built only on machines with a CUDA toolkit.
_CUDA = _BUILT + '/trainer_sdk/cuda/libmuster_cuda.so'
_LIMIT_S = 200
_NOBODY = 65534
_WARNINGS = ['-std=c++20', '-Wall', '-Wextra', '-Werror',
             '-Wno-maybe-uninitialized']


def run(*command, **options):
  options = {'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT,
             'text': True, 'timeout': _LIMIT_S, 'check': False, **options}
  return subprocess.run(command, **options)


def temporary_folder(case):
  folder = tempfile.TemporaryDirectory(dir=os.environ.get('TEST_TMPDIR'))
  case.addClassCleanup(folder.cleanup)
  return folder.name


def environment(**changes):
  """Returns this process's environment without the variables of launchers."""
  kept = {name: value for name, value in os.environ.items()
          if name in ('PATH', 'HOME', 'LANG', 'MUSTER_PY_SPY_DIR')}
  return {**kept, **changes}


def files_below(folder):
  found = {}
  for path, _, names in os.walk(folder):
    for name in names:
      full = os.path.join(path, name)
      found[os.path.relpath(full, folder)] = os.lstat(full).st_mode
  return found


class Install(unittest.TestCase):

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.prefix = temporary_folder(cls) + '/usr'
    cls.done = run(_INSTALL, '--built', _BUILT, cls.prefix)
    if cls.done.returncode:
      raise AssertionError(cls.done.stdout)
    cls.files = files_below(cls.prefix)

  def test_puts_everything_at_its_place(self):
    for name in ('bin/launch', 'bin/agent', 'bin/rendezvousd',
                 'bin/muster-bench', 'lib/libmuster_gloo.so',
                 'lib/libmuster_nccl_profiler.so'):
      self.assertEqual(self.files[name] & 0o7777, 0o755)
    for name in ('include/muster/trainer_sdk/session/session.h',
                 'include/muster/base/time.h', 'lib/libmuster_trainer_sdk.a',
                 'lib/pkgconfig/muster-trainer-sdk.pc',
                 'share/doc/muster/LICENSE', 'share/doc/muster/NOTICE',
                 'share/doc/muster/libgrpc-dev'):
      self.assertEqual(self.files[name] & 0o7777, 0o644)
    self.assertTrue(os.path.exists(self.prefix + '/lib/libmuster_trainer_sdk.so'))

  def test_has_the_plugin_for_gpus_where_there_is_a_toolkit(self):
    has = 'lib/libmuster_cuda.so' in self.files
    self.assertEqual(has, os.path.exists(_CUDA))
    self.assertIn('libmuster_cuda.so (for OpenCudaDevice' if has else
                  'no libmuster_cuda.so: no CUDA toolkit was found',
                  self.done.stdout)

  def test_has_the_licences_of_what_it_contains_and_no_others(self):
    there = {os.path.basename(name) for name in self.files
             if name.startswith('share/doc/muster/')}
    contained = {row.package for row in notice.rows('Contained')}
    self.assertEqual(there, {'LICENSE', 'NOTICE'} | contained)
    for name in 'LICENSE', 'NOTICE':
      with open(os.path.join(_ROOT, name), encoding='utf-8') as ours, \
           open(self.prefix + '/share/doc/muster/' + name,
                encoding='utf-8') as installed:
        self.assertEqual(ours.read(), installed.read())

  def test_says_what_it_did(self):
    self.assertIn('%s/bin            launch agent rendezvousd muster-bench'
                  % self.prefix, self.done.stdout)
    self.assertIn('pkg-config --cflags --libs muster-trainer-sdk',
                  self.done.stdout)

  def test_versions_agree(self):
    with open(self.prefix + '/lib/pkgconfig/muster-trainer-sdk.pc',
              encoding='utf-8') as file:
      version = re.search(r'(?m)^Version: (.*)$', file.read()).group(1)
    self.assertIn(version, run(self.prefix + '/bin/launch', '--version').stdout)
    self.assertIn('lib/libmuster_trainer_sdk.so.' + version, self.files)

  def test_has_what_the_documentation_includes(self):
    included = []
    for path in ('docs/SDK.md', 'examples/progress/train.cc',
                 'examples/gpu/line_on_gpus.cc',
                 'examples/tutorial/tutorial.cc'):
      with open(os.path.join(_ROOT, path), encoding='utf-8') as file:
        text = file.read()
      included += re.findall(r'(?m)^#include "([^"]+)"', text)
      included += re.findall(r'`(trainer_sdk/[\w/]+\.h)`', text)
    self.assertIn('trainer_sdk/ddp/reducer.h', included)
    self.assertEqual([header for header in included
                      if 'include/muster/' + header not in self.files], [])

  def test_nothing_of_tests_is_public(self):
    for name in self.files:
      self.assertNotRegex(name, r'testing/|_test\.h|fake_')

  def test_again_changes_nothing_and_drops_old_headers(self):
    prefix = temporary_folder(type(self))
    for _ in range(2):
      done = run(_INSTALL, '--built', _BUILT, prefix)
      self.assertEqual(done.returncode, 0, done.stdout)
      self.assertEqual(files_below(prefix), self.files)
      for old in '/include/muster/old.h', '/share/doc/muster/old':
        with open(prefix + old, 'w', encoding='utf-8'):
          pass

  def test_destdir_goes_before_the_prefix(self):
    folder = temporary_folder(type(self))
    done = run(_INSTALL, '--built', _BUILT, '/opt/muster',
               env=environment(DESTDIR=folder))
    self.assertEqual(done.returncode, 0, done.stdout)
    self.assertEqual(files_below(folder + '/opt/muster'), self.files)
    with open(folder + '/opt/muster/lib/pkgconfig/muster-trainer-sdk.pc',
              encoding='utf-8') as file:
      self.assertIn('prefix=/opt/muster\n', file.read())

  def test_help(self):
    done = run(_INSTALL, '--help')
    self.assertEqual(done.returncode, 0)
    self.assertIn('tools/install PREFIX', done.stdout)
    self.assertIn('DESTDIR', done.stdout)

  def test_wrong_arguments_are_refused(self):
    for arguments, complaint in (
        ([], 'where to?'), (['--fast'], "unknown option '--fast'"),
        (['/a', '/b'], "two places, '/a' and '/b'"),
        (['--built'], '--built wants a folder')):
      done = run(_INSTALL, *arguments)
      self.assertEqual(done.returncode, 2, done.stdout)
      self.assertIn(complaint, done.stdout)
      self.assertIn('usage: tools/install', done.stdout)

  def test_a_place_with_white_space_is_refused(self):
    done = run(_INSTALL, '--built', _BUILT, self.prefix + '/a b')
    self.assertEqual(done.returncode, 1)
    self.assertIn('white space', done.stdout)

  def test_file_in_place_of_a_folder_is_named(self):
    done = run(_INSTALL, '--built', _BUILT, self.prefix + '/bin/launch')
    self.assertEqual(done.returncode, 1)
    self.assertIn('is in the way', done.stdout)

  def test_without_the_right_to_write_nothing_changes(self):
    with tempfile.TemporaryDirectory(dir='/tmp') as folder:
      os.chmod(folder, 0o755)
      os.mkdir(folder + '/tools')
      shutil.copy(_INSTALL, folder + '/tools/install')
      os.mkdir(folder + '/prefix', 0o755)
      who = {}
      if os.getuid() == 0:
        who = {'user': _NOBODY, 'group': _NOBODY, 'extra_groups': []}
      else:
        os.chmod(folder + '/prefix', 0o555)
      done = run(folder + '/tools/install', folder + '/prefix/usr', cwd='/',
                 **who)
      self.assertEqual(done.returncode, 1, done.stdout)
      self.assertIn("may not write to '%s/prefix" % folder, done.stdout)
      self.assertIn('Nothing was changed', done.stdout)
      self.assertEqual(files_below(folder + '/prefix'), {})

  def test_missing_build_output_is_named(self):
    with tempfile.TemporaryDirectory() as folder:
      done = run(_INSTALL, '--built', folder, folder + '/prefix')
    self.assertEqual(done.returncode, 1)
    self.assertIn("launcher/launch' is not there", done.stdout)


class Libraries(unittest.TestCase):
  """Tests the symbols and dependencies of the static and the shared library."""

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.lib = _BUILT + '/trainer_sdk/library/libmuster_trainer_sdk'

  def symbols(self, *arguments):
    return run('nm', '--demangle', *arguments, check=True,
               stderr=subprocess.DEVNULL).stdout

  def test_neither_has_grpc_or_protobuf(self):
    for file in '.a', '.so.0.1.0':
      names = self.symbols(self.lib + file)
      self.assertIn('muster::Session::FromEnvironment', names)
      self.assertNotRegex(names, r'\bgrpc|google::protobuf')
    self.assertNotRegex(run('ldd', self.lib + '.so.0.1.0').stdout,
                        'grpc|protobuf|not found')

  def test_the_shared_one_shows_our_namespace_only(self):
    names = self.symbols('--dynamic', '--defined-only', self.lib + '.so.0.1.0')
    shown = [line.split(' ', 2)[2] for line in names.splitlines()]
    self.assertGreater(len(shown), 100)
    pattern = r'(\w+ (\w+ )?for )?muster::'
    self.assertEqual([name for name in shown if not re.match(pattern, name)],
                     [])

  def test_the_static_one_defines_our_namespace_only(self):
    # All strong symbols must be in the namespace muster. Weak symbols
    # (templates, inline functions) may belong to any library.
    names = self.symbols('--defined-only', '--extern-only', self.lib + '.a')
    strong = re.findall(r'(?m)^[0-9a-f]+ [TDBRC] (.*)$', names)
    self.assertGreater(len(strong), 100)
    self.assertEqual([name for name in strong if not re.match('muster::', name)],
                     [])

  def test_none_needs_gloo_or_a_library_of_models(self):
    for file in (self.lib + '.so.0.1.0', _BUILT + '/launcher/launch',
                 _BUILT + '/launcher/agent',
                 _BUILT + '/rendezvous/daemon/rendezvousd',
                 _BUILT + '/trainer_sdk/bench/muster-bench'):
      loaded = run('ldd', file).stdout
      with self.subTest(file):
        self.assertIn('libc.so', loaded)
        self.assertNotRegex(loaded, r'(?i)gloo|blas|utf8proc|cuda')

  @unittest.skipUnless(os.path.exists(_CUDA), 'no CUDA toolkit')
  def test_cudas_plugin_shows_one_function_and_contains_the_runtime(self):
    shown = run('nm', '--dynamic', '--defined-only', _CUDA).stdout
    self.assertEqual(re.findall(r'(?m) [TW] (\S+)$', shown),
                     ['MusterCudaPlugin'])
    self.assertNotRegex(run('ldd', _CUDA).stdout, 'libcuda|absl|not found')

  def test_gloos_plugin_shows_its_function_and_the_one_that_it_replaces(self):
    shown = run('nm', '--dynamic', '--defined-only', '--demangle', _BUILT +
                '/trainer_sdk/gloo/libmuster_gloo.so').stdout
    self.assertEqual(re.findall(r'(?m) T (\S+)$', shown),
                     ['MusterGlooPlugin',
                      'gloo::transport::tcp::Address::fromPeerName(int)'])

  def test_the_shared_one_has_its_name(self):
    self.assertIn('Library soname: [libmuster_trainer_sdk.so.0.1]',
                  run('readelf', '-d', self.lib + '.so.0.1.0').stdout)


class Gloo(unittest.TestCase):
  """Tests the Gloo plugin, which is loaded when a program chooses this
  transport."""

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.prefix = temporary_folder(cls) + '/usr'
    run(_INSTALL, '--built', _BUILT, cls.prefix, check=True)
    cls.plugin = cls.prefix + '/lib/libmuster_gloo.so'

  def bench(self, **changes):
    return run(self.prefix + '/bin/launch', 'bench', '--standalone',
               '--nproc-per-node=2', 'all_reduce', '--transport=gloo',
               '-b', '8', '-e', '8', '-n', '1', env=environment(**changes))

  def test_works_as_it_was_installed(self):
    done = self.bench()
    self.assertEqual(done.returncode, 0, done.stdout)
    self.assertIn('transport gloo', done.stdout)

  def test_missing_plugin_is_named(self):
    moved = self.prefix + '/moved'
    os.mkdir(moved)
    os.rename(self.plugin, moved + '/libmuster_gloo.so')
    try:
      done = self.bench()
      self.assertNotEqual(done.returncode, 0, done.stdout)
      self.assertIn('the Gloo transport needs libmuster_gloo.so, which is '
                    'neither in %s/bin nor in' % self.prefix, done.stdout)
      self.assertIn("Muster's tools/install puts it into PREFIX/lib",
                    done.stdout)
      done = self.bench(LD_LIBRARY_PATH=moved)
      self.assertEqual(done.returncode, 0, done.stdout)
    finally:
      os.rename(moved + '/libmuster_gloo.so', self.plugin)
      os.rmdir(moved)

  def test_unloadable_plugin_is_named(self):
    kept = self.plugin + '.kept'
    os.rename(self.plugin, kept)
    try:
      with open(self.plugin, 'w', encoding='utf-8') as file:
        file.write('nothing')
      done = self.bench()
      self.assertNotEqual(done.returncode, 0, done.stdout)
      self.assertIn('libmuster_gloo.so cannot be loaded: ', done.stdout)
      self.assertIn('install libgloo (Debian: libgloo0)', done.stdout)
    finally:
      os.replace(kept, self.plugin)


class OutsideProgram(unittest.TestCase):
  """Tests a program that is built by g++ and pkg-config outside of the source
  tree."""

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    if shutil.which('pkg-config') is None:
      raise unittest.SkipTest('no pkg-config (Debian: pkgconf)')
    cls.folder = temporary_folder(cls)
    cls.prefix = cls.folder + '/usr'
    run(_INSTALL, '--built', _BUILT, cls.prefix, check=True)
    shutil.copy(_WORKER, cls.folder + '/worker.cc')
    cls.compile(['-c', 'worker.cc', '-o', 'worker.o'])

  @classmethod
  def flags(cls, *arguments):
    return run('pkg-config', *arguments, 'muster-trainer-sdk', check=True,
               env=environment(PKG_CONFIG_PATH=cls.prefix + '/lib/pkgconfig'),
               ).stdout.split()

  @classmethod
  def compile(cls, arguments, libraries=()):
    done = run('g++', *_WARNINGS, *arguments, *cls.flags('--cflags'),
               *libraries, cwd=cls.folder, env=environment())
    if done.returncode:
      raise AssertionError(done.stdout)

  def run_on_two_ranks(self, program, **changes):
    done = run(self.prefix + '/bin/launch', '--standalone', '--nproc-per-node',
               '2', program, cwd=self.folder,
               env=environment(**changes))
    self.assertEqual(done.returncode, 0, done.stdout)
    self.assertIn('sum 3, average 0.5, weight 0.899', done.stdout)

  def test_with_the_shared_library(self):
    self.compile(['worker.o', '-o', 'shared'], self.flags('--libs'))
    self.assertIn('libmuster_trainer_sdk.so.0.1',
                  run('readelf', '-d', self.folder + '/shared').stdout)
    self.run_on_two_ranks('./shared', LD_LIBRARY_PATH=self.prefix + '/lib')

  def test_with_the_static_library(self):
    self.compile(['worker.o', '-o', 'static'], self.flags(
        '--libs', '--static',
        '--define-variable=sdk=-l:libmuster_trainer_sdk.a'))
    self.assertNotIn('libmuster_trainer_sdk',
                     run('readelf', '-d', self.folder + '/static').stdout)
    self.run_on_two_ranks('./static', LD_LIBRARY_PATH=self.prefix + '/lib')

  def test_the_static_library_names_all_that_it_needs(self):
    # Link the whole archive, even the parts that worker.o does not use: the
    # flags from pkg-config must name every library that any part of the archive
    # needs.
    self.compile(['worker.o', '-o', 'whole', '-Wl,--whole-archive',
                  self.prefix + '/lib/libmuster_trainer_sdk.a',
                  '-Wl,--no-whole-archive'],
                 self.flags('--libs', '--static', '--define-variable=sdk='))

  def test_the_tutorial(self):
    self.compile(['-o', 'tutorial', os.path.join(
        _ROOT, 'examples', 'tutorial', 'tutorial.cc')],
                 self.flags('--libs'))
    done = run(self.folder + '/tutorial', env=environment(
        LD_LIBRARY_PATH=self.prefix + '/lib'))
    self.assertRegex(done.stdout, r'y = (2\.9|3).* x \+ (1\.9|2)')

  def test_opening_a_gpu_says_what_is_missing(self):
    self.compile([_GPU_WORKER, '-o', 'gpu'], self.flags('--libs'))
    plugin = self.prefix + '/lib/libmuster_cuda.so'
    path = {'LD_LIBRARY_PATH': self.prefix + '/lib'}
    if os.path.exists(plugin):
      # The program may succeed, on a machine with the GPUs that it needs. On
      # other machines it must fail with one of the errors below: there is no
      # driver, or a CUDA call fails.
      done = run(self.folder + '/gpu', env=environment(**path))
      if done.returncode:
        self.assertRegex(done.stdout, 'UNAVAILABLE: (no NVIDIA driver|cuda)')
      os.rename(plugin, plugin + '.moved')
    try:
      done = run(self.folder + '/gpu', env=environment(**path))
      self.assertEqual(done.returncode, 1, done.stdout)
      self.assertIn('needs libmuster_cuda.so, which is neither in %s/lib nor '
                    'in' % self.prefix, done.stdout)
      self.assertIn('if it finds the CUDA toolkit', done.stdout)
    finally:
      if os.path.exists(plugin + '.moved'):
        os.rename(plugin + '.moved', plugin)

  def test_documented_code_compiles(self):
    with open(_DOCUMENTED, encoding='utf-8') as file:
      compiled = file.read()
    with open(os.path.join(_ROOT, 'docs', 'SDK.md'), encoding='utf-8') as file:
      text = file.read()
    with open(_GPU_WORKER, encoding='utf-8') as file:
      gpu_worker = file.read()
    found_gpu_worker = False
    blocks = re.findall(r'(?ms)^```c\+\+\n(.*?)^```$',
                        text[text.index('\n## Session\n'):])
    self.assertGreater(len(blocks), 12)
    for block in blocks:
      # Skip this example: it shows test code, which is not part of the
      # installed SDK.
      if block.startswith('INSTANTIATE_TEST_SUITE_P'):
        continue
      # Skip the example of a GPU worker: another test compiles it.
      if block == gpu_worker:
        found_gpu_worker = True
        continue
      includes = re.findall(r'(?m)^#include .*\n', block)
      for include in includes:
        self.assertIn(include, compiled)
      body = re.sub(r'(?m)\A(#include .*\n)+\n', '', block)
      self.assertIn(textwrap.indent(body, '  '), compiled)
    self.assertTrue(found_gpu_worker, 'docs/SDK.md differs from its program')
    self.compile(['-fsyntax-only', _DOCUMENTED])

  def test_every_header_stands_alone(self):
    top = self.prefix + '/include/muster'
    headers = sorted(files_below(top))
    self.assertGreater(len(headers), 50)
    # Include each header twice, so that a missing include guard is found.
    with open(self.folder + '/all.cc', 'w', encoding='utf-8') as file:
      file.writelines('#include "%s"\n' % header
                      for header in headers + headers[::-1])
    self.compile(['-fsyntax-only', 'all.cc'])


if __name__ == '__main__':
  xml_main.main()
