"""A model of the kubelet: its probes of a container that does not answer, the
volumes of Secrets, and the owners and modes of files in persistent volumes.

The probes are real requests. Each wait takes a tenth of the time in the
manifest; the results are in the time that would pass in Kubernetes.
"""

import os

_REAL = 0.1  # real seconds for each second of Kubernetes' time


def end_of_a_silent_container(pod, spec):
  """Probes the pod until its livenessProbe has failed, then ends it. `spec` is
  the pod's spec in the manifest. Returns the seconds of Kubernetes' time that
  this took, or None if a probe succeeded."""
  probe = spec['containers'][0]['livenessProbe']
  passed = 0.0
  for _ in range(probe['failureThreshold']):
    passed += probe['periodSeconds']
    if pod.probe(probe['httpGet']['path'], probe['timeoutSeconds'] * _REAL):
      return None
  passed += probe['timeoutSeconds']
  grace = probe.get('terminationGracePeriodSeconds',
                    spec['terminationGracePeriodSeconds'])
  pod.evict()
  if not pod.ends_within(grace * _REAL):
    passed += grace
    pod.kill()
  return passed


class SecretVolume:
  """A Secret as files in `folder`, which belong to root and to the pod's
  fsGroup. Each file is a link into the folder ..data. This is a link as well, so
  that one rename replaces all files at once."""

  def __init__(self, folder, volume, group):
    """`volume`: the `secret` of the pod's volume."""
    self._folder, self._mode = folder, volume['defaultMode']
    self._group, self._versions = group, 0
    os.makedirs(folder)

  def write(self, files):
    """Writes `files`, a dictionary from name to bytes. They replace the files
    of the last call."""
    self._versions += 1
    version = '..%d' % self._versions
    os.mkdir(os.path.join(self._folder, version))
    for name, content in files.items():
      path = os.path.join(self._folder, version, name)
      with open(path, 'wb') as file:
        file.write(content)
      os.chown(path, 0, self._group)
      os.chmod(path, self._mode)
      link = os.path.join(self._folder, name)
      if not os.path.lexists(link):
        os.symlink(os.path.join('..data', name), link)
    new = os.path.join(self._folder, '..new')
    os.symlink(version, new)
    os.replace(new, os.path.join(self._folder, '..data'))


_GROUP_MODE = {True: 0o2770, False: 0o660}  # True: a folder; False: a file


class PersistentVolume:
  """A disk with a new file system, as `folder`: its root folder belongs
  to the user root, and no other user can write to it."""

  def __init__(self, folder):
    self._folder = folder
    os.makedirs(folder)
    os.chown(folder, 0, 0)
    os.chmod(folder, 0o755)

  def mount(self, security):
    """Changes owners and modes as the kubelet does before it starts a pod.
    `security`: the pod's securityContext."""
    group = security.get('fsGroup')
    if group is None:
      return
    if security.get('fsGroupChangePolicy') == 'OnRootMismatch':
      root = os.stat(self._folder)
      if (root.st_gid == group and
          root.st_mode & _GROUP_MODE[True] == _GROUP_MODE[True]):
        return
    # Change the volume's root folder after everything else in it. If the
    # kubelet is interrupted before, the root folder still has the old mode, and
    # the next start of the pod repeats all changes (OnRootMismatch).
    for folder, _, files in os.walk(self._folder, topdown=False):
      for path in [os.path.join(folder, file) for file in files] + [folder]:
        os.chown(path, -1, group)
        os.chmod(path, os.stat(path).st_mode | _GROUP_MODE[path == folder])
