#ifndef MUSTER_RENDEZVOUS_CLIENT_CHANNEL_H_
#define MUSTER_RENDEZVOUS_CLIENT_CHANNEL_H_

#include <chrono>
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
// ResourceExhausted: the coordinator is at its limit. A retry may help after
// these two. Unauthenticated: the job token is missing or wrong.
// PermissionDenied: the certificate does not allow the call.
// FailedPrecondition: the peer is no Muster coordinator, or a coordinator that
// does not understand this program. Other codes (NotFound, InvalidArgument…)
// come from the coordinator and are returned unchanged.
absl::Status ExplainCallError(const absl::Status& status,
                              const std::string& endpoint);

// The delays between attempts to reach the coordinator. Pure.
//
// Before the first stream, during the first ten seconds: 5 ms, doubling to 100
// ms, because the coordinator is probably just starting.
//
// After the break of a stream that was up for a second or more: no delay.
// During the next five seconds: 50 ms, doubling to 200 ms, because another
// coordinator may be taking over. At all other times: 50 ms, doubling to 1 s,
// because thousands of nodes may be retrying.
class RetryPace {
 public:
  explicit RetryPace(Instant start) : start_(start) {}

  // Returns the delay after an attempt that failed to open a stream.
  Duration AfterFailure(Instant now);
  // Returns the delay after a stream that was up for `lasted`. A stream shorter
  // than a second counts as a failure. So if a coordinator breaks every stream,
  // agents do not flood it.
  Duration AfterStream(Instant now, Duration lasted);

 private:
  Duration Doubled(Duration first, Duration most);

  const Instant start_;
  bool reached_ = false;
  // The time at which a stream last broke after it was up for a second or
  // more; nullopt: no such stream yet.
  std::optional<Instant> lost_;
  Duration last_ = Duration::zero();
};

// Returns the credentials for calls to a coordinator. `host`: the coordinator's
// name as the user gave it. If `tls` is given: mutual TLS with these files.
// Else if `token` is not empty: mutual TLS with keys derived from the token.
// Else no encryption (clear text). `token` comes from ReadCallerToken
// (token_identity.h).
std::shared_ptr<grpc::ChannelCredentials> ClientCredentials(
    const TlsFiles& tls, const std::string& token, const std::string& host);

// Returns the token to send as a header with each call. If TLS uses the files
// `tls`, the result is `token`. Otherwise the result is empty: the keys of
// mutual TLS are then derived from the token, so the TLS handshake already
// proves that the caller knows the token.
std::string BearerToken(const TlsFiles& tls, const std::string& token);

// Explains a call that reached no coordinator. `status`: the result of
// ExplainCallError. If TLS is the reason, returns Unauthenticated with a
// sentence that explains it (ExplainTls); else returns `status`. Blocks for up
// to 2 s.
absl::Status WithTlsReason(const absl::Status& status,
                           const Endpoint& coordinator,
                           const SocketAddress& address, const TlsFiles& tls,
                           const std::string& token);

// How a channel notices that its peer has stopped answering, or that the peer's
// machine is gone. If no byte arrives for `interval`, the channel sends a ping.
// If the ping is not answered within `timeout`, the channel closes the
// connection.
struct KeepAlive {
  Duration interval = std::chrono::seconds(2);
  Duration timeout = std::chrono::seconds(3);
};

// Maximum number of nodes of a job whose nodes notice within 2.5 s that their
// coordinator's machine is lost. With more nodes, frequent pings would take too
// much of the coordinator's processor time, and its answers may come late.
inline constexpr int kMaxCloselyWatching = 1024;
// Returns the keep-alive of a node's connection to its coordinator, for jobs in
// which another node can take over from a coordinator that runs inside a
// `launch`. `max_nodes`: maximum number of the job's nodes. With up to
// kMaxCloselyWatching nodes, the loss of the coordinator's machine is noticed
// within 2.5 s, else within 5 s.
KeepAlive KeepAliveOfHosted(int max_nodes);

// Returns a channel to `address` whose connection is not shared with other
// channels. The connection is opened at the first call.
std::shared_ptr<grpc::Channel> OpenChannel(
    const SocketAddress& address,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials,
    const KeepAlive& keep_alive = {});

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_CLIENT_CHANNEL_H_
