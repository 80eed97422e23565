#include "rendezvous/tls/x509.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace muster::rendezvous {
namespace {

struct BioDeleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using Bio = std::unique_ptr<BIO, BioDeleter>;

struct StoreDeleter {
  void operator()(X509_STORE* store) const { X509_STORE_free(store); }
};
using Store = std::unique_ptr<X509_STORE, StoreDeleter>;

struct VerificationDeleter {
  void operator()(X509_STORE_CTX* context) const {
    X509_STORE_CTX_free(context);
  }
};
using Verification = std::unique_ptr<X509_STORE_CTX, VerificationDeleter>;

std::string TimeText(const ASN1_TIME* time) {
  std::tm parts = {};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "an unreadable date";
  std::array<char, 32> text;
  const size_t size =
      std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return std::string(text.data(), size);
}

// Returns the address as text; empty if it has neither 4 nor 16 bytes.
std::string IpText(const ASN1_OCTET_STRING* address) {
  const int size = ASN1_STRING_length(address);
  if (size != 4 && size != 16) return "";
  std::array<char, INET6_ADDRSTRLEN> text;
  inet_ntop(size == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(address),
            text.data(), text.size());
  return text.data();
}

std::string Text(const ASN1_STRING* string) {
  return std::string(
      reinterpret_cast<const char*>(ASN1_STRING_get0_data(string)),
      static_cast<size_t>(ASN1_STRING_length(string)));
}

// Returns `text` with control characters, quotes, backslashes and invalid UTF-8
// written as C escape sequences. The maker of a certificate chooses the names
// in it. Unescaped, such a name could send commands to a terminal or forge
// lines of a log.
std::string Escaped(const std::string& text) {
  return absl::Utf8SafeCEscape(text);
}

std::string CommonName(const X509_NAME* name) {
  const int index = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  if (index < 0) return "";
  return Escaped(
      Text(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index))));
}

}  // namespace

void KeyDeleter::operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }

PrivateKey ReadPrivateKey(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  // Without this callback OpenSSL would ask for the passphrase on the terminal.
  const auto no_passphrase = [](char*, int, int, void*) { return -1; };
  PrivateKey key(
      PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  ERR_clear_error();
  return key;
}

void X509Deleter::operator()(X509* certificate) const {
  X509_free(certificate);
}

std::vector<Certificate> ReadCertificates(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::vector<Certificate> certificates;
  while (X509* one = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(one);
  }
  // The loop ends with a failed read at the end of the text. This is no error.
  ERR_clear_error();
  return certificates;
}

std::string SubjectOf(const X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(bio.get(), X509_get_subject_name(certificate), 0,
                     XN_FLAG_RFC2253);
  char* data = nullptr;
  const auto size = BIO_get_mem_data(bio.get(), &data);
  if (size <= 0) return "without a subject";
  return std::string(data, static_cast<size_t>(size));
}

std::string CommonNameOf(const X509* certificate) {
  return CommonName(X509_get_subject_name(certificate));
}

std::string IssuerNameOf(const X509* certificate) {
  return CommonName(X509_get_issuer_name(certificate));
}

std::string WhyNotValid(const X509* certificate, std::time_t now) {
  const ASN1_TIME* const begin = X509_get0_notBefore(certificate);
  const ASN1_TIME* const end = X509_get0_notAfter(certificate);
  if (X509_cmp_time(end, &now) < 0) {
    return absl::StrCat("expired on ", TimeText(end));
  }
  if (X509_cmp_time(begin, &now) > 0) {
    return absl::StrCat("is not valid before ", TimeText(begin));
  }
  return "";
}

std::string WhyNotTrusted(const std::vector<Certificate>& chain,
                          const std::vector<Certificate>& authorities) {
  const Store store(X509_STORE_new());
  for (const Certificate& one : authorities) {
    X509_STORE_add_cert(store.get(), one.get());
  }
  STACK_OF(X509)* const between = sk_X509_new_null();
  for (size_t i = 1; i < chain.size(); ++i) {
    sk_X509_push(between, chain[i].get());
  }
  const Verification verification(X509_STORE_CTX_new());
  X509_STORE_CTX_init(verification.get(), store.get(), chain[0].get(), between);
  X509_STORE_CTX_set_flags(verification.get(), X509_V_FLAG_PARTIAL_CHAIN |
                                                   X509_V_FLAG_NO_CHECK_TIME);
  std::string why;
  if (X509_verify_cert(verification.get()) != 1) {
    why = X509_verify_cert_error_string(
        X509_STORE_CTX_get_error(verification.get()));
  }
  sk_X509_free(between);
  ERR_clear_error();
  return why;
}

CertificateNames NamesOf(const X509* certificate) {
  CertificateNames names;
  auto* const all = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  if (all == nullptr) return names;
  for (int i = 0; i < sk_GENERAL_NAME_num(all); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(all, i);
    switch (name->type) {
      case GEN_DNS:
        names.dns.push_back(Text(name->d.dNSName));
        break;
      case GEN_URI:
        names.uris.push_back(Text(name->d.uniformResourceIdentifier));
        break;
      case GEN_IPADD:
        names.ips.push_back(IpText(name->d.iPAddress));
        break;
      default:
        break;
    }
  }
  GENERAL_NAMES_free(all);
  return names;
}

std::string ToText(const CertificateNames& names) {
  std::vector<std::string> all = names.dns;
  all.insert(all.end(), names.ips.begin(), names.ips.end());
  all.insert(all.end(), names.uris.begin(), names.uris.end());
  return all.empty() ? "no name" : Escaped(absl::StrJoin(all, ", "));
}

}  // namespace muster::rendezvous
