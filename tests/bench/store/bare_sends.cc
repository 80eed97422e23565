// A minimal store server without a parser and without keys. It spends its time
// in the kernel. So no store server with one thread can be faster.
//
// Serves the client `load` (load.cc). The first message of each connection is a
// greeting, to which the server replies. A later message is a WAIT or a SET. On
// a WAIT, the connection begins to wait. On a SET, the server sends one byte to
// each waiting connection. The messages may have the framing of PyTorch 2.1 and
// newer or that of older versions. Prints its port, and ends when its stdin
// ends.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string_view>
#include <vector>

namespace muster {
namespace {

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::exit(1);
}

class BareServer {
 public:
  BareServer()
      : epoll_(epoll_create1(0)),
        listener_(socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0)) {
    const int on = 1;
    // Accepted connections inherit TCP_NODELAY from the listening socket.
    setsockopt(listener_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&any), sizeof(any)) != 0 ||
        listen(listener_, 1 << 20) != 0)
      Die("listening");
    Watch(listener_);
    Watch(STDIN_FILENO);
  }

  int Port() const {
    sockaddr_in6 address{};
    socklen_t size = sizeof(address);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin6_port);
  }

  void Serve() {
    std::array<epoll_event, 256> events;
    while (true) {
      const int count = epoll_wait(epoll_, events.data(), events.size(), -1);
      for (int i = 0; i < count; ++i) {
        const int fd = events[i].data.fd;
        if (fd == listener_) {
          Accept();
        } else if (!Read(fd)) {
          return;
        }
      }
    }
  }

 private:
  // Whether the server has replied to the greeting of a connection's client.
  // kNothing: no; kAnswer: yes.
  enum class Stage { kNothing, kAnswer };

  void Watch(int fd) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }

  void Accept() {
    while (true) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK);
      if (fd < 0) return;
      if (stages_.size() <= static_cast<size_t>(fd)) stages_.resize(fd + 1);
      stages_[fd] = Stage::kNothing;
      Watch(fd);
    }
  }

  // Handles input of descriptor `fd`. Returns false once stdin has ended.
  bool Read(int fd) {
    const ssize_t count = read(fd, buffer_.data(), buffer_.size());
    if (fd == STDIN_FILENO) return count > 0;
    if (count <= 0) {
      waiting_.erase(fd);
      close(fd);
      return true;
    }
    const std::string_view said(buffer_.data(), static_cast<size_t>(count));
    if (stages_[fd] == Stage::kNothing) {
      stages_[fd] = Stage::kAnswer;
      Answer(fd, said);
    } else if (said[0] == '\5' + (old_ ? 0 : 1)) {
      waiting_.insert(fd);
    } else {
      for (const int waiter : waiting_) {
        send(waiter, "\0", 1, MSG_NOSIGNAL);
      }
      waiting_.clear();
    }
    return true;
  }

  // Replies to a client's greeting. In the old framing the greeting is
  // GETNUMKEYS, in the modern framing it is VALIDATE and PING 1.
  void Answer(int fd, std::string_view greeting) {
    old_ = greeting.size() == 1;
    const std::string_view answer("\1\0\0\0\0\0\0\0", old_ ? 8 : 4);
    send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
  }

  const int epoll_;
  const int listener_;
  bool old_ = false;
  // The stage of each connection, indexed by descriptor.
  std::vector<Stage> stages_;
  std::set<int> waiting_;
  std::array<char, 4096> buffer_;
};

}  // namespace
}  // namespace muster

int main() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  muster::BareServer server;
  std::printf("%d\n", server.Port());
  std::fflush(stdout);
  server.Serve();
  return 0;
}
