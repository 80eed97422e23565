#include "trainer_sdk/network/mesh.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace muster {
namespace {

constexpr size_t kMaxHostBytes = 255;

}  // namespace

PeerName OwnName(int rank) {
  std::array<char, kMaxHostBytes + 1> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  return PeerName{rank, host.data(), getpid()};
}

std::string Describe(const PeerName& name) {
  return absl::StrCat("rank ", name.rank, " (host ", name.host, ", pid ",
                      name.pid, ")");
}

std::string Encoded(const PeerName& name) {
  return absl::StrCat(name.pid, " ", name.host);
}

absl::StatusOr<PeerName> DecodePeerName(int rank, const std::string& text) {
  PeerName name{rank, "", 0};
  const size_t space = text.find(' ');
  if (space == std::string::npos ||
      !absl::SimpleAtoi(text.substr(0, space), &name.pid) ||
      text.size() - space - 1 > kMaxHostBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", rank, " did not say who it is"));
  }
  name.host = text.substr(space + 1);
  return name;
}

HangupWatch::HangupWatch() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

void HangupWatch::Add(int socket) {
  if (!epoll_.open()) return;
  epoll_event event{};
  event.events = EPOLLRDHUP | EPOLLONESHOT;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket, &event) != 0) {
    epoll_.Close();
  }
}

bool HangupWatch::Any() {
  if (!epoll_.open()) return true;
  std::array<epoll_event, 16> events;
  return epoll_wait(epoll_.get(), events.data(), events.size(), 0) > 0;
}

}  // namespace muster
