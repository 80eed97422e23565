#include "rendezvous/tls/explain_tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>

#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/bounded_file.h"
#include "base/net/connect.h"
#include "base/poll.h"
#include "rendezvous/tls/principal.h"
#include "rendezvous/tls/token_identity.h"
#include "rendezvous/tls/x509.h"

namespace muster::rendezvous {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;

struct ContextDeleter {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
struct SslDeleter {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

// The identity that this process presents: TLS files, a token, or nothing.
struct Shown {
  const TlsFiles& files;
  const std::string& token;

  bool nothing() const { return !files.given() && token.empty(); }
};

// Configures `context`, so that its TLS connections present the certificate
// that CallerIdentity makes from `token`.
void UseToken(const std::string& token, SSL_CTX* context) {
  const absl::StatusOr<TokenIdentity> identity = CallerIdentity(token);
  if (!identity.ok()) return;
  const std::vector<Certificate> chain =
      ReadCertificates(identity->certificate);
  SSL_CTX_use_certificate(context, chain[0].get());
  const PrivateKey key = ReadPrivateKey(identity->key);
  SSL_CTX_use_PrivateKey(context, key.get());
}

// The result of the handshake, or of a read, on a TLS connection.
enum class Outcome { kDone, kPeerClosed, kTimeout, kError };

// One TLS connection that accepts every certificate.
class Conversation {
 public:
  Conversation(OwnedFd fd, const Shown& shown, Instant deadline)
      : fd_(std::move(fd)),
        deadline_(deadline),
        context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_3_VERSION);
    if (shown.files.given()) {
      SSL_CTX_use_certificate_chain_file(context_.get(),
                                         shown.files.certificate.c_str());
      SSL_CTX_use_PrivateKey_file(context_.get(), shown.files.key.c_str(),
                                  SSL_FILETYPE_PEM);
    } else if (!shown.token.empty()) {
      UseToken(shown.token, context_.get());
    }
    ssl_.reset(SSL_new(context_.get()));
    // gRPC's server requires that the client offers HTTP/2 in the handshake
    // (ALPN).
    constexpr unsigned char kHttp2[] = {2, 'h', '2'};
    SSL_set_alpn_protos(ssl_.get(), kHttp2, sizeof(kHttp2));
    SSL_set_fd(ssl_.get(), fd_.get());
  }

  Outcome Handshake() {
    return Repeat([this] { return SSL_connect(ssl_.get()); });
  }

  // Reads one byte. With TLS 1.3 only the first read after the handshake shows
  // whether the peer has refused this side's certificate.
  Outcome ReadByte() {
    char byte = 0;
    return Repeat([&] { return SSL_read(ssl_.get(), &byte, 1); });
  }

  // OpenSSL's reason code; valid after kError.
  int reason() const { return reason_; }
  std::string ReasonText() const {
    const char* const text = ERR_reason_error_string(error_);
    const bool silent =
        text == nullptr || reason_ == SSL_R_UNEXPECTED_EOF_WHILE_READING;
    return silent ? "it closed the connection after the handshake" : text;
  }

  // The peer's certificate and the other certificates that it sent; empty
  // before the handshake.
  std::vector<Certificate> PeerChain() const {
    std::vector<Certificate> chain;
    STACK_OF(X509)* const sent = SSL_get_peer_cert_chain(ssl_.get());
    for (int i = 0; i < sk_X509_num(sent); ++i) {
      X509* const one = sk_X509_value(sent, i);
      X509_up_ref(one);
      chain.emplace_back(one);
    }
    return chain;
  }

