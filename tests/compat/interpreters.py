"""The Python interpreters with the PyTorch versions of the compatibility tests.
"""

import os
import subprocess

# The two versions of PyTorch with which each test runs. If a version is not
# installed, the test with it is skipped (why_not).
OLD, NEW = '1.13', '2.x'


def _new():
  given = os.environ.get('MUSTER_TORCH2_PYTHON')
  if given:
    return given
  cache = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
  return os.environ.get('MUSTER_TORCH2_DIR',
                        os.path.join(cache, 'muster', 'torch2')) + '/python'


PATHS = {OLD: '/usr/bin/python3', NEW: _new()}
_INSTALLED_BY = {OLD: 'tools/setup', NEW: 'tools/setup_torch2'}
_found = {}


def why_not(version):
  """Returns the reason why tests with this version of PyTorch cannot run, or
  None."""
  if version not in _found:
    _found[version] = _look(version)
  return _found[version]


def _look(version):
  try:
    # Only look for PyTorch with find_spec: importing it would take seconds.
    code = subprocess.run(
        [PATHS[version], '-c', 'import importlib.util as u, sys;'
         'sys.exit(u.find_spec("torch") is None)'], check=False,
        stderr=subprocess.DEVNULL).returncode
  except OSError:
    code = 1
  if code:
    return 'no PyTorch %s at %s (%s installs it)' % (
        version, PATHS[version], _INSTALLED_BY[version])
  return None


def environment(**changes):
  """Returns an environment with one thread, few warnings and no launcher's
  variables.

  PyTorch looks up the names of its peers. Without an answer a look-up would
  take the resolver's default of five seconds, so the time-out is one second.
  """
  ours = ('RANK', 'LOCAL_', 'WORLD_SIZE', 'GROUP_', 'ROLE_', 'MASTER_',
          'TORCHELASTIC_', 'PET_', 'MUSTER_', 'OMPI_', 'PMI', 'SLURM_')
  clean = {name: value for name, value in os.environ.items()
           if not name.startswith(ours)}
  clean.update(OMP_NUM_THREADS='1', GLOO_SOCKET_IFNAME='lo',
               TORCH_CPP_LOG_LEVEL='ERROR', PYTHONWARNINGS='ignore',
               RES_OPTIONS='timeout:1 attempts:1')
  clean.update(changes)
  return clean
