#include "rendezvous/testing/tcp_stranger.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/check.h"
#include "rendezvous/testing/loopback.h"

namespace muster::rendezvous {
StrangeServer::StrangeServer(std::string greeting)
    : greeting_(std::move(greeting)) {
  listener_ = ListenOnLoopback(&port_);
  thread_ = std::thread([this] { Run(); });
}

StrangeServer::~StrangeServer() {
  shutdown(listener_, SHUT_RDWR);
  thread_.join();
  close(listener_);
}

void StrangeServer::Run() {
  while (true) {
    const int caller = accept(listener_, nullptr, nullptr);
    if (caller < 0) return;
    send(caller, greeting_.data(), greeting_.size(), MSG_NOSIGNAL);
    char buffer[4096];
    timeval patience = {.tv_sec = 1, .tv_usec = 0};
    setsockopt(caller, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    while (recv(caller, buffer, sizeof(buffer), 0) > 0) {
    }
    close(caller);
  }
}

bool SaysAndIsHungUpOn(int port, const std::string& bytes) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  timeval patience = {.tv_sec = 30, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  const sockaddr_in address = Loopback(port);
  MUSTER_CHECK(connect(fd, reinterpret_cast<const sockaddr*>(&address),
                       sizeof(address)) == 0);
  // Sending may fail half-way if the peer has already closed.
  send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  char buffer[4096];
  ssize_t got;
  do {
    got = recv(fd, buffer, sizeof(buffer), 0);
  } while (got > 0);
  const bool hung_up = got == 0 || errno == ECONNRESET;
  close(fd);
  return hung_up;
}

}  // namespace muster::rendezvous
