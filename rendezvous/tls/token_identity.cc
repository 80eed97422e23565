#include "rendezvous/tls/token_identity.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/check.h"
#include "rendezvous/tls/x509.h"
#include "rendezvous/token/token.h"

namespace muster::rendezvous {
namespace {

constexpr absl::string_view kDerivedPrefix = "muster1.";
constexpr size_t kKeyBytes = 32;  // size of an Ed25519 private key

// The validity of certificates that are derived from a secret. It reaches from
// the year 2000 to the latest time that X.509 can express, because the clocks
// of nodes differ.
constexpr char kBegin[] = "20000101000000Z";
constexpr char kNoEnd[] = "99991231235959Z";

struct KeyContextDeleter {
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
};

struct BioDeleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using Bio = std::unique_ptr<BIO, BioDeleter>;

const unsigned char* Bytes(absl::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// Derives a key with HKDF (RFC 5869) and SHA-256. A different `purpose` gives a
// different key.
std::string DerivedBytes(const std::string& secret, absl::string_view purpose) {
  constexpr absl::string_view kSalt = "muster job token";
  const std::unique_ptr<EVP_PKEY_CTX, KeyContextDeleter> context(
      EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nullptr));
  std::string bytes(kKeyBytes, '\0');
  size_t size = bytes.size();
  MUSTER_CHECK(
      EVP_PKEY_derive_init(context.get()) == 1 &&
      EVP_PKEY_CTX_set_hkdf_md(context.get(), EVP_sha256()) == 1 &&
      EVP_PKEY_CTX_set1_hkdf_salt(context.get(), Bytes(kSalt),
                                  static_cast<int>(kSalt.size())) == 1 &&
      EVP_PKEY_CTX_set1_hkdf_key(context.get(), Bytes(secret),
                                 static_cast<int>(secret.size())) == 1 &&
      EVP_PKEY_CTX_add1_hkdf_info(context.get(), Bytes(purpose),
                                  static_cast<int>(purpose.size())) == 1 &&
      EVP_PKEY_derive(context.get(),
                      reinterpret_cast<unsigned char*>(bytes.data()),
                      &size) == 1);
  return bytes;
}

PrivateKey KeyOf(absl::string_view bytes) {
  return PrivateKey(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr,
                                                 Bytes(bytes), bytes.size()));
}

std::string FreshKeyBytes() {
  std::string bytes(kKeyBytes, '\0');
  MUSTER_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()),
                          static_cast<int>(bytes.size())) == 1);
  return bytes;
}

PrivateKey AuthorityKey(const std::string& secret) {
  return KeyOf(DerivedBytes(secret, "certificate authority"));
}

// Returns the common name of the authority whose key is `key`. Every caller of
// the coordinator can see the name, so it is made from the public key only, as
// a hash.
std::string NameOfAuthority(EVP_PKEY* key) {
  std::array<unsigned char, kKeyBytes> raw;
  size_t size = raw.size();
  MUSTER_CHECK(EVP_PKEY_get_raw_public_key(key, raw.data(), &size) == 1);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> hash;
  SHA256(raw.data(), size, hash.data());
  return absl::StrCat("Muster token ",
                      absl::BytesToHexString(absl::string_view(
                          reinterpret_cast<const char*>(hash.data()), 8)));
}

// The contents of a certificate before it is signed.
struct Contents {
  std::string subject;  // common name; empty: none
  EVP_PKEY* key = nullptr;
  // common name of the signer
  std::string issuer;
  // OpenSSL's NID and the text of each extension
  std::vector<std::pair<int, std::string>> extensions;
  std::vector<std::string> uris;
  std::time_t end = 0;  // end of validity; 0: kNoEnd, the year 9999
};

void SetName(X509_NAME* name, const std::string& common_name) {
  if (common_name.empty()) return;
  MUSTER_CHECK(X509_NAME_add_entry_by_txt(
                   name, "CN", MBSTRING_UTF8, Bytes(common_name),
                   static_cast<int>(common_name.size()), -1, 0) == 1)
      << common_name;
}

