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
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/tls/tls_files.h"

namespace grpc {
class Channel;
class ChannelCredentials;
}  // namespace grpc

namespace muster::rendezvous {

// Finds the coordinator among its endpoints: those that the user has configured
// and, once a coordinator has told them, those of its standbys. Several
// configured endpoints belong to daemons that share their state: one of them
// leads and listens, and the ports of the others are closed. Thread-safe.
class Dialer {
 public:
  // The result of one call at one address.
  struct Outcome {
    // Whether a coordinator answered, so that no other address is called.
    bool answered = false;
    absl::Status end;  // how the call ended, for the user
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

  // `endpoints`: at least one. `tls` and `token`: as in ClientCredentials.
  Dialer(const std::vector<Endpoint>& endpoints, const TlsFiles& tls,
         const std::string& token);
  // For tests: `reach` replaces the attempt to connect.
  Dialer(const std::vector<Endpoint>& endpoints, const TlsFiles& tls,
         const std::string& token, Reach reach);

  // Calls `call` at every address of every endpoint in turn until one answers:
  // the endpoint that answered last, then the ones that follow it in the cycle
  // of the configured endpoints, the one that has told the standbys, and the
  // standbys. `limits` are those of the
  // look-up of one name. Once limits.given_up returns true, no further address
  // is called.
  //
  // With several addresses, one that does not accept a connection within 1.2 s
  // is passed over, so that a host that drops all packets does not keep the
  // caller from the others. A single address has gRPC's time limit, 5 s.
  //
  // Returns the end of the call that was answered. If none was: the error of
  // the only endpoint (that of its first address, the preferred one); of
  // several endpoints the first refusal (Unauthenticated, PermissionDenied), or
  // one line with the reason of each endpoint, in the order of the list. The
  // code of that line is the common code of all reasons, else Unavailable.
  absl::Status Dial(const ResolveLimits& limits, const Call& call);

  // Replaces the endpoints that are called besides the configured ones. The
  // coordinator of the newest call has told them.
  void SetStandbys(std::vector<Endpoint> standbys);

  // Lets the next Dial begin with the next endpoint and the next address,
  // because the coordinator that answered is another job's, or stands by.
  void Advance();
  // Lets the next Dial begin with `endpoint`, whether or not it is in the
  // cycle.
  void BeginWith(const Endpoint& endpoint);

 private:
  struct Target {
    Endpoint endpoint;
    std::shared_ptr<grpc::ChannelCredentials> credentials;
  };

  // How an address is found to be reachable. kByCall: the only endpoint.
  enum class Reached { kByCall, kByConnection };

  // The endpoints in the order of the cycle. Requires mutex_.
  std::vector<Endpoint> Cycle() const;
  // The targets of one Dial, in the order of the cycle. Requires mutex_.
  std::vector<Target> Targets() const;
  Outcome DialTarget(const Target& target, Reached reached,
                     const ResolveLimits& limits, const Call& call);
  absl::Status CheckReachable(const Target& target,
                              const SocketAddress& address);

  const std::vector<Endpoint> configured_;
  const TlsFiles tls_;
  const std::string token_;
  const Reach reach_;
  // Index of the address that is called first.
  std::atomic<size_t> first_address_ = 0;

  std::mutex mutex_;
  Endpoint first_;   // the endpoint that is called first
  Endpoint called_;  // the endpoint of the newest call
  // The endpoint that has told `standbys_`; nullopt: none has.
  std::optional<Endpoint> leader_;
  std::vector<Endpoint> standbys_;
  std::vector<Target> targets_;  // those of the newest Dial
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_CLIENT_DIALER_H_
