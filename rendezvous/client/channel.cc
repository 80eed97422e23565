#include "rendezvous/client/channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/monotonic_clock.h"
#include "rendezvous/grpc/grpc_setup.h"
#include "rendezvous/tls/explain_tls.h"
#include "rendezvous/tls/tls_credentials.h"
#include "rendezvous/wire/bounded_reader.h"

namespace muster::rendezvous {
namespace {

// A part of an error message of gRPC 1.51 (`words`), and the cause of the
// failure, for the user (`meaning`). gRPC reports every failed connection with
// the same code, so only the message tells the cause.
struct Sign {
  const char* words;
  const char* meaning;
};

constexpr Sign kSigns[] = {
    {"Connection refused", "connection refused: nothing listens there (yet?)"},
    {"No route to host", "no route to that host"},
    {"Network is unreachable", "its network is unreachable from here"},
    {"Connection timed out", "no answer: is the port open in the firewall?"},
    {"tcp handshaker shutdown",
     "no answer within 5 s: is the port open in the firewall?"},
    {"before receiving SETTINGS",
     "it takes connections but does not answer: it is stopped, or another "
     "program"},
    {"keepalive watchdog timeout", "it has stopped answering"},
    {"Connection reset by peer", "it broke the connection"},
    {"Broken pipe", "it broke the connection"},
    {"Socket closed", "it closed the connection"},
    {"GOAWAY", "it closed the connection"},
    // gRPC's message when the coordinator shuts down or stops leading.
    {"Cancelling all calls", "it closed the connection"},
    {"last error: OK",
     "something answers there and hangs up: is it another program?"},
};

// Parts of gRPC's error messages that show that the peer speaks another
// protocol.
constexpr const char* kStrangers[] = {"http1.x server", "Failed parsing HTTP/2",
                                      "Expected SETTINGS frame"};

absl::Status Stranger(const std::string& endpoint) {
  return absl::FailedPreconditionError(absl::StrCat(
      endpoint,
      " is not a Muster coordinator: another program answers there; check "
      "host and port"));
}

absl::Status ExplainUnavailable(const std::string& message,
                                const std::string& endpoint) {
  for (const char* words : kStrangers) {
    if (absl::StrContains(message, words)) return Stranger(endpoint);
  }
  for (const Sign& sign : kSigns) {
    if (!absl::StrContains(message, sign.words)) continue;
    return absl::UnavailableError(
        absl::StrCat("coordinator ", endpoint, ": ", sign.meaning));
  }
  return absl::UnavailableError(
      absl::StrCat("coordinator ", endpoint, ": ", message));
}

}  // namespace

absl::Status ExplainCallError(const absl::Status& status,
                              const std::string& endpoint) {
  const std::string message(status.message());
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      return ExplainUnavailable(message, endpoint);
    case absl::StatusCode::kUnauthenticated:
      return absl::UnauthenticatedError(
          absl::StrCat("coordinator ", endpoint, ": ", message,
                       "; give the coordinator's own by MUSTER_TOKEN or "
                       "--token-file"));
    case absl::StatusCode::kPermissionDenied:
      return absl::PermissionDeniedError(
          absl::StrCat("coordinator ", endpoint, ": ", message));
    case absl::StatusCode::kUnimplemented:
      // Either the coordinator is too old for the call, or the peer is a gRPC
      // server that is not a coordinator.
      return absl::FailedPreconditionError(absl::StrCat(
          endpoint,
          " does not know this call: it is not a Muster coordinator, or one of "
          "an older version; check host, port and version"));
    case absl::StatusCode::kResourceExhausted:
      return absl::ResourceExhaustedError(
          absl::StrCat("coordinator ", endpoint, ": ", message));
    case absl::StatusCode::kCancelled:
      // The coordinator's gRPC server has cancelled the call, as it does when
      // it shuts down.
      return absl::UnavailableError(
          absl::StrCat("coordinator ", endpoint, ": it closed the connection"));
    default:
      return status;
  }
}

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kStartUp = seconds(10);
constexpr Duration kStartUpFirst = milliseconds(5);
constexpr Duration kMaxStartUp = milliseconds(100);
constexpr Duration kFirst = milliseconds(50);
constexpr Duration kMax = seconds(1);
constexpr Duration kTakeover = seconds(5);
constexpr Duration kMaxTakeover = milliseconds(200);
constexpr Duration kGoodWhile = seconds(1);

}  // namespace

