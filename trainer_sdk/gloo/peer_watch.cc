#include "trainer_sdk/gloo/peer_watch.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/blocked_signals.h"
#include "base/monotonic_clock.h"
#include "base/poll.h"

namespace muster {
namespace {

constexpr char kGoodbye = 'g';

enum class Heard { kNothing, kGoodbye, kEnd };

Heard Hear(int fd) {
  char byte = 0;
  const ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);
  if (n > 0) return Heard::kGoodbye;
  return n < 0 && (errno == EAGAIN || errno == EINTR) ? Heard::kNothing
                                                      : Heard::kEnd;
}

}  // namespace

PeerWatch::PeerWatch(std::vector<OwnedFd> sockets, Duration grace,
                     OnGone on_gone)
    : sockets_(std::move(sockets)),
      grace_(grace),
      on_gone_(std::move(on_gone)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  for (const OwnedFd& socket : sockets_) {
    if (socket.open()) hangups_.Add(socket.get());
  }
}

absl::StatusOr<std::unique_ptr<PeerWatch>> PeerWatch::Start(
    std::vector<OwnedFd> sockets, Duration grace, OnGone on_gone) {
  std::unique_ptr<PeerWatch> watch(
      new PeerWatch(std::move(sockets), grace, std::move(on_gone)));
  if (!watch->wake_.open()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("watching the ranks: ", std::strerror(errno)));
  }
  // Block all signals in the new thread, because the program's own threads must
  // handle them.
  const BlockedSignals blocked;
  std::string failure;
  try {
    watch->thread_ = std::thread([self = watch.get()] { self->Run(); });
  } catch (const std::system_error& error) {
    failure = error.what();
  }
  if (failure.empty()) return watch;
  return absl::ResourceExhaustedError(
      absl::StrCat("no thread to watch the ranks with: ", failure));
}

PeerWatch::~PeerWatch() {
  if (!cut_.load()) {
    for (const OwnedFd& socket : sockets_) {
      if (socket.open()) {
        (void)send(socket.get(), &kGoodbye, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
      }
    }
  }
  Wake();
  if (thread_.joinable()) thread_.join();
}

void PeerWatch::Cut() {
  cut_.store(true);
  Wake();
  // shutdown instead of close, because PeerWatch's own thread may be using the
  // descriptors.
  for (const OwnedFd& socket : sockets_) {
    if (socket.open()) shutdown(socket.get(), SHUT_RDWR);
  }
}

void PeerWatch::Wake() {
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof(one));
}

void PeerWatch::Run() {
  const int peer = AwaitEnd();
  if (peer == kNobody) return;
  if (PollUntil(wake_.get(), POLLIN, MonotonicNow() + grace_)) return;
  on_gone_(peer);
}

int PeerWatch::AwaitEnd() {
  const int size = static_cast<int>(sockets_.size());
  std::vector<pollfd> fds;
  for (const OwnedFd& socket : sockets_) {
    fds.push_back({socket.get(), POLLIN, 0});
  }
  fds.push_back({wake_.get(), POLLIN, 0});
  for (;;) {
    PollUntil(fds, kNoDeadline);
    // Check for Wake before the connections: Cut calls Wake and then ends this
    // rank's own connections, and an end caused by Cut must not be taken for
    // the death of a peer.
    if (fds.back().revents != 0) return kNobody;
    for (int peer = 0; peer < size; ++peer) {
      if (fds[peer].revents == 0) continue;
      const Heard heard = Hear(fds[peer].fd);
      if (heard == Heard::kEnd) return peer;
      // The peer left normally. Stop polling its connection: poll ignores
      // negative descriptors.
      if (heard == Heard::kGoodbye) fds[peer].fd = -1;
    }
  }
}

}  // namespace muster
