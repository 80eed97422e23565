#ifndef MUSTER_RENDEZVOUS_TLS_TLS_FILES_H_
#define MUSTER_RENDEZVOUS_TLS_TLS_FILES_H_

#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace muster::rendezvous {

// The PEM files for mutual TLS. Every process of a job (coordinator, agents,
// `launch status`) needs all three.
struct TlsFiles {
  // --tls-cert: this process's certificate, then the intermediate certificates
  // up to `authority`, if any.
  std::string certificate;
  std::string key;        // --tls-key: the private key of `certificate`
  std::string authority;  // --tls-ca: the trusted authorities

  // Whether TLS is used. Without any file, connections are unencrypted.
  bool given() const {
    return !certificate.empty() || !key.empty() || !authority.empty();
  }
  bool operator==(const TlsFiles&) const = default;
};

// Checks that the files can be used at `now`, so that a mistake is found before
// a handshake fails on another host. If other users of the machine may read the
// key, calls `warn` once with a sentence. Blocks on the file system; any
// thread.
//
// InvalidArgument, with a sentence that names the flag and the file:
//   - A file is missing or not PEM.
//   - The key is encrypted, or does not belong to the certificate.
//   - The certificate is expired, not valid yet, or not signed by one of the
//     authorities.
absl::Status CheckTlsFiles(const TlsFiles& files, std::time_t now,
                           const std::function<void(const std::string&)>& warn);

// Returns the first of `hosts` (host names or IP addresses) for which the
// certificate in `files` was issued. If there is none, or the file cannot be
// read, returns the first host. Blocks on the file system.
std::string HostInCertificate(const TlsFiles& files,
                              const std::vector<std::string>& hosts);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TLS_TLS_FILES_H_