Duration RetryPace::AfterFailure(Instant now) {
  if (!reached_ && now - start_ < kStartUp) {
    return Doubled(kStartUpFirst, kMaxStartUp);
  }
  const bool just_lost = lost_.has_value() && now - *lost_ < kTakeover;
  return Doubled(kFirst, just_lost ? kMaxTakeover : kMax);
}

Duration RetryPace::AfterStream(Instant now, Duration lasted) {
  reached_ = true;
  if (lasted < kGoodWhile) return AfterFailure(now);
  lost_ = now;
  last_ = Duration::zero();
  return last_;
}

Duration RetryPace::Doubled(Duration first, Duration most) {
  last_ = std::clamp(last_ * 2, first, most);
  return last_;
}

namespace {

constexpr int kConnectTimeoutMs = 5000;
constexpr Duration kTlsTimeout = seconds(2);

}  // namespace

std::shared_ptr<grpc::ChannelCredentials> ClientCredentials(
    const TlsFiles& tls, const std::string& token, const std::string& host) {
  SetUpGrpc();
  if (tls.given()) return TlsClient(tls, host);
  if (token.empty()) return grpc::InsecureChannelCredentials();
  const absl::StatusOr<TokenIdentity> identity = CallerIdentity(token);
  MUSTER_CHECK(identity.ok()) << identity.status();
  return TlsClient(*identity);
}

std::string BearerToken(const TlsFiles& tls, const std::string& token) {
  return tls.given() ? token : "";
}

absl::Status WithTlsReason(const absl::Status& status,
                           const Endpoint& coordinator,
                           const SocketAddress& address, const TlsFiles& tls,
                           const std::string& token) {
  // Whether the peer may have accepted a TCP connection. If it has not, TLS
  // cannot be the reason for `status`.
  const bool accepted = absl::IsUnavailable(status) &&
                        !absl::StrContains(status.message(), "refused") &&
                        !absl::StrContains(status.message(), "no route") &&
                        !absl::StrContains(status.message(), "no answer") &&
                        !absl::StrContains(status.message(), "unreachable");
  if (!accepted && !absl::IsFailedPrecondition(status)) return status;
  const absl::Status reason = ExplainTls(coordinator, address, tls, token,
                                         MonotonicNow() + kTlsTimeout);
  return reason.ok() ? status : reason;
}

KeepAlive KeepAliveOfHosted(int max_nodes) {
  if (max_nodes > kMaxCloselyWatching) return {};
  return {.interval = seconds(1), .timeout = milliseconds(1500)};
}

std::shared_ptr<grpc::Channel> OpenChannel(
    const SocketAddress& address,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials,
    const KeepAlive& keep_alive) {
  SetUpGrpc();
  grpc::ChannelArguments arguments;
  // Do not share subchannels with other channels of this process: their
  // back-off would delay this channel.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // Despite its name, this gRPC option limits the duration of one connection
  // attempt.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);
  // The environment's proxy variables are meant for the web, not for
  // connections within the cluster.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  // The server must permit this rate of pings; grpc_server.cc does.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS,
                   static_cast<int>(keep_alive.interval / milliseconds(1)));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                   static_cast<int>(keep_alive.timeout / milliseconds(1)));
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetMaxReceiveMessageSize(kMaxAnswerBytes);
  return grpc::CreateCustomChannel(address.Uri(), credentials, arguments);
}

}  // namespace muster::rendezvous
