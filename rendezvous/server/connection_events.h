#ifndef MUSTER_RENDEZVOUS_SERVER_CONNECTION_EVENTS_H_
#define MUSTER_RENDEZVOUS_SERVER_CONNECTION_EVENTS_H_

#include <string>

namespace muster::rendezvous {

// What the services tell the listener of a connection, so that the listener
// closes those that carry no valid calls. `peer`: as
// grpc::ServerContext::peer() returns it. Implementations are thread-safe.
class ConnectionEvents {
 public:
  virtual ~ConnectionEvents() = default;
  // A call on the connection was valid.
  virtual void Proved(const std::string& peer) = 0;
  // A node's stream on the connection has joined a job, or has ended. One Left
  // for each Joined.
  virtual void Joined(const std::string& peer) = 0;
  virtual void Left(const std::string& peer) = 0;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_CONNECTION_EVENTS_H_
