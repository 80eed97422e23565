#ifndef MUSTER_RENDEZVOUS_SERVER_CONNECTION_EVENTS_H_
#define MUSTER_RENDEZVOUS_SERVER_CONNECTION_EVENTS_H_

#include <string>

namespace muster::rendezvous {

// Through this interface the gRPC services tell the Listener what happens on a
// connection. The Listener accepts the server's connections, and closes those
// on which no caller proves its identity.
//
// `peer`: the value of grpc::ServerContext::peer(). Implementations are
// thread-safe.
class ConnectionEvents {
 public:
  virtual ~ConnectionEvents() = default;
  // Tells the Listener that a caller on the connection has proved its identity,
  // or that a job has accepted its report.
  virtual void Proved(const std::string& peer) = 0;
  // Joined tells the Listener that a node's stream on the connection has joined
  // a job, and Left that this stream has ended. Each call of Joined is followed
  // by one call of Left.
  virtual void Joined(const std::string& peer) = 0;
  virtual void Left(const std::string& peer) = 0;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_CONNECTION_EVENTS_H_
