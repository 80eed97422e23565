"""The Python interpreters with Accelerate, DeepSpeed, JAX and TensorFlow."""

import os

import interpreters

ACCELERATE_DEEPSPEED, JAX, TENSORFLOW = 'torch', 'jax', 'tensorflow'


def python(name):
  """Returns the path of the interpreter that tools/setup_frameworks installs
  for a framework."""
  cache = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
  folder = os.environ.get('MUSTER_FRAMEWORKS_DIR',
                          os.path.join(cache, 'muster', 'frameworks'))
  return os.path.join(folder, name, 'python')


def why_not(name):
  """Returns the reason why tests of this framework cannot run, or None."""
  path = python(name)
  # tools/setup_frameworks writes the file `installed` last. So the file shows
  # that the framework is complete. To import the framework would take seconds.
  if not os.path.exists(os.path.join(os.path.dirname(path), 'installed')):
    return 'no %s at %s (tools/setup_frameworks %s installs it)' % (
        name, path, name)
  return None


def environment(**changes):
  """Returns an environment without variables of launchers or frameworks."""
  ours = ('ACCELERATE_', 'FSDP_', 'DS_', 'CROSS_', 'LOCAL_SIZE', 'JAX_',
          'TF_', 'XLA_', 'KMP_', 'CUDA_VISIBLE', 'PYTHONPATH')
  clean = {name: value
           for name, value in interpreters.environment().items()
           if not name.startswith(ours)}
  clean.update(CUDA_VISIBLE_DEVICES='', DS_ACCELERATOR='cpu',
               JAX_PLATFORMS='cpu', TF_CPP_MIN_LOG_LEVEL='2',
               TOKENIZERS_PARALLELISM='false')
  clean.update(changes)
  return clean
