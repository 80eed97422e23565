#ifndef MUSTER_RENDEZVOUS_TESTING_TCP_RELAY_H_
#define MUSTER_RENDEZVOUS_TESTING_TCP_RELAY_H_

#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace muster::rendezvous {

// For tests: forwards connections to a port of loopback, until Cut breaks them
// the way the kernel does for a killed process.
class TcpRelay {
 public:
  explicit TcpRelay(int to_port);
  ~TcpRelay();

  TcpRelay(const TcpRelay&) = delete;
  TcpRelay& operator=(const TcpRelay&) = delete;

  int port() const { return port_; }

  // Breaks all existing connections. New ones are forwarded.
  void Cut();

 private:
  // The two sockets of a forwarded connection.
  using Pair = std::pair<int, int>;

  void Run();
  void Accept();
  // Returns false once either side has closed.
  static bool Pass(int from, int to);

  const int to_port_;
  int listener_ = -1;
  int port_ = 0;
  int wake_ = -1;  // eventfd: the flags below have changed
  std::mutex mutex_;
  bool ending_ = false;
  bool cutting_ = false;
  std::vector<Pair> pairs_;  // used on thread_ only
  std::thread thread_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TESTING_TCP_RELAY_H_
