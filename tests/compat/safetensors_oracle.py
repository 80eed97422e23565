"""Reads and writes safetensors files with Hugging Face's own libraries.

  safetensors_oracle.py read PATH     prints what is in a file, as
                                      safetensors_files.cc does
  safetensors_oracle.py write PATH    writes a file and prints the same of it
  safetensors_oracle.py loss FOLDER   the loss of a GPT2LMHeadModel, as
                                      precision.py's words have it; writes it
                                      again as FOLDER/again
"""

import os
import sys

import safetensors
from safetensors import torch as with_torch
import torch

from precision import Precision

_NAMES = {torch.bool: 'BOOL', torch.uint8: 'U8', torch.int8: 'I8',
          torch.float8_e5m2: 'F8_E5M2', torch.float8_e4m3fn: 'F8_E4M3',
          torch.float8_e8m0fnu: 'F8_E8M0', torch.int16: 'I16',
          torch.float8_e4m3fnuz: 'F8_E4M3FNUZ',
          torch.float8_e5m2fnuz: 'F8_E5M2FNUZ',
          torch.uint16: 'U16', torch.float16: 'F16', torch.bfloat16: 'BF16',
          torch.int32: 'I32', torch.uint32: 'U32', torch.float32: 'F32',
          torch.complex64: 'C64', torch.float64: 'F64', torch.int64: 'I64',
          torch.uint64: 'U64'}


def show(name, dtype, shape, data):
  print(name, dtype, '[%s]' % ','.join(map(str, shape)), data.hex())


def read(path):
  with open(path, 'rb') as file:
    tensors = safetensors.deserialize(file.read())
  with safetensors.safe_open(path, framework='pt') as file:
    for key, value in sorted((file.metadata() or {}).items()):
      print('metadata', key, value)
    # Read each tensor as a PyTorch tensor, except those of four- and six-bit
    # types, which PyTorch does not have.
    for name in file.keys():
      if not name.startswith(('F4', 'F6')):
        file.get_tensor(name)
  for name, tensor in tensors:
    show(name, tensor['dtype'], tensor['shape'], bytes(tensor['data']))


def write(path):
  tensors = {}
  for dtype, name in _NAMES.items():
    size = torch.empty((), dtype=dtype).element_size()
    raw = torch.arange(3 * 5 * size, dtype=torch.int64) * 7 % 60
    if dtype == torch.bool:
      raw %= 2
    tensors['theirs ' + name] = raw.to(torch.uint8).view(dtype).view(3, 5)
  tensors['scalar'] = torch.tensor(1.5)
  tensors['empty'] = torch.zeros(0, 4)
  with_torch.save_file(tensors, path, metadata={'of': 'them', 'é': '"\n"'})
  read(path)


def loss(folder, *words):
  import transformers  # Takes seconds, so only import it where it is needed.
  model = transformers.GPT2LMHeadModel.from_pretrained(folder)
  model.save_pretrained(os.path.join(folder, 'again'))
  model.eval()
  numbers = torch.arange(2 * 12)
  tokens = (numbers * numbers % 31).view(2, 12)
  targets = ((numbers + 1) * (numbers + 1) % 31).view(2, 12)
  for word in words:
    precision = Precision(word)
    model.to(precision.dtype)
    handles = [part.register_forward_hook(
        lambda _module, _inputs, output, by=precision:
        by.disturbed(output) if torch.is_tensor(output) else None)
               for part in model.modules()]
    with torch.no_grad():
      logits = model(tokens).logits
    for handle in handles:
      handle.remove()
    print('%.17g' % torch.nn.functional.cross_entropy(
        logits.view(-1, 31), targets.view(-1)).item())


{'read': read, 'write': write, 'loss': loss}[sys.argv[1]](*sys.argv[2:])
