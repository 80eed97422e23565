#include "agent/progress/progress_sockets.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

// The maximum number of datagrams that one Take reads from one socket, so that
// other workers' sockets are read soon.
constexpr int kMaxPerTake = 64;
// A paused socket is read again once its rate limit allows this many datagrams.
constexpr double kWorthReading = 32;
// The bytes reserved for the longest path below the parent folder, such as
// "/muster-XXXXXX/2147483647.4095", and the final zero.
constexpr size_t kRoomForNames = 40;

absl::Status Failed(const std::string& what) {
  return absl::UnavailableError(absl::StrCat(
      "workers cannot report progress: ", what, ": ", std::strerror(errno)));
}

std::string Fitting(std::string folder) {
  const bool fits = !folder.empty() && folder.size() + kRoomForNames <
                                           sizeof(sockaddr_un::sun_path);
  return fits ? folder : "/tmp";
}

}  // namespace

ProgressSockets::ProgressSockets(std::string folder)
    : parent_(Fitting(std::move(folder))),
      epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

ProgressSockets::~ProgressSockets() {
  Close();
  if (!folder_.empty()) rmdir(folder_.c_str());
}

absl::Status ProgressSockets::MakeFolder() {
  if (!folder_.empty()) return absl::OkStatus();
  std::string name = parent_ + "/muster-XXXXXX";
  // mkdtemp creates the folder with mode 0700, whatever the umask.
  if (mkdtemp(name.data()) == nullptr) return Failed(name);
  folder_ = name;
  return absl::OkStatus();
}

absl::Status ProgressSockets::Open(Instant now, int round, int workers) {
  Close();
  if (absl::Status made = MakeFolder(); !made.ok()) return made;
  per_second_ = std::max(kLeastPerSecond, kPerSecond / workers);
  for (int local_rank = 0; local_rank < workers; ++local_rank) {
    absl::Status opened = OpenOne(now, round, local_rank);
    if (opened.ok()) continue;
    Close();
    return opened;
  }
  return absl::OkStatus();
}

absl::Status ProgressSockets::OpenOne(Instant now, int round, int local_rank) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::string path = absl::StrCat(folder_, "/", round, ".", local_rank);
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  OwnedFd socket(
      ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.open()) return Failed("socket");
  if (bind(socket.get(), reinterpret_cast<sockaddr*>(&address),
           sizeof(address)) != 0) {
    return Failed(path);
  }
  Line line;
  line.socket = std::move(socket);
  line.path = std::move(path);
  line.counted = now;
  lines_.push_back(std::move(line));
  Watch(local_rank);
  return absl::OkStatus();
}

void ProgressSockets::Close() {
  for (const Line& line : lines_) unlink(line.path.c_str());
  lines_.clear();  // closing the sockets removes them from epoll_
}

std::string ProgressSockets::PathOf(int local_rank) const {
  return static_cast<size_t>(local_rank) < lines_.size()
             ? lines_[local_rank].path
             : "";
}

void ProgressSockets::Watch(int local_rank) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u32 = static_cast<uint32_t>(local_rank);
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, lines_[local_rank].socket.get(),
            &event);
}

void ProgressSockets::Refill(Instant now, Line& line) const {
  line.allowance = std::min(
      kBurst, line.allowance +
                  ToSeconds(std::max(now - line.counted, Duration::zero())) *
                      per_second_);
  line.counted = now;
}

std::optional<Instant> ProgressSockets::NextTake() const {
  std::optional<Instant> next;
  for (const Line& line : lines_) {
    if (!line.paused) continue;
    const Instant ready =
        line.counted +
        std::chrono::ceil<Duration>(std::chrono::duration<double>(
            (kWorthReading - line.allowance) / per_second_));
    if (!next.has_value() || ready < *next) next = ready;
  }
  return next;
}

bool ProgressSockets::Read(Line& line, ProgressMessage& message) {
  // The buffer has one byte more than the limit, so that a datagram that is too
  // long is recognised.
  char bytes[kMaxProgressBytes + 1];
  const ssize_t got = recv(line.socket.get(), bytes, sizeof(bytes), 0);
  if (got < 0) return false;
  Append(ParseProgress({bytes, static_cast<size_t>(got)}), &message);
  return true;
}

std::vector<WorkerSaid> ProgressSockets::Take(Instant now) {
  for (size_t i = 0; i < lines_.size(); ++i) {
    Line& line = lines_[i];
    if (!line.paused) continue;
    Refill(now, line);
    // Read the socket again once its rate limit allows kWorthReading datagrams.
    // One datagram less is enough: at the time that NextTake has computed,
    // floating-point rounding may make the allowance slightly smaller.
    if (line.allowance < kWorthReading - 1) continue;
    line.paused = false;
    Watch(static_cast<int>(i));
  }
  std::vector<epoll_event> ready(std::max<size_t>(lines_.size(), 1));
  const int count = epoll_wait(epoll_.get(), ready.data(),
                               static_cast<int>(ready.size()), /*timeout=*/0);
  std::vector<WorkerSaid> all;
  for (int i = 0; i < count; ++i) {
    const int local_rank = static_cast<int>(ready[i].data.u32);
    Line& line = lines_[local_rank];
    Refill(now, line);
    WorkerSaid said{.local_rank = local_rank};
    for (int n = 0; n < kMaxPerTake && line.allowance >= 1; ++n) {
      if (!Read(line, said.message)) break;
      line.allowance -= 1;
    }
    if (line.allowance < 1) {
      line.paused = true;
      epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, line.socket.get(), nullptr);
    }
    if (!said.message.empty()) all.push_back(std::move(said));
  }
  std::sort(all.begin(), all.end(),
            [](const WorkerSaid& a, const WorkerSaid& b) {
              return a.local_rank < b.local_rank;
            });
  return all;
}

}  // namespace muster::agent
