#ifndef MUSTER_RENDEZVOUS_CLIENT_DIALER_H_
#define MUSTER_RENDEZVOUS_CLIENT_DIALER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/net/resolve.h"
#include "base/net/socket_address.h"
#include "base/time.h"
#include "rendezvous/client/channel.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/tls/tls_files.h"

namespace grpc {
class Channel;
class ChannelCredentials;
}  // namespace grpc

namespace muster::rendezvous {

// Finds the coordinator among the endpoints that the user has configured and
// the endpoints of the standbys, which a coordinator sends. If several
// endpoints are configured, they belong to daemons that share their state. Only
// the leading daemon listens; the ports of the other daemons are closed.
// Thread-safe.
class Dialer {
 public:
  // The result of one call to one address.
  struct Outcome {
    // Whether a coordinator answered the call. If so, Dial calls no other
    // address.
    bool answered = false;
    absl::Status end;  // the call's status, explained for the user
  };
  // Makes one call over `channel`, a new connection to `address`, which is one
  // of the addresses of `endpoint`.
  using Call = std::function<Outcome(
      const Endpoint& endpoint, const SocketAddress& address,
      const std::shared_ptr<grpc::Channel>& channel)>;
  // Returns OK if a program accepts a connection at the address before
  // `deadline`; otherwise Unavailable with the system's error.
  using Reach = std::function<absl::Status(const SocketAddress& address,
                                           Instant deadline)>;

  // `endpoints`: at least one. `tls` and `token`: see ClientCredentials
  // (channel.h).
  Dialer(const std::vector<Endpoint>& endpoints, const TlsFiles& tls,
         const std::string& token, const KeepAlive& keep_alive = {});
  // For tests: `reach` replaces the function that tests with a TCP connection
  // whether an address accepts connections.
  Dialer(const std::vector<Endpoint>& endpoints, const TlsFiles& tls,
         const std::string& token, const KeepAlive& keep_alive, Reach reach);

  // Makes `call` at every address of every endpoint in turn until one answers.
  // Begins with the endpoint that answered last. The order is a cycle: the
  // configured endpoints, the coordinator that sent the list of standbys, the
  // standbys. `limits` apply to each name look-up. Once limits.given_up returns
  // true, no further address is called.
  //
  // If there are several addresses, an address that does not accept a
  // connection within 1.2 s is skipped (see also Lost). A host that drops all
  // packets then does not block the others. A single address has gRPC's time
  // limit, 5 s.
  //
  // Returns the status of the call that was answered. If no address answered:
  // - with one endpoint, the error of its first address;
  // - with several endpoints, the first refusal (Unauthenticated or
  // PermissionDenied), if there is one;
  // - else one line with the error of each endpoint, in the order of the cycle.
  // Its code is the code of all these errors if they agree, else Unavailable.
  absl::Status Dial(const ResolveLimits& limits, const Call& call);

  // Replaces the list of the standbys' endpoints, which are called besides the
  // configured ones. The coordinator that was called last has sent the list.
  void SetStandbys(std::vector<Endpoint> standbys);

  // Tells the dialer that the stream to the endpoint that answered last was up
  // and has broken. The next Dial gives this endpoint only 200 ms to accept a
  // connection: its machine may be gone, and a standby may be waiting for nodes
  // to take over.
  void Lost();
  // Makes the next Dial begin with the next endpoint and the next address.
  // Called if the coordinator that answered serves another job, or is a
  // standby.
  void Advance();
  // Makes the next Dial begin with `endpoint`, even if it is neither a
  // configured endpoint nor the endpoint of a standby.
  void BeginWith(const Endpoint& endpoint);

 private:
  struct Target {
    Endpoint endpoint;
    std::shared_ptr<grpc::ChannelCredentials> credentials;
  };

  // How Dial tests whether an address accepts connections. kByCall (used for a
  // single endpoint): Dial makes the call without a test, unless the endpoint
  // has several addresses. kByConnection (used for several endpoints): Dial
  // first opens a TCP connection as a test.
  enum class Reached { kByCall, kByConnection };

  // Returns the endpoints in the order in which Dial tries them. Requires
  // mutex_.
  std::vector<Endpoint> Cycle() const;
  // Returns the endpoints with their credentials, in the order of Cycle.
  // Requires mutex_.
  std::vector<Target> Targets() const;
  Outcome DialTarget(const Target& target, Reached reached,
                     Duration reach_timeout, const ResolveLimits& limits,
                     const Call& call);
  absl::Status CheckReachable(const Target& target,
                              const SocketAddress& address, Duration timeout);

  const std::vector<Endpoint> configured_;
  const TlsFiles tls_;
  const std::string token_;
  const KeepAlive keep_alive_;
  const Reach reach_;
  // Index of the address with which Dial begins at each endpoint.
  std::atomic<size_t> first_address_ = 0;

  std::mutex mutex_;
  Endpoint first_;   // the endpoint that the next Dial calls first
  Endpoint called_;  // the endpoint that was called last
  // whether Lost was called after the last Dial
  bool is_lost_ = false;
  // The endpoint of the coordinator that sent `standbys_`; nullopt: no
  // coordinator has sent any.
  std::optional<Endpoint> leader_;
  std::vector<Endpoint> standbys_;
  // The endpoints of the last call of Dial, with their credentials. The next
  // call of Dial reuses the credentials of an endpoint in this list.
  std::vector<Target> targets_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_CLIENT_DIALER_H_