void AddUris(X509* certificate, const std::vector<std::string>& uris) {
  if (uris.empty()) return;
  GENERAL_NAMES* const names = GENERAL_NAMES_new();
  for (const std::string& uri : uris) {
    GENERAL_NAME* const name = GENERAL_NAME_new();
    ASN1_IA5STRING* const text = ASN1_IA5STRING_new();
    ASN1_STRING_set(text, uri.data(), static_cast<int>(uri.size()));
    GENERAL_NAME_set0_value(name, GEN_URI, text);
    sk_GENERAL_NAME_push(names, name);
  }
  MUSTER_CHECK(X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0,
                                 X509V3_ADD_DEFAULT) == 1);
  GENERAL_NAMES_free(names);
}

Certificate Sign(const Contents& contents, EVP_PKEY* authority) {
  Certificate certificate(X509_new());
  X509* const x = certificate.get();
  X509_set_version(x, 2);  // X.509 v3
  std::array<unsigned char, 8> serial;
  MUSTER_CHECK(RAND_bytes(serial.data(), serial.size()) == 1);
  serial[0] &= 0x7f;
  BIGNUM* const number =
      BN_bin2bn(serial.data(), static_cast<int>(serial.size()), nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x));
  BN_free(number);
  SetName(X509_get_subject_name(x), contents.subject);
  X509_NAME* const issuer = X509_NAME_new();
  SetName(issuer, contents.issuer);
  X509_set_issuer_name(x, issuer);
  X509_NAME_free(issuer);
  ASN1_TIME_set_string(X509_getm_notBefore(x), kBegin);
  if (contents.end == 0) {
    ASN1_TIME_set_string(X509_getm_notAfter(x), kNoEnd);
  } else {
    ASN1_TIME_set(X509_getm_notAfter(x), contents.end);
  }
  X509_set_pubkey(x, contents.key);
  for (const auto& [nid, value] : contents.extensions) {
    X509_EXTENSION* const extension =
        X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
    MUSTER_CHECK(extension != nullptr && X509_add_ext(x, extension, -1) == 1)
        << value;
    X509_EXTENSION_free(extension);
  }
  AddUris(x, contents.uris);
  MUSTER_CHECK(X509_sign(x, authority, nullptr) > 0);
  return certificate;
}

// Returns the certificate of the authority `key`, signed by `issuer`. `issuer`
// is the authority itself, or the authority that it replaces.
Certificate AuthorityCertificate(EVP_PKEY* key, EVP_PKEY* issuer) {
  return Sign({.subject = NameOfAuthority(key),
               .key = key,
               .issuer = NameOfAuthority(issuer),
               .extensions = {{NID_basic_constraints, "critical,CA:TRUE"},
                              {NID_key_usage, "critical,keyCertSign"}}},
              issuer);
}

// Returns the extensions of a certificate that belongs to a coordinator or a
// caller, and not to an authority. `usage`: "serverAuth" for a coordinator,
// "clientAuth" for a caller. A certificate with one usage is not accepted for
// the other.
std::vector<std::pair<int, std::string>> LeafExtensions(const char* usage) {
  return {{NID_basic_constraints, "critical,CA:FALSE"},
          {NID_key_usage, "critical,digitalSignature"},
          {NID_ext_key_usage, usage}};
}

std::string Written(const Bio& bio) {
  char* data = nullptr;
  const auto size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

std::string PemOf(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  MUSTER_CHECK(PEM_write_bio_X509(bio.get(), certificate) == 1);
  return Written(bio);
}

std::string PemOf(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  MUSTER_CHECK(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0,
                                        nullptr, nullptr) == 1);
  return Written(bio);
}

std::string DerOf(const X509* certificate) {
  unsigned char* data = nullptr;
  const int size = i2d_X509(certificate, &data);
  MUSTER_CHECK(size > 0);
  std::string der(reinterpret_cast<const char*>(data),
                  static_cast<size_t>(size));
  OPENSSL_free(data);
  return der;
}

// The decoded contents of a token that DeriveToken has made from the job token.
struct Derived {
  PrivateKey key;
  Certificate certificate;
  Certificate authority;
};

