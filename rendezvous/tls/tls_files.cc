#include "rendezvous/tls/tls_files.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/bounded_file.h"
#include "rendezvous/tls/principal.h"
#include "rendezvous/tls/x509.h"

namespace muster::rendezvous {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;

struct KeyDeleter {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Key = std::unique_ptr<EVP_PKEY, KeyDeleter>;

// One of the TLS files: its flag and its path.
struct FlagFile {
  const char* flag;
  const std::string& path;

  absl::Status Wrong(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(flag, " ", path, " ", what));
  }

  absl::StatusOr<std::string> Read() const {
    absl::StatusOr<std::string> text = ReadBoundedFile(path, kMaxFileBytes);
    if (text.ok()) return text;
    if (absl::IsNotFound(text.status())) return Wrong("does not exist");
    return Wrong(absl::StrCat("cannot be read: ",
                              absl::string_view(text.status().message())));
  }

  absl::StatusOr<std::vector<Certificate>> ReadChain() const {
    const absl::StatusOr<std::string> pem = Read();
    if (!pem.ok()) return pem.status();
    std::vector<Certificate> chain = ReadCertificates(*pem);
    if (chain.empty()) return Wrong("has no certificate in PEM form");
    return chain;
  }
};

// OpenSSL callback that returns no passphrase and sets the bool at `encrypted`.
// So an encrypted key is an error, and OpenSSL does not ask on the terminal.
int NoPassphrase(char*, int, int, void* encrypted) {
  *static_cast<bool*>(encrypted) = true;
  return 0;
}

absl::StatusOr<Key> ReadKey(const FlagFile& file) {
  const absl::StatusOr<std::string> pem = file.Read();
  if (!pem.ok()) return pem.status();
  BIO* const bio = BIO_new_mem_buf(pem->data(), static_cast<int>(pem->size()));
  bool encrypted = false;
  Key key(PEM_read_bio_PrivateKey(bio, nullptr, NoPassphrase, &encrypted));
  BIO_free(bio);
  ERR_clear_error();
  if (key != nullptr) return key;
  return file.Wrong(encrypted ? "is encrypted; give a key without a passphrase"
                              : "has no private key in PEM form");
}

bool OthersMayRead(const std::string& path) {
  struct stat attributes = {};
  return stat(path.c_str(), &attributes) == 0 &&
         (attributes.st_mode & S_IROTH) != 0;
}

}  // namespace

absl::Status CheckTlsFiles(
    const TlsFiles& files, std::time_t now,
    const std::function<void(const std::string&)>& warn) {
  if (!files.given()) return absl::OkStatus();
  const FlagFile certificate{"--tls-cert", files.certificate};
  const FlagFile key{"--tls-key", files.key};
  const FlagFile authority{"--tls-ca", files.authority};
  for (const FlagFile& file : {certificate, key, authority}) {
    if (!file.path.empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        file.flag,
        " is missing: mutual TLS needs --tls-cert, --tls-key and --tls-ca"));
  }
  const auto chain = certificate.ReadChain();
  if (!chain.ok()) return chain.status();
  const auto authorities = authority.ReadChain();
  if (!authorities.ok()) return authorities.status();
  const auto private_key = ReadKey(key);
  if (!private_key.ok()) return private_key.status();
  if (X509_check_private_key(chain->front().get(), private_key->get()) != 1) {
    ERR_clear_error();
    return key.Wrong(
        absl::StrCat("is not the key of the certificate ", files.certificate));
  }
  for (const auto& [file, certificates] :
       {std::pair(&certificate, &*chain),
        std::pair(&authority, &*authorities)}) {
    for (const Certificate& one : *certificates) {
      const std::string why = WhyNotValid(one.get(), now);
      // The file of authorities may still contain an expired certificate beside
      // its replacement. So an invalid authority is an error only if the file
      // contains no other certificate.
      if (!why.empty() && (file == &certificate || certificates->size() == 1)) {
        return file->Wrong(absl::StrCat("(", SubjectOf(one.get()), ") ", why));
      }
    }
  }
  const std::string why = WhyNotTrusted(*chain, *authorities);
  if (!why.empty()) {
    return certificate.Wrong(
        absl::StrCat("(", SubjectOf(chain->front().get()),
                     ") is not signed by an authority in --tls-ca ",
                     files.authority, ": ", why));
  }
  if (OthersMayRead(files.key)) {
    warn(absl::StrCat("others on this machine can read the key ", files.key,
                      "; chmod 600 ", files.key));
  }
  return absl::OkStatus();
}

std::string HostInCertificate(const TlsFiles& files,
                              const std::vector<std::string>& hosts) {
  const auto chain = FlagFile{"--tls-cert", files.certificate}.ReadChain();
  if (!chain.ok()) return hosts.front();
  const CertificateNames names = NamesOf(chain->front().get());
  const auto named = std::ranges::find_if(
      hosts,
      [&names](const std::string& host) { return NamesHost(names, host); });
  return named == hosts.end() ? hosts.front() : *named;
}

}  // namespace muster::rendezvous
