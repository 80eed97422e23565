#ifndef MUSTER_RENDEZVOUS_TLS_X509_H_
#define MUSTER_RENDEZVOUS_TLS_X509_H_

#include <openssl/ossl_typ.h>

#include <ctime>
#include <memory>
#include <string>
#include <vector>

namespace muster::rendezvous {

// Deleter of an OpenSSL certificate, for std::unique_ptr.
struct X509Deleter {
  void operator()(X509* certificate) const;
};
using Certificate = std::unique_ptr<X509, X509Deleter>;

struct KeyDeleter {
  void operator()(EVP_PKEY* key) const;
};
using PrivateKey = std::unique_ptr<EVP_PKEY, KeyDeleter>;

// Returns the private key in a PEM text; null if there is none or it is
// encrypted.
PrivateKey ReadPrivateKey(const std::string& pem);

// Returns the certificates in a PEM text, in order; empty if there are none.
// Skips other PEM blocks.
std::vector<Certificate> ReadCertificates(const std::string& pem);

// Returns the subject as text: "CN=node7,O=lab"; "without a subject" if it is
// empty.
std::string SubjectOf(const X509* certificate);

// Returns the common name of the subject, with control characters escaped;
// empty if it has none.
std::string CommonNameOf(const X509* certificate);

// Returns the common name of the issuer, with control characters escaped; empty
// if the issuer has none.
std::string IssuerNameOf(const X509* certificate);

// Returns why `certificate` is not valid at `now`: "expired on 2026-01-31
// 12:00:00 UTC", or "is not valid before …"; empty if it is valid.
std::string WhyNotValid(const X509* certificate, std::time_t now);

// Checks that a certificate in `authorities` has signed `chain` (a certificate,
// then the intermediate certificates). Returns "" if so, otherwise the reason
// in OpenSSL's words. Ignores the validity dates.
std::string WhyNotTrusted(const std::vector<Certificate>& chain,
                          const std::vector<Certificate>& authorities);

// The names for which a certificate was issued (its subject alternative names).
struct CertificateNames {
  std::vector<std::string> dns;  // host names: "node7.lab", "*.lab"
  std::vector<std::string> ips;  // IP addresses: "10.0.0.7", "fd00::7"
  std::vector<std::string> uris;
};

CertificateNames NamesOf(const X509* certificate);

// Returns all names in one line, for messages, with control characters escaped:
// "node7.lab, 10.0.0.7"; "no name" if there is none.
std::string ToText(const CertificateNames& names);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TLS_X509_H_
