#!/usr/bin/python3
"""tools/compile_commands lists each source once, with a command that compiles
it."""

import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(_HERE, os.pardir, 'python')]

import source_tree
import xml_main

_TOOL = os.path.join(source_tree.root(), 'tools', 'compile_commands')
# A folder with several targets. It is small, because the test starts a new
# Bazel server to build it.
_FOLDER = 'base'
_LIMIT_S = 200


def tool():
  loader = importlib.machinery.SourceFileLoader('compile_commands', _TOOL)
  module = importlib.util.module_from_spec(
      importlib.util.spec_from_loader('compile_commands', loader))
  # The import of tools/compile_commands must not write a folder __pycache__
  # into the source tree.
  sys.dont_write_bytecode = True
  loader.exec_module(module)
  return module


def action(source, *options):
  return {'arguments': ['/usr/bin/gcc', *options, '-MD', '-MF', 'a.d',
                        '-frandom-seed=a.o', '-fno-canonical-system-headers',
                        '-c', source, '-o', 'a.o']}


class Entries(unittest.TestCase):

  def entries(self, *actions):
    return tool().compile_commands(actions, '/execroot')

  def test_a_source_of_two_targets_is_there_once(self):
    entries = self.entries(action('b.cc', '-O1'), action('a.cc'),
                           action('b.cc', '-O2'))
    self.assertEqual([entry['file'] for entry in entries], ['a.cc', 'b.cc'])
    self.assertIn('-O1', entries[1]['arguments'])

  def test_generated_sources_are_left_out(self):
    self.assertEqual(self.entries(action('bazel-out/k8/bin/a.pb.cc'),
                                  action('external/x/a.cc')), [])

  def test_outputs_and_precompiled_headers_go_and_folders_of_headers_stay(self):
    arguments = self.entries(action(
        'a.cc', '-iquote', '.', '-iquote', 'bazel-out/k8/bin', '-iquote',
        'external/bazel_tools', '-include', 'b.h', '-DA=1'))[0]['arguments']
    self.assertEqual(arguments, [
        '/usr/bin/gcc', '-iquote', '.', '-iquote', '/execroot/bazel-out/k8/bin',
        '-DA=1', '-c', 'a.cc', '-Wno-unknown-warning-option'])


class Written(unittest.TestCase):
  """Runs the tool with a separate Bazel server, since the server that runs this
  test is busy."""

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    folder = tempfile.TemporaryDirectory(dir=os.environ.get('TEST_TMPDIR'))
    cls.addClassCleanup(cls.make_removable, folder)
    cls.environment = {
        'PATH': os.environ['PATH'], 'HOME': folder.name,
        'BAZEL_STARTUP_FLAGS': '--batch --output_user_root=%s/user '
                               '--output_base=%s/base' % (folder.name,
                                                          folder.name)}
    cls.output = folder.name + '/compile_commands.json'
    cls.done = cls.run_tool('--no-build', '--output', cls.output,
                            '//%s/...' % _FOLDER)

  @staticmethod
  def make_removable(folder):
    subprocess.run(['chmod', '-R', 'u+w', folder.name], check=False)
    folder.cleanup()

  @classmethod
  def run_tool(cls, *arguments):
    return subprocess.run([_TOOL, *arguments], env=cls.environment, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=_LIMIT_S)

  def entries(self):
    self.assertEqual(self.done.returncode, 0, self.done.stdout)
    with open(self.output, encoding='utf-8') as file:
      return json.load(file)

  def test_names_each_source_once(self):
    sources = sorted(source.path for source in source_tree.all_sources()
                     if source.path.startswith(_FOLDER + '/')
                     and source.path.endswith('.cc'))
    self.assertGreater(len(sources), 5)
    self.assertEqual([entry['file'] for entry in self.entries()], sources)

  def test_a_command_compiles_with_gcc_and_with_clang(self):
    entry = min(self.entries(), key=lambda entry: len(entry['file']))
    for compiler in '/usr/bin/gcc', '/usr/bin/clang':
      done = subprocess.run(
          [compiler, *entry['arguments'][1:], '-fsyntax-only'],
          cwd=entry['directory'], stdout=subprocess.PIPE, check=False,
          stderr=subprocess.STDOUT, text=True, timeout=_LIMIT_S)
      self.assertEqual(done.returncode, 0, done.stdout)

  def test_git_ignores_the_file(self):
    done = subprocess.run(['git', '-C', source_tree.root(), 'check-ignore', '-q',
                           'compile_commands.json'], check=False,
                          timeout=_LIMIT_S)
    self.assertEqual(done.returncode, 0)


if __name__ == '__main__':
  xml_main.main()
