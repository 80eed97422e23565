"""Trains or encodes with Hugging Face's byte-level BPE, for comparison with
Muster's.

  bpe_oracle.py train FOLDER SIZE   from the text on the standard input
  bpe_oracle.py encode FOLDER       as bpe_tokens.cc, for texts that are UTF-8
"""

import sys

import tokenizers


def _train(folder, size):
  text = sys.stdin.buffer.read().decode('utf-8')
  model = tokenizers.ByteLevelBPETokenizer()
  model.train_from_iterator(text.splitlines(keepends=True), vocab_size=size,
                            show_progress=False,
                            special_tokens=['<|endoftext|>'])
  model.save_model(folder)


def _encode(folder):
  model = tokenizers.ByteLevelBPETokenizer(
      folder + '/vocab.json', folder + '/merges.txt')
  while line := sys.stdin.buffer.readline():
    text = sys.stdin.buffer.read(int(line)).decode('utf-8')
    print(''.join('%d ' % token for token in model.encode(text).ids))


if __name__ == '__main__':
  if sys.argv[1] == 'train':
    _train(sys.argv[2], int(sys.argv[3]))
  else:
    _encode(sys.argv[2])
