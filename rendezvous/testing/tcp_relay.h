#ifndef MUSTER_RENDEZVOUS_TESTING_TCP_RELAY_H_
#define MUSTER_RENDEZVOUS_TESTING_TCP_RELAY_H_

#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace muster {

// For tests: passes connections on to a port of loopback, until it cuts them,
// as the kernel does for a process that is killed.
class TcpRelay {
 public:
  explicit TcpRelay(int to_port);
  ~TcpRelay();

  TcpRelay(const TcpRelay&) = delete;
  TcpRelay& operator=(const TcpRelay&) = delete;

  int port() const { return port_; }

  // Breaks every connection that there is. New ones are passed on.
  void Cut();

 private:
  // The two sockets of a connection.
  using Pair = std::pair<int, int>;

  void Run();
  void Accept();
  // False once either side is gone.
  static bool Pass(int from, int to);

  const int to_port_;
  int listener_ = -1;
  int port_ = 0;
  int wake_ = -1;  // eventfd: look at what follows
  std::mutex mutex_;
  bool ending_ = false;
  bool cutting_ = false;
  std::vector<Pair> pairs_;  // of thread_
  std::thread thread_;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_TESTING_TCP_RELAY_H_
