// Fuzzes the readers of tokens, certificates and keys. The first byte of the
// input selects the kind: a derived token (a certificate and its key in one
// string, made by `launch token`), a certificate in DER or PEM form, a private
// key, a token file, or the names in a certificate. The rest is the bytes
// themselves, or edits (edited_bytes.h) of a valid one.
//
// Aborts in four cases:
// * A derived token is trusted although an edit of its certificate has changed
//   what it permits.
// * An accepted token does not yield a certificate and its key.
// * A name from a certificate, or an error message, has control characters.
// * A principal may do more than its roles and jobs permit.

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/check.h"
#include "base/owned_fd.h"
#include "base/write_all.h"
#include "rendezvous/tls/principal.h"
#include "rendezvous/tls/token_identity.h"
#include "rendezvous/tls/x509.h"
#include "rendezvous/token/token.h"
#include "tests/fuzz/edited_bytes.h"
#include "tests/fuzz/fuzz_case.h"

namespace muster {
namespace {

using namespace rendezvous;  // NOLINT(google-build-using-namespace)

constexpr std::string_view kPrefix = "muster1.";

// A valid derived token: one result of DeriveToken("secret", {.name = "ann",
// .roles = {kJoin, kView}, .jobs = {"run-*"}}).
constexpr std::string_view kToken =
    "muster1.uJM1MfiwaWpChr7rPG9BRfpmOGS1pTMYh5n46oMmyAIwggFmMIIBGKADAgECAghC"
    "bRBeV9INvTAFBgMrZXAwKDEmMCQGA1UEAwwdTXVzdGVyIHRva2VuIGRmMDE3MGNhYjMyMWRm"
    "NGEwIhgPMjAwMDAxMDEwMDAwMDBaGA85OTk5MTIzMTIzNTk1OVowDjEMMAoGA1UEAwwDYW5u"
    "MCowBQYDK2VwAyEAUVS3LJnIfUOw9_kgRZEeqjhtSPHMXTO2ZYMR7MSsVlWjdjB0MAwGA1Ud"
    "EwEB_wQCMAAwDgYDVR0PAQH_BAQDAgeAMBMGA1UdJQQMMAoGCCsGAQUFBwMCMD8GA1UdEQQ4"
    "MDaGEG11c3Rlcjpyb2xlL2pvaW6GEG11c3Rlcjpyb2xlL3ZpZXeGEG11c3Rlcjpqb2IvcnVu"
    "LSowBQYDK2VwA0EA4_a4RC_lh0xBsw_ZFJj8WcNfHF2BAogGJ_T0o-7ELIQm7PYydKK86WE9"
    "Kftn30Z0JHZmBNGqF6B-TBHE23_SCzCCASwwgd-gAwIBAgIIQD8h2s7CWbkwBQYDK2VwMCgx"
    "JjAkBgNVBAMMHU11c3RlciB0b2tlbiBkZjAxNzBjYWIzMjFkZjRhMCIYDzIwMDAwMTAxMDAw"
    "MDAwWhgPOTk5OTEyMzEyMzU5NTlaMCgxJjAkBgNVBAMMHU11c3RlciB0b2tlbiBkZjAxNzBj"
    "YWIzMjFkZjRhMCowBQYDK2VwAyEA-v7U-eKc1i4Ub85AtDO4RNck-TpcZOKon6JOri02Dxij"
    "IzAhMA8GA1UdEwEB_wQFMAMBAf8wDgYDVR0PAQH_BAQDAgIEMAUGAytlcANBAPPq2zjyTzV6"
    "ORFYopExfpL1cPbn6KohJ_8lVRbUFUbg3wudaqr6GhTr9URhYSWjfCO7Wvqd_MkwtuybyVvr"
    "fw4";

// A certificate with names of every kind.
constexpr std::string_view kCertificate =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBrjCCAWCgAwIBAgIUamoYxfEv0gHe2Duq38nEkl3NyacwBQYDK2VwMB4xDDAK\n"
    "BgNVBAoMA2xhYjEOMAwGA1UEAwwFbm9kZTcwIBcNMjYxMTIzMDkyNzU2WhgPMjEy\n"
    "NjEwMzAwOTI3NTZaMB4xDDAKBgNVBAoMA2xhYjEOMAwGA1UEAwwFbm9kZTcwKjAF\n"
    "BgMrZXADIQArz/WjoediMqHkJen9VaeaT4MfN5d6CQGzGvrbmqhaoqOBrTCBqjAd\n"
    "BgNVHQ4EFgQU1VzNREiP5MfIe4+K2IxggHO44lswHwYDVR0jBBgwFoAU1VzNREiP\n"
    "5MfIe4+K2IxggHO44lswDwYDVR0TAQH/BAUwAwEB/zBXBgNVHREEUDBOgglub2Rl\n"
    "Ny5sYWKCBSoubGFihwQKAAAHhxD9AAAAAAAAAAAAAAAAAAAHhhBtdXN0ZXI6cm9s\n"
    "ZS9qb2luhhBtdXN0ZXI6am9iL3J1bi0qMAUGAytlcANBAMxbNINwCZfgxg/KWbbE\n"
    "o7Db03PlN8ERQG/lPO7NJxhuhggp6K0qmDJM9XJrfNee/65sNapd8K/EQL/pzh83\n"
    "UQs=\n"
    "-----END CERTIFICATE-----\n";
void CheckPrintable(absl::string_view text) {
  MUSTER_CHECK(std::none_of(text.begin(), text.end(), [](unsigned char c) {
    return c < ' ' || c == 0x7f;
  })) << absl::CHexEscape(text);
}

void CheckPrincipal(const Principal& principal) {
  MUSTER_CHECK(!principal.roles.contains(Role::kOperate) ||
               principal.roles.contains(Role::kView));
  for (const Role role : {Role::kJoin, Role::kView, Role::kOperate}) {
    for (const char* run_id : {"run-1", "run-", "other", "*"}) {
      const absl::Status access = CheckAccess(principal, role, run_id);
      MUSTER_CHECK(access.ok() == (principal.roles.contains(role) &&
                                   IncludesJob(principal, run_id)));
      CheckPrintable(access.message());
    }
  }
  if (principal.jobs.empty()) return;
  // "*" alone must not be a valid pattern, because it would match every job.
  for (const std::string& job : principal.jobs) {
    if (IncludesJob({.jobs = {job}}, "run-1")) {
      MUSTER_CHECK(job == "run-1" || job == "run-*") << job;
    }
  }
}

void CheckCertificate(const X509* certificate) {
  constexpr std::time_t kNow = 1'800'000'000;
  CheckPrintable(SubjectOf(certificate));
  CheckPrintable(CommonNameOf(certificate));
  CheckPrintable(IssuerNameOf(certificate));
  CheckPrintable(WhyNotValid(certificate, kNow));
  const CertificateNames names = NamesOf(certificate);
  CheckPrintable(ToText(names));
  NamesCoordinator(names);
  MUSTER_CHECK(!NamesHost(names, ""));
  const absl::Status claim =
      CheckClaim(names, {.run_id = "run-1", .host = "node7", .ip = "10.0.0.7"});
  MUSTER_CHECK(!claim.ok() || !names.dns.empty() || !names.ips.empty());
  CheckPrintable(claim.message());
  CheckPrincipal(PrincipalOf(names, CommonNameOf(certificate)));
}

std::string DerOf(const std::string& pem) {
  const std::vector<Certificate> all = ReadCertificates(pem);
  MUSTER_CHECK(all.size() == 1);
  unsigned char* data = nullptr;
  const int size = i2d_X509(all[0].get(), &data);
  std::string der(reinterpret_cast<const char*>(data),
                  static_cast<size_t>(size));
  OPENSSL_free(data);
  return der;
}

std::string PemOf(std::string_view der) {
  return absl::StrCat("-----BEGIN CERTIFICATE-----\n",
                      absl::Base64Escape({der.data(), der.size()}),
                      "\n-----END CERTIFICATE-----\n");
}

void FuzzToken(const std::string& token) {
  static const auto& sound =
      *new TokenIdentity(*CallerIdentity(std::string(kToken)));
  const absl::StatusOr<TokenIdentity> identity = CallerIdentity(token);
  if (!identity.ok()) {
    MUSTER_CHECK(AuthorityName(token).empty());
    CheckPrintable(identity.status().message());
    return;
  }
  const std::vector<Certificate> chain =
      ReadCertificates(identity->certificate);
  const std::vector<Certificate> own = ReadCertificates(identity->authorities);
  MUSTER_CHECK(chain.size() == 1 && own.size() == 1);
  const PrivateKey key = ReadPrivateKey(identity->key);
  MUSTER_CHECK(key != nullptr &&
               X509_check_private_key(chain[0].get(), key.get()) == 1);
  MUSTER_CHECK(AuthorityName(token) == CommonNameOf(own[0].get()));
  MUSTER_CHECK(!CheckCoordinatorTokens({token}).ok());
  MUSTER_CHECK(!DeriveToken(token, {.name = "bob", .roles = AllRoles()}).ok());
  CheckCertificate(chain[0].get());
  CheckCertificate(own[0].get());
  // Continue only if the edited certificate is still trusted. It must then
  // permit the same as the original one.
  if (!WhyNotTrusted(chain, ReadCertificates(sound.authorities)).empty()) {
    return;
  }
  const Certificate signed_one =
      std::move(ReadCertificates(sound.certificate).front());
  const Principal expected =
      PrincipalOf(NamesOf(signed_one.get()), CommonNameOf(signed_one.get()));
  const Principal actual =
      PrincipalOf(NamesOf(chain[0].get()), CommonNameOf(chain[0].get()));
  MUSTER_CHECK(actual.name == expected.name && actual.roles == expected.roles &&
               actual.jobs == expected.jobs)
      << actual.name;
}

void FuzzDerivedToken(std::string_view edits) {
  std::string bytes;
  MUSTER_CHECK(absl::WebSafeBase64Unescape(
      absl::string_view(kToken.data(), kToken.size()).substr(kPrefix.size()),
      &bytes));
  std::string text;
  absl::WebSafeBase64Escape(EditedBytes(bytes, edits), &text);
  FuzzToken(absl::StrCat(std::string(kPrefix), text));
}

// Returns a private key in PEM format, encrypted with a passphrase if `cipher`
// is not null.
std::string PemOfKey(const EVP_CIPHER* cipher) {
  constexpr std::string_view kBytes = "0123456789abcdef0123456789abcdef";
  const PrivateKey key(EVP_PKEY_new_raw_private_key(
      EVP_PKEY_ED25519, nullptr,
      reinterpret_cast<const unsigned char*>(kBytes.data()), kBytes.size()));
  BIO* const bio = BIO_new(BIO_s_mem());
  MUSTER_CHECK(PEM_write_bio_PKCS8PrivateKey(
                   bio, key.get(), cipher, kBytes.data(),
                   static_cast<int>(kBytes.size()), nullptr, nullptr) == 1);
  char* data = nullptr;
  const auto size = static_cast<size_t>(BIO_get_mem_data(bio, &data));
  std::string pem(data, size);
  BIO_free(bio);
  return pem;
}

void FuzzKey(std::string_view edits) {
  static const auto& plain = *new std::string(PemOfKey(nullptr));
  static const auto& encrypted = *new std::string(PemOfKey(EVP_aes_128_cbc()));
  if (edits.size() < 4) {
    MUSTER_CHECK(ReadPrivateKey(plain) != nullptr);
    MUSTER_CHECK(ReadPrivateKey(encrypted) == nullptr);
  }
  ReadPrivateKey(EditedBytes(plain, edits));
  ReadPrivateKey(EditedBytes(encrypted, edits));
}

void FuzzPem(const std::string& pem) {
  const std::vector<Certificate> all = ReadCertificates(pem);
  for (const Certificate& one : all) CheckCertificate(one.get());
  if (!all.empty()) WhyNotTrusted(all, all);
}

void FuzzTokenFile(std::string_view content) {
  const OwnedFd file(memfd_create("token", MFD_CLOEXEC));
  MUSTER_CHECK(WriteAll(file.get(), std::string(content)));
  MUSTER_CHECK(lseek(file.get(), 0, SEEK_SET) == 0);
  const absl::StatusOr<std::vector<std::string>> tokens =
      ReadTokens(absl::StrCat("/proc/self/fd/", file.get()),
                 [](const std::string& warning) { CheckPrintable(warning); });
  if (!tokens.ok()) {
    CheckPrintable(tokens.status().message());
    return;
  }
  MUSTER_CHECK(tokens->size() == 1 || tokens->size() == 2);
  for (const std::string& token : *tokens) {
    MUSTER_CHECK(!token.empty() && token.size() <= 4096);
    CheckPrintable(token);
  }
}

// Uses each line of `text` as a URI and as a DNS name in a certificate.
void FuzzPrincipal(std::string_view text) {
  CertificateNames names;
  for (const absl::string_view line :
       absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    names.uris.emplace_back(absl::StrCat("muster:", line));
    names.dns.emplace_back(line);
  }
  Principal principal = PrincipalOf(names, "ann");
  for (std::string& job : principal.jobs) {
    if (!IsJobPattern(job)) job = "other";
  }
  CheckPrincipal(principal);
  const std::string host = names.dns.back();
  if (!host.empty()) MUSTER_CHECK(NamesHost(names, host));
}

}  // namespace

void RunFuzzCase(std::string_view input) {
  if (input.empty()) return;
  static const auto& der = *new std::string(DerOf(std::string(kCertificate)));
  const int kind = static_cast<unsigned char>(input[0]) % 8;
  input.remove_prefix(1);
  switch (kind) {
    case 0:
      return FuzzToken(absl::StrCat(std::string(kPrefix), std::string(input)));
    case 1:
      return FuzzDerivedToken(input);
    case 2:
      return FuzzPem(PemOf(input));
    case 3:
      return FuzzPem(PemOf(EditedBytes(der, input)));
    case 4:
      return FuzzPem(EditedBytes(kCertificate, input));
    case 5:
      return FuzzKey(input);
    case 6:
      return FuzzTokenFile(EditedBytes("0123456789abcdef\nfedcba\n", input));
    default:
      return FuzzPrincipal(
          EditedBytes("role/view\nrole/operate\njob/run-*\n*.lab\n", input));
  }
}

}  // namespace muster