// Removes a certificate from the beginning of `*bytes` and returns this
// certificate. Null: `*bytes` begins with anything else.
Certificate TakeCertificate(absl::string_view* bytes) {
  const unsigned char* next = Bytes(*bytes);
  Certificate certificate(
      d2i_X509(nullptr, &next, static_cast<long>(bytes->size())));
  ERR_clear_error();
  if (certificate != nullptr) {
    bytes->remove_prefix(static_cast<size_t>(next - Bytes(*bytes)));
  }
  return certificate;
}

absl::StatusOr<Derived> ReadDerived(const std::string& token) {
  const absl::Status damaged = absl::InvalidArgumentError(absl::StrCat(
      "the token begins with \"", kDerivedPrefix,
      "\", but is no complete token that `launch token` has made"));
  std::string bytes;
  if (!absl::WebSafeBase64Unescape(absl::StripPrefix(token, kDerivedPrefix),
                                   &bytes) ||
      bytes.size() <= kKeyBytes) {
    return damaged;
  }
  absl::string_view rest = bytes;
  Derived derived;
  derived.key = KeyOf(rest.substr(0, kKeyBytes));
  rest.remove_prefix(kKeyBytes);
  derived.certificate = TakeCertificate(&rest);
  derived.authority = TakeCertificate(&rest);
  const bool is_complete =
      rest.empty() && derived.certificate != nullptr &&
      derived.authority != nullptr &&
      X509_check_private_key(derived.certificate.get(), derived.key.get()) == 1;
  ERR_clear_error();
  if (!is_complete) return damaged;
  return derived;
}

}  // namespace

absl::StatusOr<Principal> TokenPrincipal(
    const std::string& given, const std::vector<std::string>& secrets,
    std::time_t now) {
  int matches = 0;
  for (const std::string& one : secrets) matches += IsToken(given, one) ? 1 : 0;
  if (matches > 0) return Principal();
  if (!IsDerivedToken(given)) return absl::UnauthenticatedError("wrong token");
  absl::StatusOr<Derived> derived = ReadDerived(given);
  if (!derived.ok()) {
    return absl::UnauthenticatedError(derived.status().message());
  }
  std::vector<Certificate> authorities;
  for (const std::string& one : secrets) {
    const PrivateKey key = AuthorityKey(one);
    authorities.push_back(AuthorityCertificate(key.get(), key.get()));
  }
  std::vector<Certificate> chain;
  chain.push_back(std::move(derived->certificate));
  if (!WhyNotTrusted(chain, authorities).empty()) {
    return absl::UnauthenticatedError(
        "the token was derived from another secret than this coordinator's");
  }
  const std::string invalid = WhyNotValid(chain[0].get(), now);
  if (!invalid.empty()) {
    return absl::UnauthenticatedError(absl::StrCat("the token ", invalid));
  }
  return PrincipalOf(NamesOf(chain[0].get()), CommonNameOf(chain[0].get()));
}

bool IsDerivedToken(const std::string& token) {
  return absl::StartsWith(token, kDerivedPrefix);
}

std::string AuthorityName(const std::string& token) {
  if (!IsDerivedToken(token)) {
    return NameOfAuthority(AuthorityKey(token).get());
  }
  const absl::StatusOr<Derived> derived = ReadDerived(token);
  return derived.ok() ? CommonNameOf(derived->authority.get()) : "";
}

absl::Status CheckCoordinatorTokens(const std::vector<std::string>& tokens) {
  if (std::none_of(tokens.begin(), tokens.end(), IsDerivedToken)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "a token that `launch token` has derived from another serves nodes and "
      "operators; the coordinator needs the token from which it was derived");
}

