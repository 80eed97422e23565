#!/usr/bin/python3
"""Checks the project's pages: linked and named files exist, and versions agree.
"""

import os
import re
import sys
import unittest

sys.path[:0] = [os.path.join(
    os.path.dirname(os.path.realpath(__file__)), os.pardir, 'python')]

import documents
import source_tree
import xml_main

# Pages in which every named path and target must exist. Other pages also name
# files of users and of other projects.
_NAMING = ('README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'docs/README.md',
           'docs/ARCHITECTURE.md')


def read(path):
  with open(os.path.join(source_tree.root(), path), encoding='utf-8') as file:
    return file.read()


def all_files():
  found = set()
  for folder, folders, names in os.walk(source_tree.root()):
    folders[:] = [f for f in folders if f not in ('.git', '__pycache__') and
                  not os.path.islink(os.path.join(folder, f))]
    found.update(os.path.relpath(os.path.join(folder, n), source_tree.root())
                 for n in names)
  return found


class RulesFire(unittest.TestCase):
  """Tests that each rule rejects what it forbids and accepts what it allows."""

  TREE = {'README.md', 'docs/A.md', 'tools/test', 'agent/BUILD',
          'agent/logs/BUILD', 'agent/logs/a.cc', 'launcher/plan.h'}
  PAGE = '# A page\n\n## Two words, `code`\n\n## Two words, `code`\n'

  def links(self, text, path='README.md'):
    return list(documents.links(path, text, {'docs/A.md': self.PAGE,
                                             'README.md': text}, self.TREE))

  def named(self, text):
    return list(documents.named_paths('README.md', text, self.TREE,
                                      lambda path: 'name = "logs_test"'))

  def test_links(self):
    for good in ('[a](docs/A.md)', '[a](docs)', '[a](docs/A.md#a-page)',
                 '[a](docs/A.md#two-words-code)', '`[a](b.md)`',
                 '[a](docs/A.md#two-words-code-1)', '[a](https://b/c.md)',
                 '```\n[a](b.md)\n```\n', '# B c\n\n[a](#b-c)\n'):
      self.assertEqual(self.links(good), [], good)
    for bad in '[a](docs/B.md)', '[a](docs/A.md#b)', '# B\n\n[a](#c)\n':
      self.assertEqual(len(self.links(bad)), 1, bad)
    self.assertEqual(self.links('[a](../README.md)', 'docs/A.md'), [])
    self.assertTrue(self.links('[a](README.md)', 'docs/A.md'))

  def test_named_paths(self):
    for good in ('`tools/test asan`', '`agent/logs/`', '`launcher/plan`',
                 '`//agent/...`', '`//agent/logs:logs_test`', 'tools/none',
                 '`agent/*/a.cc`', '`/etc/tools/none`', '`other/none`',
                 '```\nbazel-bin/agent/logs_test\n```', '`agent/logs.`'):
      self.assertEqual(self.named(good), [], good)
    for bad in ('`tools/none`', '`//agent/none/...`', '`//agent/logs:none`',
                '`agent/*/b.cc`', '```\ntools/none\n```', '`//agent`',
                '```\nbazel-bin/agent/none\n```'):
      self.assertEqual(len(self.named(bad)), 1, bad)

  def test_readme_length(self):
    self.assertEqual(list(documents.readme_length(
        'README.md', '\n' * documents.MAX_README_LINES)), [])
    self.assertTrue(list(documents.readme_length(
        'README.md', '\n' * (documents.MAX_README_LINES + 1))))

  def test_index(self):
    pages = ['docs/A.md', 'docs/README.md', 'README.md']
    self.assertEqual(list(documents.index(pages, '[a](A.md)')), [])
    self.assertTrue(list(documents.index(pages, '[b](B.md)')))


class Pages(unittest.TestCase):

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.tree = all_files()
    cls.texts = {path: read(path) for path in cls.tree if path.endswith('.md')}

  def assert_none(self, complaints):
    if complaints:
      self.fail('\n' + '\n'.join(complaints))

  def test_links_lead_somewhere(self):
    self.assert_none([
        complaint for path, text in sorted(self.texts.items())
        for complaint in documents.links(path, text, self.texts, self.tree)])

  def test_named_paths_and_targets_exist(self):
    self.assert_none([
        complaint for path in _NAMING for complaint in documents.named_paths(
            path, self.texts[path], self.tree, read)])

  def test_readme_is_short(self):
    self.assert_none(list(documents.readme_length(
        'README.md', self.texts['README.md'])))

  def test_index_is_complete(self):
    self.assert_none(list(documents.index(self.texts,
                                          self.texts['docs/README.md'])))


class Versions(unittest.TestCase):
  """rendezvous/version.h defines the version. All other places must agree with
  it."""

  def test_agree(self):
    version = re.search(r'kVersion\[\] = "([^"]+)"',
                        read('rendezvous/version.h')).group(1)
    for path, pattern in (
        ('CHANGELOG.md', r'(?m)^## \[(\d[^\]]*)\]'),
        ('tools/install', r'(?m)^VERSION=(.*)$'),
        ('trainer_sdk/library/BUILD', r'\bversion = "([^"]+)"'),
        ('deploy/kubernetes/helm/muster/Chart.yaml', r'(?m)^version: (.*)$')):
      with self.subTest(path):
        self.assertEqual(re.search(pattern, read(path)).group(1), version)


if __name__ == '__main__':
  xml_main.main()
