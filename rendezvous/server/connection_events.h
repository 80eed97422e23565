#ifndef MUSTER_RENDEZVOUS_SERVER_CONNECTION_EVENTS_H_
#define MUSTER_RENDEZVOUS_SERVER_CONNECTION_EVENTS_H_

#include <string>

namespace muster::rendezvous {

// Notifications about a connection, from the gRPC services to the listener. The
// listener needs them to close connections on which no valid call was made.
// `peer`: the value of grpc::ServerContext::peer(). Implementations are
// thread-safe.
class ConnectionEvents {
 public:
  virtual ~ConnectionEvents() = default;
  // Tells the listener that a call on the connection was valid.
  virtual void Proved(const std::string& peer) = 0;
  // Joined tells the listener that a node's stream on the connection has joined
  // a job, and Left that this stream has ended. Each call of Joined is followed
  // by one call of Left.
  virtual void Joined(const std::string& peer) = 0;
  virtual void Left(const std::string& peer) = 0;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_CONNECTION_EVENTS_H_
