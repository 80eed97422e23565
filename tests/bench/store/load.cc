// A load generator for store servers with little overhead: raw connections in
// one epoll set, the same for every server. Supports both framings. Prints the
// time in microseconds.
//
//   load connect FRAMING PORT PID N    N connections with greetings are in the
//                                      backlog of the server PID, which is
//                                      stopped: the time from SIGCONT until all
//                                      are answered
//   load release FRAMING PORT PID N    N connections wait for one key: the time
//                                      from its SET until all are released
//   load join FRAMING PORT PID N       N clients connect and send greetings to
//                                      the running server: the time until all
//                                      are answered
//
// FRAMING: modern or old. The greeting is what a client sends first: VALIDATE
// and PING in the modern framing, GETNUMKEYS in the old one.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/monotonic_clock.h"
#include "store/wire/request.h"

namespace muster {
namespace {

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::exit(1);
}

int Connect(int port) {
  // Connect over IPv6. PyTorch's server looks up every peer's name, and the
  // IPv4-mapped address of an IPv4 peer is not in /etc/hosts.
  const int fd = socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(static_cast<uint16_t>(port));
  address.sin6_addr = in6addr_loopback;
  if (fd < 0 ||
      connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
    Die("connecting");
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

void Send(int fd, const std::string& bytes) {
  if (send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(bytes.size()))
    Die("sending");
}

// Encodes requests in the modern framing, or with `old` in the old one.
class Words {
 public:
  explicit Words(bool old) : old_(old) {}

  // A request that is answered at once with AnswerBytes() bytes.
  std::string Greeting() const {
    if (old_) return "\6";
    std::string bytes;
    store::AppendRequest({.command = store::StoreCommand::kValidate,
                          .number = store::kStoreMagic},
                         &bytes);
    store::AppendRequest({.command = store::StoreCommand::kPing, .number = 1},
                         &bytes);
    return bytes;
  }
  size_t AnswerBytes() const { return old_ ? 8 : 4; }
  std::string Of(const store::StoreRequest& request) const {
    std::string bytes;
    store::AppendRequest(request, &bytes);
    if (old_) --bytes[0];
    return bytes;
  }

 private:
  const bool old_;
};

// Waits until each connection has received a given number of bytes.
class Answers {
 public:
  Answers(const std::vector<int>& fds, size_t bytes)
      : epoll_(epoll_create1(0)), missing_(fds.size()), bytes_(bytes) {
    for (const int fd : fds) {
      epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
      epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
    }
  }
  ~Answers() { close(epoll_); }

  void Await() {
    std::array<epoll_event, 256> events;
    char buffer[64];
    while (missing_ > 0) {
      const int count =
          epoll_wait(epoll_, events.data(), events.size(), 60'000);
      if (count == 0) {
        std::fprintf(stderr, "%zu were never answered\n", missing_);
        std::exit(1);
      }
      for (int i = 0; i < count; ++i) {
        const ssize_t got = recv(events[i].data.fd, buffer, sizeof(buffer), 0);
        // A reply has at most a few bytes, so all of its bytes arrive together.
        if (got != static_cast<ssize_t>(bytes_)) Die("receiving");
        --missing_;
      }
    }
  }

 private:
  const int epoll_;
  size_t missing_;
  const size_t bytes_;
};

double Microseconds(Instant begin) {
  return ToSeconds(MonotonicNow() - begin) * 1e6;
}

void StopServer(pid_t pid) {
  kill(pid, SIGSTOP);
  // Wait until /proc shows that the server process is stopped.
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%d/stat", pid);
  while (true) {
    std::FILE* file = std::fopen(path, "r");
    char state = 0;
    const bool read =
        file != nullptr && std::fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
    if (file != nullptr) std::fclose(file);
    if (!read) Die("the server's state");
    if (state == 'T') return;
    usleep(100);
  }
}

std::vector<int> ConnectAll(int port, int n) {
  std::vector<int> fds;
  for (int i = 0; i < n; ++i) fds.push_back(Connect(port));
  return fds;
}

double MeasureConnect(const Words& words, int port, pid_t pid, int n) {
  StopServer(pid);
  const std::vector<int> fds = ConnectAll(port, n);
  for (const int fd : fds) Send(fd, words.Greeting());
  Answers answers(fds, words.AnswerBytes());
  const Instant begin = MonotonicNow();
  kill(pid, SIGCONT);
  answers.Await();
  return Microseconds(begin);
}

double MeasureJoin(const Words& words, int port, int n) {
  const Instant begin = MonotonicNow();
  const std::vector<int> fds = ConnectAll(port, n);
  for (const int fd : fds) Send(fd, words.Greeting());
  Answers(fds, words.AnswerBytes()).Await();
  return Microseconds(begin);
}

double MeasureRelease(const Words& words, int port, int n) {
  std::string key = "/released" + std::to_string(getpid());
  const std::vector<int> fds = ConnectAll(port, n);
  for (const int fd : fds) Send(fd, words.Greeting());
  Answers(fds, words.AnswerBytes()).Await();
  const std::string wait =
      words.Of({.command = store::StoreCommand::kWait, .keys = {key}});
  for (const int fd : fds) Send(fd, wait);
  // Connect the client that will set the key, and await the server's reply to
  // this client's greeting. The server handles requests in order, so the reply
  // shows that it has read all WAITs.
  const int setter = Connect(port);
  Send(setter, words.Greeting());
  Answers({setter}, words.AnswerBytes()).Await();
  usleep(200'000);
  Answers answers(fds, 1);
  const Instant begin = MonotonicNow();
  Send(setter,
       words.Of(
           {.command = store::StoreCommand::kSet, .key = key, .value = "v"}));
  answers.Await();
  return Microseconds(begin);
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr,
                 "usage: load connect|join|release modern|old PORT PID N\n");
    return 2;
  }
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  const std::string mode = argv[1];
  const muster::Words words(std::string(argv[2]) == "old");
  const int port = std::atoi(argv[3]);
  const pid_t pid = std::atoi(argv[4]);
  const int n = std::atoi(argv[5]);
  double took = 0;
  if (mode == "connect") took = muster::MeasureConnect(words, port, pid, n);
  if (mode == "join") took = muster::MeasureJoin(words, port, n);
  if (mode == "release") took = muster::MeasureRelease(words, port, n);
  std::printf("%.1f\n", took);
  return 0;
}
