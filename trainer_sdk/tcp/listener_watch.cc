#include "trainer_sdk/tcp/listener_watch.h"

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster {
namespace {

bool IsDialled(int fd) {
  pollfd polled{fd, POLLOUT, 0};
  return poll(&polled, 1, 0) > 0;
}

// Data is never expected on this connection, so it is discarded.
bool HasEnded(int fd) {
  char dropped[64];
  for (;;) {
    const ssize_t n = recv(fd, dropped, sizeof(dropped), MSG_DONTWAIT);
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    return n == 0 || errno != EAGAIN;
  }
}

}  // namespace

ListenerWatch::ListenerWatch(const sockaddr_storage& address, socklen_t length,
                             std::string who, Duration patience, Instant now)
    : address_(address),
      length_(length),
      who_(std::move(who)),
      patience_(patience) {
  Dial(now);
}

void ListenerWatch::Dial(Instant now) {
  state_ = State::kDialling;
  socket_ = OwnedFd(socket(address_.ss_family,
                           SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_.open()) {
    state_ = State::kBlind;
    return;
  }
  const int done = connect(
      socket_.get(), reinterpret_cast<const sockaddr*>(&address_), length_);
  if (done == 0) {
    OnDialled(0, now);
  } else if (errno != EINPROGRESS && errno != EINTR) {
    OnDialled(errno, now);
  }
}

void ListenerWatch::OnDialled(int error, Instant now) {
  if (error == 0) {
    state_ = State::kConnected;
    has_listened_ = true;
    return;
  }
  socket_.Close();
  state_ = error == ECONNREFUSED ? State::kRefused : State::kBlind;
  if (state_ == State::kRefused) until_ = has_listened_ ? now : now + patience_;
}

pollfd ListenerWatch::polled() const {
  pollfd polled{socket_.get(), POLLIN, 0};
  if (state_ == State::kDialling) polled.events = POLLOUT;
  return polled;
}

absl::Status ListenerWatch::Look(Instant now) {
  if (state_ == State::kDialling && IsDialled(socket_.get())) {
    int error = 0;
    socklen_t length = sizeof(error);
    (void)getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    OnDialled(error, now);
  }
  if (state_ == State::kConnected && HasEnded(socket_.get())) Dial(now);
  if (state_ != State::kRefused || now < until_) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(who_, " has died: nobody listens there any more"));
}

}  // namespace muster
