#ifndef MUSTER_RENDEZVOUS_CLIENT_CHANNEL_H_
#define MUSTER_RENDEZVOUS_CLIENT_CHANNEL_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "base/net/socket_address.h"
#include "base/time.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/tls/tls_files.h"

namespace grpc {
class Channel;
class ChannelCredentials;
}  // namespace grpc

namespace muster::rendezvous {

// Explains a call's gRPC status (code and message) in a sentence: what was
// tried, what happened, and what to do. `endpoint`: the coordinator as the user
// named it.
//
// Unavailable: the coordinator cannot be reached, or was lost.
// ResourceExhausted: it is at its limit. For these two, a retry may help.
// Unauthenticated: the job token is missing or wrong. PermissionDenied: the
// certificate does not allow the call. FailedPrecondition: the
// peer is no Muster coordinator, or one that does not understand this program.
// Other codes (NotFound, InvalidArgument…) are the coordinator's own and are
// returned unchanged.
absl::Status ExplainCallError(const absl::Status& status,
                              const std::string& endpoint);

// The delays between attempts to reach the coordinator. Pure.
//
// During the first ten seconds: 5 ms, doubling to 100 ms, since a job's nodes
// start at about the same time as the coordinator that one of them hosts.
// A stream that broke after a long time is opened again at once; then for five
// seconds: 50 ms, doubling to 200 ms, since another coordinator takes over or
// the same is started again. Later: doubling to 1 s, since the coordinator is
// down and thousands of nodes may be retrying.
class RetryPace {
 public:
  explicit RetryPace(Instant start) : start_(start) {}

  // Returns the delay after an attempt that brought no stream.
  Duration AfterFailure(Instant now);
  // Returns the delay after a stream that was up for `lasted`. A short one
  // counts as a failure, so that a coordinator that breaks every stream is not
  // flooded with attempts.
  Duration AfterStream(Instant now, Duration lasted);

 private:
  Duration Doubled(Duration first, Duration most);

  const Instant start_;
  bool reached_ = false;
  // When the newest stream that had been up for long broke; nullopt: none did.
  std::optional<Instant> lost_;
  Duration last_ = Duration::zero();
};

// The credentials of a client of the coordinator that the user named `host`:
// mutual TLS with `tls` if it is given, else by `token` if it is not empty,
// else clear text. `token` is one of ReadCallerToken
// (token_identity.h).
std::shared_ptr<grpc::ChannelCredentials> ClientCredentials(
    const TlsFiles& tls, const std::string& token, const std::string& host);

// The token that each call carries: `token` inside TLS with `tls`, else none.
// Mutual TLS by the token itself proves the token without sending it.
std::string BearerToken(const TlsFiles& tls, const std::string& token);

// Returns the reason that TLS gives for `status`, the explained error of a call
// that reached nobody; `status` itself if TLS is not the reason.
// Unauthenticated (see ExplainTls). Blocks for up to 2 s.
absl::Status WithTlsReason(const absl::Status& status,
                           const Endpoint& coordinator,
                           const SocketAddress& address, const TlsFiles& tls,
                           const std::string& token);

// Creates a connection to `address` that is not shared with other channels; it
// connects at the first call. A dead peer is noticed within 15 s.
std::shared_ptr<grpc::Channel> OpenChannel(
    const SocketAddress& address,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_CLIENT_CHANNEL_H_