TokenIdentity CoordinatorIdentity(const std::vector<std::string>& secrets) {
  MUSTER_CHECK(!secrets.empty());
  std::vector<PrivateKey> authorities;
  for (const std::string& secret : secrets) {
    authorities.push_back(AuthorityKey(secret));
  }
  const PrivateKey key = KeyOf(FreshKeyBytes());
  TokenIdentity identity;
  identity.key = PemOf(key.get());
  identity.certificate =
      PemOf(Sign({.subject = "Muster coordinator",
                  .key = key.get(),
                  .issuer = NameOfAuthority(authorities[0].get()),
                  .extensions = LeafExtensions("serverAuth"),
                  .uris = {kCoordinatorUri}},
                 authorities[0].get())
                .get());
  for (const PrivateKey& authority : authorities) {
    identity.authorities +=
        PemOf(AuthorityCertificate(authority.get(), authority.get()).get());
    // authorities[0] belongs to the token in use, and every other `authority`
    // to a token that is being replaced. Let this other authority sign a
    // certificate for authorities[0]. Callers that still have the replaced
    // token then trust this coordinator.
    if (authority != authorities[0]) {
      identity.certificate += PemOf(
          AuthorityCertificate(authorities[0].get(), authority.get()).get());
    }
  }
  return identity;
}

absl::StatusOr<TokenIdentity> CallerIdentity(const std::string& token) {
  if (IsDerivedToken(token)) {
    absl::StatusOr<Derived> derived = ReadDerived(token);
    if (!derived.ok()) return derived.status();
    return TokenIdentity{.certificate = PemOf(derived->certificate.get()),
                         .key = PemOf(derived->key.get()),
                         .authorities = PemOf(derived->authority.get())};
  }
  const PrivateKey authority = AuthorityKey(token);
  const PrivateKey key = KeyOf(FreshKeyBytes());
  const std::string name = NameOfAuthority(authority.get());
  return TokenIdentity{
      .certificate = PemOf(Sign({.key = key.get(),
                                 .issuer = name,
                                 .extensions = LeafExtensions("clientAuth")},
                                authority.get())
                               .get()),
      .key = PemOf(key.get()),
      .authorities =
          PemOf(AuthorityCertificate(authority.get(), authority.get()).get())};
}

absl::StatusOr<std::string> ReadCallerToken(
    const std::string& file,
    const std::function<void(const std::string&)>& warn) {
  absl::StatusOr<std::string> token = ReadToken(file, warn);
  if (!token.ok() || !IsDerivedToken(*token)) return token;
  const absl::Status whole = ReadDerived(*token).status();
  if (!whole.ok()) return whole;
  return token;
}

absl::StatusOr<std::string> DeriveToken(const std::string& secret,
                                        const TokenGrant& grant) {
  MUSTER_CHECK(!grant.roles.empty());
  if (IsDerivedToken(secret)) {
    return absl::InvalidArgumentError(
        "a token can be derived only from a secret, not from a token that was "
        "derived itself");
  }
  if (!IsPrincipalName(grant.name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", absl::CHexEscape(grant.name),
                     "' is no name for a token: it needs 1 to 64 letters, "
                     "digits, or any of ._@-"));
  }
  std::vector<std::string> uris;
  for (const Role role : grant.roles) {
    uris.push_back(absl::StrCat("muster:role/", RoleName(role)));
  }
  for (const std::string& job : grant.jobs) {
    if (!IsJobPattern(job)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", absl::CHexEscape(job),
          "' is no job of a token: it needs 1 to 256 printable ASCII "
          "characters"));
    }
    uris.push_back(absl::StrCat("muster:job/", job));
  }
  const PrivateKey authority = AuthorityKey(secret);
  const std::string key_bytes = FreshKeyBytes();
  const PrivateKey key = KeyOf(key_bytes);
  const Certificate certificate =
      Sign({.subject = grant.name,
            .key = key.get(),
            .issuer = NameOfAuthority(authority.get()),
            .extensions = LeafExtensions("clientAuth"),
            .uris = std::move(uris),
            .end = grant.expires},
           authority.get());
  const Certificate root =
      AuthorityCertificate(authority.get(), authority.get());
  std::string text;
  absl::WebSafeBase64Escape(
      absl::StrCat(key_bytes, DerOf(certificate.get()), DerOf(root.get())),
      &text);
  return absl::StrCat(kDerivedPrefix, text);
}

}  // namespace muster::rendezvous
