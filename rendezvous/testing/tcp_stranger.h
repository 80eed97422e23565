#ifndef MUSTER_RENDEZVOUS_TESTING_TCP_STRANGER_H_
#define MUSTER_RENDEZVOUS_TESTING_TCP_STRANGER_H_

#include <string>
#include <thread>

namespace muster {

// For tests: a program on a port of loopback that is no coordinator. It says
// `greeting` to whoever connects, and then reads until the caller goes.
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

// Connects to loopback's `port`, says `bytes`, and reads until the other side
// closes, for 30 s at most. False: it did not close in time.
bool SaysAndIsHungUpOn(int port, const std::string& bytes);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_TESTING_TCP_STRANGER_H_
