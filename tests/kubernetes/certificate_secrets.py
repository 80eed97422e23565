"""A model of cert-manager: what it writes into the Secret of a Certificate.

The generated certificates have the names, usages and key type of the manifest's
Certificate, and are signed by the authority of its issuer. openssl creates
them.
"""

import os
import subprocess

_LIMIT_S = 60
_KEY_USAGES = {'digital signature': 'digitalSignature'}
_EXTENDED_USAGES = {'server auth': 'serverAuth', 'client auth': 'clientAuth'}


class CertificateSecrets:
  """Issues certificates for the Certificates and Issuers among `things`. Its
  files are in `folder`."""

  def __init__(self, folder, things):
    self._folder = folder
    self._certificates = {thing['spec']['secretName']: thing
                          for thing in things if thing['kind'] == 'Certificate'}
    self._issuers = {thing['metadata']['name']: thing['spec']
                     for thing in things if thing['kind'] == 'Issuer'}

  def issue(self, name):
    """Issues a new certificate for the Secret `name`. Returns the Secret's
    files as a dictionary from name to bytes. A self-signed authority is created
    only once."""
    spec = self._certificates[name]['spec']
    issuer = self._issuers[spec['issuerRef']['name']]
    if 'selfSigned' in issuer:
      authority = name
      if not os.path.exists(self._path(name, 'crt')):
        self._make_key(name)
        self._openssl('req', '-x509', '-new', '-key', self._path(name, 'key'),
                      '-subj', '/CN=' + spec['commonName'], '-days', '30',
                      '-out', self._path(name, 'crt'))
    else:
      authority = issuer['ca']['secretName']
      self.issue(authority)
      self._sign(name, spec, authority)
    return {'tls.crt': self._read(name, 'crt'),
            'tls.key': self._read(name, 'key'),
            'ca.crt': self._read(authority, 'crt')}

  def _sign(self, name, spec, authority):
    names = ['URI:' + uri for uri in spec.get('uris', [])]
    names += ['DNS:' + host for host in spec.get('dnsNames', [])]
    usages = {kind: [known[usage] for usage in spec['usages'] if usage in known]
              for kind, known in (('keyUsage', _KEY_USAGES),
                                  ('extendedKeyUsage', _EXTENDED_USAGES))}
    if sum(map(len, usages.values())) != len(spec['usages']):
      raise ValueError('usages that this model does not know: %s' %
                       spec['usages'])
    with open(self._path(name, 'ext'), 'w') as file:
      file.write('basicConstraints=critical,CA:FALSE\nsubjectAltName=%s\n' %
                 ','.join(names))
      for kind, values in usages.items():
        file.write('%s=%s\n' % (kind, ','.join(values)))
    self._make_key(name)
    self._openssl('req', '-new', '-key', self._path(name, 'key'), '-subj',
                  '/CN=' + spec['commonName'], '-out', self._path(name, 'csr'))
    self._openssl('x509', '-req', '-in', self._path(name, 'csr'), '-CA',
                  self._path(authority, 'crt'), '-CAkey',
                  self._path(authority, 'key'), '-CAcreateserial', '-days',
                  '30', '-extfile', self._path(name, 'ext'), '-out',
                  self._path(name, 'crt'))

  def _make_key(self, name):
    # The key has the format SEC 1, in which cert-manager writes ECDSA keys by
    # default (with `encoding` PKCS8 it would use another format).
    self._openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout',
                  '-out', self._path(name, 'key'))

  def _path(self, name, kind):
    return os.path.join(self._folder, '%s.%s' % (name, kind))

  def _read(self, name, kind):
    with open(self._path(name, kind), 'rb') as file:
      return file.read()

  def _openssl(self, *arguments):
    subprocess.run(['openssl', *arguments], check=True, timeout=_LIMIT_S,
                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                   stderr=subprocess.PIPE)
