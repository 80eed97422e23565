#include "rendezvous/tls/tls_credentials.h"

#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <openssl/bio.h>
#include <openssl/conf.h>
#include <openssl/ssl.h>

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "rendezvous/grpc/grpc_setup.h"

namespace muster::rendezvous {
namespace {

using grpc::experimental::FileWatcherCertificateProvider;
using grpc::experimental::TlsCustomVerificationCheckRequest;

constexpr unsigned kReadAgainSeconds = 5;

// Permits TLS 1.3 only. gRPC 1.51 has no option for the TLS version and always
// permits 1.2. This OpenSSL configuration applies to every SSL_CTX that is
// created later in this process; only gRPC creates any.
constexpr char kOnlyTls13[] =
    "openssl_conf = muster\n"
    "[muster]\nssl_conf = contexts\n"
    "[contexts]\nsystem_default = tls13\n"
    "[tls13]\nProtocol = -ALL,TLSv1.3\n";

void SetUpTls() {
  SetUpGrpc();
  static std::once_flag once;
  std::call_once(once, [] {
    OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
    OPENSSL_load_builtin_modules();
    BIO* const text = BIO_new_mem_buf(kOnlyTls13, sizeof(kOnlyTls13) - 1);
    CONF* const configuration = NCONF_new(nullptr);
    long line = 0;
    MUSTER_CHECK(NCONF_load_bio(configuration, text, &line) == 1)
        << "line " << line;
    MUSTER_CHECK(CONF_modules_load(configuration, nullptr, 0) > 0);
    NCONF_free(configuration);
    BIO_free(text);
  });
}

using Provider =
    std::shared_ptr<grpc::experimental::CertificateProviderInterface>;

Provider ProviderOf(const TlsFiles& files) {
  return std::make_shared<FileWatcherCertificateProvider>(
      files.key, files.certificate, files.authority, kReadAgainSeconds);
}

Provider ProviderOf(const TokenIdentity& identity) {
  return std::make_shared<grpc::experimental::StaticDataCertificateProvider>(
      identity.authorities,
      std::vector<grpc::experimental::IdentityKeyCertPair>{
          {identity.key, identity.certificate}});
}

// Checks that the coordinator's certificate was issued for the host that the
// user named. gRPC itself would only compare the IP address.
class CoordinatorVerifier
    : public grpc::experimental::ExternalCertificateVerifier {
 public:
  // `host`: the coordinator's host name or address; empty: the coordinator uses
  // a token, so its host does not matter.
  explicit CoordinatorVerifier(std::string host) : host_(std::move(host)) {}

  bool Verify(TlsCustomVerificationCheckRequest* request,
              std::function<void(grpc::Status)> /*callback*/,
              grpc::Status* sync_status) override {
    CertificateNames names;
    for (const auto& one : request->dns_names()) {
      names.dns.emplace_back(one.data(), one.size());
    }
    for (const auto& one : request->ip_names()) {
      names.ips.emplace_back(one.data(), one.size());
    }
    for (const auto& one : request->uri_names()) {
      names.uris.emplace_back(one.data(), one.size());
    }
    const bool expected =
        host_.empty() ? NamesCoordinator(names) : NamesHost(names, host_);
    *sync_status =
        expected ? grpc::Status::OK
                 : grpc::Status(
                       grpc::StatusCode::UNAUTHENTICATED,
                       absl::StrCat("its certificate is for ", ToText(names),
                                    ", not for ",
                                    host_.empty() ? kCoordinatorUri : host_));
    return true;  // the check is complete: `sync_status` has its result
  }
  void Cancel(TlsCustomVerificationCheckRequest*) override {}

 private:
  const std::string host_;
};

std::shared_ptr<grpc::ServerCredentials> ServerWith(Provider provider) {
  SetUpTls();
  grpc::experimental::TlsServerCredentialsOptions options(std::move(provider));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  return grpc::experimental::TlsServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> ClientWith(Provider provider,
                                                     const std::string& host) {
  SetUpTls();
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(std::move(provider));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_certificate_verifier(
      grpc::experimental::ExternalCertificateVerifier::Create<
          CoordinatorVerifier>(host));
  options.set_check_call_host(false);
  return grpc::experimental::TlsCredentials(options);
}

std::vector<std::string> Values(const grpc::AuthContext& context,
                                const char* property) {
  std::vector<std::string> values;
  for (const grpc::string_ref& value : context.FindPropertyValues(property)) {
    values.emplace_back(value.data(), value.size());
  }
  return values;
}

}  // namespace

std::shared_ptr<grpc::ServerCredentials> TlsServer(const TlsFiles& files) {
  return ServerWith(ProviderOf(files));
}

std::shared_ptr<grpc::ServerCredentials> TlsServer(
    const TokenIdentity& identity) {
  return ServerWith(ProviderOf(identity));
}

std::shared_ptr<grpc::ChannelCredentials> TlsClient(const TlsFiles& files,
                                                    const std::string& host) {
  return ClientWith(ProviderOf(files), host);
}

std::shared_ptr<grpc::ChannelCredentials> TlsClient(
    const TokenIdentity& identity) {
  return ClientWith(ProviderOf(identity), "");
}

std::optional<CertificateNames> PeerNames(const grpc::AuthContext& context) {
  if (!context.IsPeerAuthenticated()) return std::nullopt;
  return CertificateNames{.dns = Values(context, GRPC_PEER_DNS_PROPERTY_NAME),
                          .ips = Values(context, GRPC_PEER_IP_PROPERTY_NAME),
                          .uris = Values(context, GRPC_PEER_URI_PROPERTY_NAME)};
}

Principal PeerPrincipal(const grpc::AuthContext& context) {
  const std::optional<CertificateNames> names = PeerNames(context);
  if (!names.has_value()) return Principal();
  const std::vector<std::string> common =
      Values(context, GRPC_X509_CN_PROPERTY_NAME);
  return PrincipalOf(*names, common.empty() ? "" : common[0]);
}

}  // namespace muster::rendezvous
