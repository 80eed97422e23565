#!/usr/bin/python3
"""BpeVocabulary gives the same tokens as Hugging Face's tokenizers."""

import glob
import os
import random
import subprocess
import sys
import tempfile
import unicodedata
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import interpreters
import xml_main

_OURS = os.path.realpath('tests/compat/bpe_tokens')
_ORACLE = os.path.join(_HERE, 'bpe_oracle.py')
_DOCS = os.path.join(_HERE, os.pardir, os.pardir, 'docs', '*.md')
_LIMIT_S = 120

_TEXTS = (
    'Hello, world!', ' leading', 'trailing ', 'trailing  ', '   ', '\n', '\n\n',
    'a\n\n\nb', 'a \n \n b', 'tab\tand\r\nline', '  two  three   four    ',
    "I'm you're he's it'll we've they'd isn't", "I'M YOU'RE 'tis ''s '' ' s",
    "'", "''", "'r", "'re", "'ll'", "!'s", " 's", "x'll y", "o'clock 'n' roll",
    '0123456789 3.14 1,000,000 x2 2x', 'snake_case CamelCase kebab-case',
    'naïve café Straße Ünïcödé', 'e\u0301 combining \u200dzero\u200bwidth',
    'Привет, мир! Γειά σου Κόσμε', '你好，世界。 こんにちは 안녕하세요',
    'مرحبا بالعالم שלום', '१२३ ٤٥٦ Ⅳ ½ ² ①', 'ﬁ ǅ ª',
    '😀 👩‍👩‍👧‍👦 🇩🇪 👍🏽', 'no\u00a0break\u2003em\u3000wide\u2028line\u0085next',
    '\u00a0', 'a\u00a0', '\u3000\u3000b', 'a\u180eb', '\x00\x01\x1c\x1f\x7f',
    '\ufeffbom', '\ufffd\ufffe\U0010ffff\U000e0001', '<|endoftext', '<| >',
    'a' * 1000, ' ' * 1000, ' ' * 1000 + 'x', 'ab' * 5000, '=' * 77,
)


def _random_texts(seed, count):
  """Yields short texts of characters that the splitting pattern treats
  differently."""
  draw = random.Random(seed)
  pieces = (" ", "  ", "\n", "\t", "'", "'s", "'ll", "'re", 'a', 'word', 'the',
            'Z', '1', '42', '½', '.', '--', '_', 'é', 'ß', '界', '😀', '\u00a0',
            '\u3000', '\u0301', '\u200d', '\x00', '٣', 'ǅ')
  for _ in range(count):
    yield ''.join(draw.choice(pieces) for _ in range(draw.randrange(1, 12)))


def _all_characters():
  """Yields every character of this Python's version of Unicode, six in each
  text.

  Characters that later versions of Unicode added are omitted: one library may
  treat them as letters, the other as unassigned.
  """
  known = [chr(code) for code in range(0x110000)
           if unicodedata.category(chr(code)) not in ('Cn', 'Cs')]
  for i in range(0, len(known), 6):
    yield 'a%s1 %s. %s\n%sb%s %s' % tuple((known[i:i + 6] + ['x'] * 6)[:6])


class Bpe(unittest.TestCase):

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.python = interpreters.PATHS[interpreters.NEW]
    try:
      missing = subprocess.run(
          [cls.python, '-c', 'import importlib.util as u, sys;'
           'sys.exit(u.find_spec("tokenizers") is None)'], check=False).returncode
    except OSError:
      missing = 1
    if missing:
      raise unittest.SkipTest('no tokenizers at %s (tools/setup_torch2 installs '
                              'it)' % cls.python)
    folder = tempfile.TemporaryDirectory(dir=os.environ.get('TEST_TMPDIR'))
    cls.addClassCleanup(folder.cleanup)
    cls.folder = folder.name
    cls.documents = []
    for path in sorted(glob.glob(_DOCS)):
      with open(path, encoding='utf-8') as file:
        cls.documents.append(file.read())
    text = ''.join(cls.documents) + ' '.join(_TEXTS) * 3
    cls.run_python('train', cls.folder, '1500', given=text.encode('utf-8'))

  @classmethod
  def run_python(cls, *arguments, given):
    return subprocess.run((cls.python, _ORACLE) + arguments, input=given,
                          timeout=_LIMIT_S, check=True, stdout=subprocess.PIPE,
                          env=interpreters.environment()).stdout

  def compare(self, texts):
    texts = list(texts)
    encoded = [text.encode('utf-8') for text in texts]
    given = b''.join(b'%d\n%s' % (len(text), text) for text in encoded)
    theirs = self.run_python('encode', self.folder, given=given)
    ours = subprocess.run(
        [_OURS, self.folder + '/vocab.json', self.folder + '/merges.txt'],
        input=given, timeout=_LIMIT_S, check=True,
        stdout=subprocess.PIPE).stdout
    theirs, ours = theirs.splitlines(), ours.splitlines()
    self.assertEqual(len(theirs), len(texts))
    self.assertEqual(len(ours), len(texts))
    for text, mine, oracle in zip(texts, ours, theirs):
      self.assertEqual(mine, oracle, repr(text[:200]))

  def test_texts(self):
    self.compare(_TEXTS)

  def test_documents(self):
    self.assertTrue(self.documents)
    self.compare(self.documents)

  def test_edges_of_the_pattern(self):
    self.compare(_random_texts(1, 5000))

  def test_every_character(self):
    self.compare(_all_characters())


if __name__ == '__main__':
  xml_main.main()
