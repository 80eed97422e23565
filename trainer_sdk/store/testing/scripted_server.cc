#include "trainer_sdk/store/testing/scripted_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <utility>

#include "base/check.h"

namespace muster {
namespace {

constexpr timeval kReceiveTimeout = {.tv_sec = 30, .tv_usec = 0};
constexpr size_t kValidateBytes = 5;
constexpr size_t kPingBytes = 5;

}  // namespace

ScriptedPeer::ScriptedPeer(OwnedFd socket) : socket_(std::move(socket)) {
  setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &kReceiveTimeout,
             sizeof(kReceiveTimeout));
  const int on = 1;
  setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

void ScriptedPeer::AwaitClose() {
  while (!Receive(1).empty()) {
  }
}

std::string ScriptedPeer::Receive(size_t bytes) {
  std::string received(bytes, '\0');
  const ssize_t count =
      recv(socket_.get(), received.data(), bytes, MSG_WAITALL);
  received.resize(count > 0 ? count : 0);
  return received;
}

void ScriptedPeer::Send(const std::string& bytes) {
  size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count = send(socket_.get(), bytes.data() + sent,
                               bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return;
    sent += count;
  }
}

void ScriptedPeer::Greet() {
  Receive(kValidateBytes);
  const std::string ping = Receive(kPingBytes);
  if (ping.size() == kPingBytes) Send(ping.substr(1));
}

ScriptedServer::ScriptedServer(
    std::function<void(ScriptedPeer& peer, int connection)> script)
    : script_(std::move(script)),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  MUSTER_CHECK(bind(listener_.get(), generic, size) == 0 &&
               listen(listener_.get(), 64) == 0 &&
               getsockname(listener_.get(), generic, &size) == 0);
  port_ = ntohs(address.sin_port);
  accepting_ = std::thread([this] { Accept(); });
}

ScriptedServer::~ScriptedServer() {
  // shutdown makes accept return in the thread that accepts connections
  shutdown(listener_.get(), SHUT_RDWR);
  accepting_.join();
  for (std::thread& script : scripts_) script.join();
}

void ScriptedServer::Accept() {
  for (int connection = 0;; ++connection) {
    OwnedFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.open()) return;
    scripts_.emplace_back(
        [this, connection, peer = ScriptedPeer(std::move(socket))]() mutable {
          script_(peer, connection);
          // Close the socket explicitly: its owner is the lambda, which lives
          // as long as the thread object.
          peer.socket_.Close();
        });
  }
}

}  // namespace muster
