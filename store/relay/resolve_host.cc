#include "store/relay/resolve_host.h"

#include <netdb.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"

namespace muster::store {
namespace {

using Found = absl::StatusOr<std::vector<HostAddress>>;

Found GetAddresses(const std::string& host, int port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* list = nullptr;
  const int error =
      getaddrinfo(host.c_str(), absl::StrCat(port).c_str(), &hints, &list);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list,
                                                                 &freeaddrinfo);
  if (error != 0) return absl::InvalidArgumentError(gai_strerror(error));
  std::vector<HostAddress> addresses;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    HostAddress& address = addresses.emplace_back();
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
    address.size = each->ai_addrlen;
  }
  return addresses;
}

// State shared by the look-up thread and the waiting thread; freed by the last
// of them.
struct Answer {
  std::mutex mutex;
  std::condition_variable come;
  std::optional<Found> found;
};

absl::Status StartLookUp(const std::string& host, int port, LookUp look_up,
                         std::shared_ptr<Answer> answer) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // A thread inherits the signal mask of its creator; signals are left to other
  // threads.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  absl::Status status;
  try {
    std::thread([host, port, look_up = std::move(look_up),
                 answer = std::move(answer)] {
      Found found = look_up(host, port);
      const std::lock_guard<std::mutex> lock(answer->mutex);
      answer->found = std::move(found);
      answer->come.notify_all();
    }).detach();
  } catch (const std::system_error& error) {
    status = absl::ResourceExhaustedError(
        absl::StrCat("a thread for the resolver: ", error.what()));
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return status;
}

}  // namespace

Found SystemLookUp(const std::string& host, int port) {
  return GetAddresses(host, port, 0);
}

Found ResolveHost(const std::string& host, int port, Instant deadline,
                  LookUp look_up) {
  Found numeric = GetAddresses(host, port, AI_NUMERICHOST);
  if (numeric.ok()) return numeric;
  auto answer = std::make_shared<Answer>();
  absl::Status started = StartLookUp(host, port, std::move(look_up), answer);
  if (!started.ok()) return started;
  std::unique_lock<std::mutex> lock(answer->mutex);
  if (!answer->come.wait_until(lock, ToSteady(deadline),
                               [&] { return answer->found.has_value(); })) {
    return absl::DeadlineExceededError(
        "the resolver has not answered for its name");
  }
  return *std::move(answer->found);
}

}  // namespace muster::store