 private:
  template <typename Step>
  Outcome Repeat(const Step& step) {
    while (true) {
      ERR_clear_error();
      const int result = step();
      if (result > 0) return Outcome::kDone;
      const int wanted = SSL_get_error(ssl_.get(), result);
      if (wanted == SSL_ERROR_WANT_READ || wanted == SSL_ERROR_WANT_WRITE) {
        const short event = wanted == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
        if (!PollUntil(fd_.get(), event, deadline_)) return Outcome::kTimeout;
        continue;
      }
      error_ = ERR_peek_error();
      reason_ = ERR_GET_REASON(error_);
      ERR_clear_error();
      const bool closed = wanted == SSL_ERROR_ZERO_RETURN ||
                          wanted == SSL_ERROR_SYSCALL ||
                          reason_ == SSL_R_UNEXPECTED_EOF_WHILE_READING;
      return closed ? Outcome::kPeerClosed : Outcome::kError;
    }
  }

  const OwnedFd fd_;
  const Instant deadline_;
  const std::unique_ptr<SSL_CTX, ContextDeleter> context_;
  std::unique_ptr<SSL, SslDeleter> ssl_;
  unsigned long error_ = 0;
  int reason_ = 0;
};

// Whether OpenSSL's reason code `reason` means that the peer's answer was no
// TLS record.
bool SpeaksNoTls(int reason) {
  return reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST ||
         reason == SSL_R_PACKET_LENGTH_TOO_LONG;
}

// Checks the coordinator's certificates. OK: this process accepts them.
absl::Status CheckPeer(const std::vector<Certificate>& chain,
                       const std::string& who, const std::string& host,
                       const TlsFiles& files) {
  if (chain.empty()) return absl::OkStatus();
  const std::string its =
      absl::StrCat(who, ": its certificate (", SubjectOf(chain[0].get()), ") ");
  const std::string not_valid = WhyNotValid(chain[0].get(), std::time(nullptr));
  if (!not_valid.empty()) {
    return absl::UnauthenticatedError(
        absl::StrCat(its, not_valid, "; renew it there"));
  }
  const absl::StatusOr<std::string> pem =
      ReadBoundedFile(files.authority, kMaxFileBytes);
  const std::string not_trusted =
      pem.ok() ? WhyNotTrusted(chain, ReadCertificates(*pem))
               : std::string(pem.status().message());
  if (!not_trusted.empty()) {
    return absl::UnauthenticatedError(
        absl::StrCat(its, "is not signed by an authority in --tls-ca ",
                     files.authority, ": ", not_trusted));
  }
  const CertificateNames names = NamesOf(chain[0].get());
  if (!NamesHost(names, host)) {
    return absl::UnauthenticatedError(
        absl::StrCat(its, "is for ", ToText(names), ", not for ", host,
                     "; name the coordinator by one of these, or add ", host,
                     " to its certificate as a subject alternative name"));
  }
  return absl::OkStatus();
}

// Checks the coordinator's certificates for a process that has a token and no
// TLS files. OK: this process accepts them.
absl::Status CheckPeerByToken(const std::vector<Certificate>& chain,
                              const std::string& who,
                              const std::string& token) {
  if (chain.empty()) return absl::OkStatus();
  if (!NamesCoordinator(NamesOf(chain[0].get()))) {
    return absl::UnauthenticatedError(absl::StrCat(
        who, " shows a certificate (", SubjectOf(chain[0].get()),
        ") that no token has made; if it was started with --tls-cert, give "
        "--tls-cert, --tls-key and --tls-ca here, too"));
  }
  const std::string own = AuthorityName(token);
  for (const Certificate& one : chain) {
    if (IssuerNameOf(one.get()) == own) return absl::OkStatus();
  }
  return absl::UnauthenticatedError(absl::StrCat(
      who, " has another token than this process (\"",
      IssuerNameOf(chain[0].get()), "\" there, \"", own,
      "\" here); give both the same by MUSTER_TOKEN or --token-file"));
}

// Returns the error for a coordinator that refused the certificate of this
// process.
absl::Status Refused(const Conversation& talk, const std::string& who,
                     const Shown& shown) {
  if (!shown.files.given()) {
    return absl::UnauthenticatedError(
        absl::StrCat(who, " refuses the token: ", talk.ReasonText(),
                     "; it may be another one, or expired: `launch token` "
                     "makes one from the coordinator's"));
  }
  return absl::UnauthenticatedError(absl::StrCat(
      who, " refuses --tls-cert ", shown.files.certificate, ": ",
      talk.ReasonText(),
      "; its --tls-ca must hold the authority that signed this file, and its "
      "clock must be right"));
}

// Returns the error for a process that has no certificate, although the
// coordinator demands one.
absl::Status AsksForMore(const std::vector<Certificate>& chain,
                         const std::string& who) {
  const bool by_token =
      !chain.empty() && NamesCoordinator(NamesOf(chain[0].get()));
  return absl::UnauthenticatedError(
      by_token ? absl::StrCat(who,
                              " asks for a job token, and none was given; give "
                              "the coordinator's own by MUSTER_TOKEN or "
                              "--token-file")
               : absl::StrCat(who,
                              " asks for TLS with a certificate; give "
                              "--tls-cert, --tls-key and --tls-ca"));
}

// Returns the error for a coordinator that does not use TLS.
absl::Status NoTls(const std::string& who, const Shown& shown) {
  return absl::UnauthenticatedError(
      shown.files.given()
          ? absl::StrCat(
                who,
                " uses no TLS; start it with --tls-cert, --tls-key and "
                "--tls-ca, or leave them out here")
          : absl::StrCat(
                who,
                " has no token and uses no TLS; start it with the "
                "same MUSTER_TOKEN or --token-file, or leave the token "
                "out here"));
}

// Makes one attempt of ExplainTls. Sets `*closed` if the coordinator closed the
// connection right after the handshake, before its first message.
absl::Status Attempt(const std::string& who, const std::string& host,
                     const SocketAddress& address, const Shown& shown,
                     Instant deadline, bool* closed) {
  *closed = false;
  absl::StatusOr<OwnedFd> fd = Connect(address, deadline);
  if (!fd.ok()) return absl::OkStatus();
  Conversation talk(*std::move(fd), shown, deadline);
  const Outcome shaken = talk.Handshake();
  if (shaken == Outcome::kError) {
    if (SpeaksNoTls(talk.reason())) {
      return shown.nothing() ? absl::OkStatus() : NoTls(who, shown);
    }
    return shown.nothing() ? AsksForMore(talk.PeerChain(), who)
                           : Refused(talk, who, shown);
  }
  if (shaken != Outcome::kDone) return absl::OkStatus();
  if (shown.nothing()) return AsksForMore(talk.PeerChain(), who);
  absl::Status peer =
      shown.files.given()
          ? CheckPeer(talk.PeerChain(), who, host, shown.files)
          : CheckPeerByToken(talk.PeerChain(), who, shown.token);
  if (!peer.ok()) return peer;
  // gRPC's server sends its SETTINGS frame once it has accepted the certificate
  // of this process. So the arrival of a byte shows that the certificate was
  // accepted.
  const Outcome read = talk.ReadByte();
  *closed = read == Outcome::kPeerClosed;
  return *closed || read == Outcome::kError ? Refused(talk, who, shown)
                                            : absl::OkStatus();
}

}  // namespace

absl::Status ExplainTls(const Endpoint& coordinator,
                        const SocketAddress& address, const TlsFiles& files,
                        const std::string& token, Instant deadline) {
  const std::string who = absl::StrCat("coordinator ", coordinator.ToString());
  const Shown shown{files, token};
  bool closed = false;
  absl::Status why =
      Attempt(who, coordinator.host, address, shown, deadline, &closed);
  if (!closed) return why;
  // The coordinator has closed the connection. Either it refuses the
  // certificate, or it is shutting down. A second attempt tells the two apart:
  // a coordinator that is shutting down accepts no second connection.
  return Attempt(who, coordinator.host, address, shown, deadline, &closed);
}

}  // namespace muster::rendezvous
