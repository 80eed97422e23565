#ifndef MUSTER_RENDEZVOUS_TESTING_TCP_STRANGER_H_
#define MUSTER_RENDEZVOUS_TESTING_TCP_STRANGER_H_

#include <string>
#include <thread>

namespace muster::rendezvous {

// For tests: a server on a port of loopback that is not a coordinator. It sends
// `greeting` on each connection and reads until the peer closes.
class StrangeServer {
 public:
  explicit StrangeServer(std::string greeting);
  ~StrangeServer();

  int port() const { return port_; }

 private:
  void Run();

  const std::string greeting_;
  int listener_ = -1;
  int port_ = 0;
  std::thread thread_;
};

// Connects to loopback's `port`, sends `bytes`, and reads until the peer
// closes. Returns false if the peer does not close within 30 s.
bool SaysAndIsHungUpOn(int port, const std::string& bytes);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TESTING_TCP_STRANGER_H_
