#!/usr/bin/python3
"""docs/MIGRATING.md lists every flag of the real launchers, and `launch` under
their names accepts those of torchrun and deepspeed."""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
_ROOT = os.path.dirname(os.path.dirname(_HERE))
sys.path[:0] = [_HERE, os.path.join(_ROOT, 'tests', 'python')]

import frameworks
import interpreters
import launched
import xml_main

_PAGE = os.path.realpath('docs/MIGRATING.md')
# Code that prints a list [option strings, takes_value] for each flag of an
# argparse parser. takes_value: whether the flag takes a value.
_LIST = '''
import argparse, json
def flags(parser):
  return [[a.option_strings, a.nargs != 0] for a in parser._actions
          if a.option_strings]
print(json.dumps(flags(%s)))
'''
_TORCHRUN = ('from torch.distributed.run import get_args_parser' +
             _LIST % 'get_args_parser()')
_ACCELERATE = ('from accelerate.commands.launch import launch_command_parser' +
               _LIST % 'launch_command_parser()')
# Code that records DeepSpeed's argparse parser. DeepSpeed creates the parser
# inside of parse_args, so it must be recorded there.
_DEEPSPEED = '''
import argparse
from deepspeed.launcher import runner
made = []
parse = argparse.ArgumentParser.parse_args
argparse.ArgumentParser.parse_args = lambda self, *a, **k: made.append(self)
runner.parse_args([])
''' + _LIST % 'made[0]'


def section(title):
  with open(_PAGE, encoding='utf-8') as page:
    text = page.read()
  start = text.index('\n## %s\n' % title)
  return text[start:text.index('\n## ', start + 4)]


def flags_of(python, program):
  done = subprocess.run([python, '-c', program], text=True, check=True,
                        env=frameworks.environment(),
                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
  return json.loads(done.stdout.splitlines()[-1])


class Migrating(unittest.TestCase):

  def check_page(self, title, names):
    """Checks that each flag, in at least one spelling, is in the tables of the
    section `title`."""
    listed = set(re.findall(r'`(-[^`]*)`', section(title)))
    prefixes = [name[:-1] for name in listed if name.endswith('*')]
    for spellings in names:
      known = any(spelling in listed or
                  any(spelling.startswith(p) for p in prefixes)
                  for spelling in spellings)
      self.assertTrue(known, '%s: MIGRATING.md lacks it' % spellings)

  def check_taken(self, name, flags):
    """Checks that `launch`, called as `name`, accepts all `flags`.

    --help comes last, so that nothing is run. An unknown flag before it is an
    error.
    """
    command = [launched.called(self, name)]
    for spellings, takes_value in flags:
      for spelling in spellings:
        if not spelling.startswith(('-h', '--help', '--print')):
          command += [spelling] + ['1'] * takes_value
    launched.run(self, command + ['--help'], interpreters.environment())

  def check_torchrun(self, version):
    if interpreters.why_not(version):
      self.skipTest(interpreters.why_not(version))
    flags = flags_of(interpreters.PATHS[version], _TORCHRUN)
    self.assertGreater(len(flags), 15)
    self.check_page('torchrun', [
        [s.replace('_', '-') for s in spellings] for spellings, _ in flags])
    self.check_taken('torchrun', flags)

  def test_torchrun_1_13(self):
    self.check_torchrun(interpreters.OLD)

  def test_torchrun_2_x(self):
    self.check_torchrun(interpreters.NEW)

  def need_frameworks(self):
    why_not = frameworks.why_not(frameworks.ACCELERATE_DEEPSPEED)
    if why_not:
      self.skipTest(why_not)
    return frameworks.python(frameworks.ACCELERATE_DEEPSPEED)

  def test_deepspeed(self):
    flags = flags_of(self.need_frameworks(), _DEEPSPEED)
    self.assertGreater(len(flags), 20)
    self.check_page('deepspeed', [spellings for spellings, _ in flags])
    self.check_taken('deepspeed', flags)

  def test_accelerate(self):
    flags = flags_of(self.need_frameworks(), _ACCELERATE)
    self.assertGreater(len(flags), 100)
    self.check_page('accelerate launch', [spellings for spellings, _ in flags])

  def test_mpirun(self):
    if not shutil.which('mpirun'):
      self.skipTest('no mpirun (openmpi-bin; tools/setup installs it)')
    text = launched.run(
        self, ['mpirun', '--allow-run-as-root', '--help', 'full'],
        interpreters.environment())
    flags = [names.split('|') for names in
             re.findall(r'^ +(-[\w|-]+)(?: |$)', text, re.MULTILINE)]
    self.assertGreater(len(flags), 60)
    self.check_page('mpirun', flags)


if __name__ == '__main__':
  xml_main.main()
