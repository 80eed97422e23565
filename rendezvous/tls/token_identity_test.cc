#include "rendezvous/tls/token_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "rendezvous/tls/x509.h"

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

struct ContextDeleter {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using Context = std::unique_ptr<SSL_CTX, ContextDeleter>;
struct SslDeleter {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using Ssl = std::unique_ptr<SSL, SslDeleter>;

Context ContextOf(const TokenIdentity& identity, const SSL_METHOD* method) {
  Context context(SSL_CTX_new(method));
  const std::vector<Certificate> chain = ReadCertificates(identity.certificate);
  EXPECT_EQ(SSL_CTX_use_certificate(context.get(), chain.at(0).get()), 1);
  for (size_t i = 1; i < chain.size(); ++i) {
    EXPECT_EQ(SSL_CTX_add1_chain_cert(context.get(), chain[i].get()), 1);
  }
  EXPECT_EQ(
      SSL_CTX_use_PrivateKey(context.get(), ReadPrivateKey(identity.key).get()),
      1);
  X509_STORE* const trusted = SSL_CTX_get_cert_store(context.get());
  for (const Certificate& one : ReadCertificates(identity.authorities)) {
    EXPECT_EQ(X509_STORE_add_cert(trusted, one.get()), 1);
  }
  SSL_CTX_set_verify(context.get(),
                     SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                     nullptr);
  return context;
}

// The result of a TLS handshake in memory: whether both sides accept, and what
// the server learns about the caller.
struct Handshake {
  bool accepted = false;
  CertificateNames names;
  std::string common_name;
};

Handshake Shake(const TokenIdentity& server_identity,
                const TokenIdentity& caller_identity) {
  const Context servers = ContextOf(server_identity, TLS_server_method());
  const Context callers = ContextOf(caller_identity, TLS_client_method());
  const Ssl server(SSL_new(servers.get()));
  const Ssl caller(SSL_new(callers.get()));
  BIO* to_server = nullptr;
  BIO* to_caller = nullptr;
  EXPECT_EQ(BIO_new_bio_pair(&to_server, 0, &to_caller, 0), 1);
  SSL_set_bio(server.get(), to_server, to_server);
  SSL_set_bio(caller.get(), to_caller, to_caller);
  SSL_set_accept_state(server.get());
  SSL_set_connect_state(caller.get());
  for (int i = 0; i < 10; ++i) {
    SSL_do_handshake(caller.get());
    SSL_do_handshake(server.get());
  }
  Handshake result;
  result.accepted = SSL_is_init_finished(server.get()) == 1 &&
                    SSL_is_init_finished(caller.get()) == 1;
  const Certificate shown(SSL_get1_peer_certificate(server.get()));
  if (shown != nullptr) {
    result.names = NamesOf(shown.get());
    result.common_name = CommonNameOf(shown.get());
  }
  return result;
}

constexpr char kSecret[] = "correct horse battery staple";

std::string Derive(const TokenGrant& grant) {
  return DeriveToken(kSecret, grant).value();
}

TEST(TokenIdentityTest, SameSecretMakesBothSidesTrustEachOther) {
  const Handshake result =
      Shake(CoordinatorIdentity({kSecret}), *CallerIdentity(kSecret));
  EXPECT_TRUE(result.accepted);
  EXPECT_EQ(result.common_name, "");
  EXPECT_TRUE(result.names.uris.empty());
}

TEST(TokenIdentityTest, AnotherSecretIsRefused) {
  EXPECT_FALSE(Shake(CoordinatorIdentity({kSecret}), *CallerIdentity("another"))
                   .accepted);
}

TEST(TokenIdentityTest, CallerCannotStandInForTheCoordinator) {
  EXPECT_FALSE(
      Shake(*CallerIdentity(kSecret), *CallerIdentity(kSecret)).accepted);
  const std::string derived = Derive({.name = "ada", .roles = AllRoles()});
  EXPECT_FALSE(
      Shake(*CallerIdentity(derived), *CallerIdentity(kSecret)).accepted);
}

TEST(TokenIdentityTest, DerivedTokenProvesNameRolesAndJobs) {
  const std::string derived =
      Derive({.name = "ada", .roles = {Role::kJoin}, .jobs = {"r1", "a-*"}});
  EXPECT_THAT(derived, StartsWith("muster1."));
  EXPECT_LT(derived.size(), 1500u);
  EXPECT_TRUE(IsDerivedToken(derived));
  const Handshake result =
      Shake(CoordinatorIdentity({kSecret}), *CallerIdentity(derived));
  EXPECT_TRUE(result.accepted);
  EXPECT_EQ(result.common_name, "ada");
  EXPECT_THAT(result.names.uris,
              UnorderedElementsAre("muster:role/join", "muster:job/r1",
                                   "muster:job/a-*"));
}

TEST(TokenIdentityTest, ExpiredTokenIsRefused) {
  const TokenIdentity coordinator = CoordinatorIdentity({kSecret});
  const std::time_t now = std::time(nullptr);
  const auto at = [&](std::time_t expires) {
    return Shake(coordinator,
                 *CallerIdentity(Derive(
                     {.name = "a", .roles = AllRoles(), .expires = expires})))
        .accepted;
  };
  EXPECT_TRUE(at(now + 3600));
  EXPECT_FALSE(at(now - 1));
}

TEST(TokenIdentityTest, TokenThatIsBeingReplacedStillCounts) {
  const TokenIdentity coordinator = CoordinatorIdentity({"new", kSecret});
  EXPECT_TRUE(Shake(coordinator, *CallerIdentity("new")).accepted);
  EXPECT_TRUE(Shake(coordinator, *CallerIdentity(kSecret)).accepted);
  EXPECT_TRUE(Shake(coordinator,
                    *CallerIdentity(Derive({.name = "a", .roles = AllRoles()})))
                  .accepted);
  EXPECT_FALSE(Shake(coordinator, *CallerIdentity("older")).accepted);
}

TEST(TokenIdentityTest, ATokenThatIsShownProvesNameRolesAndJobs) {
  const auto code = [](const std::string& given) {
    return TokenPrincipal(given, {"another", kSecret}, std::time(nullptr))
        .status()
        .code();
  };
  EXPECT_EQ(code(kSecret), absl::StatusCode::kOk);
  EXPECT_EQ(code("another"), absl::StatusCode::kOk);
  const std::string derived =
      Derive({.name = "ada", .roles = {Role::kView}, .jobs = {"a-*"}});
  const auto principal =
      TokenPrincipal(derived, {"another", kSecret}, std::time(nullptr));
  ASSERT_TRUE(principal.ok()) << principal.status();
  EXPECT_EQ(principal->name, "ada");
  EXPECT_EQ(principal->roles, std::set<Role>{Role::kView});
  EXPECT_EQ(principal->jobs, std::vector<std::string>{"a-*"});
  for (const std::string& wrong :
       {std::string(), std::string("wrong"), derived.substr(0, 40),
        derived + "A",
        Derive({.name = "a", .roles = AllRoles(), .expires = 1000}),
        *DeriveToken("a third", {.name = "a", .roles = AllRoles()})}) {
    EXPECT_EQ(code(wrong), absl::StatusCode::kUnauthenticated) << wrong;
  }
}

TEST(TokenIdentityTest, DerivedTokenMakesNeitherCoordinatorNorTokens) {
  const std::string derived = Derive({.name = "a", .roles = AllRoles()});
  EXPECT_TRUE(CheckCoordinatorTokens({kSecret, "another"}).ok());
  EXPECT_EQ(CheckCoordinatorTokens({derived}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CheckCoordinatorTokens({kSecret, derived}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      DeriveToken(derived, {.name = "b", .roles = AllRoles()}).status().code(),
      absl::StatusCode::kInvalidArgument);
}

TEST(TokenIdentityTest, GrantThatACertificateCannotHoldIsRefused) {
  EXPECT_THAT(
      std::string(DeriveToken(kSecret, {.name = "a b", .roles = AllRoles()})
                      .status()
                      .message()),
      HasSubstr("'a b' is no name"));
  EXPECT_FALSE(
      DeriveToken(kSecret,
                  {.name = "a", .roles = AllRoles(), .jobs = {"tab\t"}})
          .ok());
}

TEST(TokenIdentityTest, DamagedTokenIsRefused) {
  const std::string whole = Derive({.name = "a", .roles = AllRoles()});
  for (size_t size = 8; size < whole.size(); size += 3) {
    EXPECT_FALSE(CallerIdentity(whole.substr(0, size)).ok()) << size;
  }
  std::string changed = whole;
  changed[20] = changed[20] == 'A' ? 'B' : 'A';  // a byte of the private key
  EXPECT_FALSE(CallerIdentity(changed).ok());
  EXPECT_FALSE(CallerIdentity(absl::StrCat(whole, "AAAA")).ok());
  EXPECT_FALSE(CallerIdentity("muster1.!").ok());
}

TEST(TokenIdentityTest, NameOfTheAuthorityTellsSecretsApart) {
  EXPECT_EQ(AuthorityName(kSecret), AuthorityName(kSecret));
  EXPECT_NE(AuthorityName(kSecret), AuthorityName("another"));
  EXPECT_EQ(AuthorityName(Derive({.name = "a", .roles = AllRoles()})),
            AuthorityName(kSecret));
  EXPECT_EQ(AuthorityName("muster1.!"), "");
}

}  // namespace
}  // namespace muster::rendezvous
