"""A model of the kubelet's probes of a container that does not answer.

The probes are real requests. A wait takes a tenth of the time that the manifest
gives; the time that would pass in Kubernetes is counted.
"""

_REAL = 0.1  # seconds that pass for each second of Kubernetes' time


def end_of_a_silent_container(pod, spec):
  """Probes the pod until its livenessProbe has failed, then ends it. `spec` is
  the pod's in the manifest. Returns how long all that took, in seconds of
  Kubernetes' time, or None if a probe succeeded."""
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
