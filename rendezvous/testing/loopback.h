#ifndef MUSTER_RENDEZVOUS_TESTING_LOOPBACK_H_
#define MUSTER_RENDEZVOUS_TESTING_LOOPBACK_H_

#include <netinet/in.h>

#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace muster::rendezvous {

// Returns the address 127.0.0.1 with `port`, for tests.
sockaddr_in Loopback(int port);

// Returns a TCP socket that listens on a free port of loopback, and sets
// `port`. The caller closes the socket.
int ListenOnLoopback(int* port);

// A server on a loopback port that is not a coordinator, for tests. It sends
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

// Connects to the loopback port `port`, sends `bytes`, and reads until the
// server closes the connection. Returns whether that happens within 30 s.
bool SaysAndIsHungUpOn(int port, const std::string& bytes);

// Forwards TCP connections to a loopback port, for tests. Cut resets all
// forwarded connections, as if the process at the other end was killed.
class TcpRelay {
 public:
  explicit TcpRelay(int to_port);
  ~TcpRelay();

  TcpRelay(const TcpRelay&) = delete;
  TcpRelay& operator=(const TcpRelay&) = delete;

  int port() const { return port_; }

  // Breaks all existing connections. New connections are forwarded.
  void Cut();

 private:
  // The two sockets of a forwarded connection: client and server side.
  using Pair = std::pair<int, int>;

  void Run();
  void Accept();
  // Reads once from `from` and sends the bytes to `to`. Returns false if either
  // side has closed.
  static bool Pass(int from, int to);

  const int to_port_;
  int listener_ = -1;
  int port_ = 0;
  // eventfd that wakes thread_ after a change of ending_ or cutting_
  int wake_ = -1;
  std::mutex mutex_;
  bool ending_ = false;
  bool cutting_ = false;
  std::vector<Pair> pairs_;  // open connections; only thread_ uses this field
  std::thread thread_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TESTING_LOOPBACK_H_
