#include "rendezvous/testing/tcp_stranger.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/check.h"

namespace muster {
namespace {

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

StrangeServer::StrangeServer(std::string greeting)
    : greeting_(std::move(greeting)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  MUSTER_CHECK(bind(listener_, generic, size) == 0 &&
               listen(listener_, 10) == 0 &&
               getsockname(listener_, generic, &size) == 0);
  port_ = ntohs(address.sin_port);
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
  // May fail half-way: the other side may have closed already.
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

}  // namespace muster
