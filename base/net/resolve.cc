#include "base/net/resolve.h"

#include <netdb.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/blocked_signals.h"

namespace muster {
namespace {

constexpr Duration kGlance = std::chrono::milliseconds(50);

using Addresses = absl::StatusOr<std::vector<SocketAddress>>;

// State that the look-up thread and the waiting thread share. The thread that
// finishes last frees it.
struct Answer {
  std::mutex mutex;
  std::condition_variable come;
  std::optional<Addresses> addresses;
};

absl::Status StartLookUp(const std::string& host, int port, LookUp look_up,
                         std::shared_ptr<Answer> answer) {
  // The look-up thread inherits this mask, which blocks all signals, so that
  // other threads handle them.
  const BlockedSignals blocked;
  absl::Status status;
  try {
    std::thread([host, port, look_up = std::move(look_up),
                 answer = std::move(answer)] {
      Addresses addresses = look_up(host, port);
      const std::lock_guard<std::mutex> lock(answer->mutex);
      answer->addresses = std::move(addresses);
      answer->come.notify_all();
    }).detach();
  } catch (const std::system_error& error) {
    status = absl::ResourceExhaustedError(
        absl::StrCat("a thread for the resolver: ", error.what()));
  }
  return status;
}

// The addresses, if no look-up is needed, or the Answer of a running look-up.
using LookUpOrAddresses = std::variant<Addresses, std::shared_ptr<Answer>>;

LookUpOrAddresses Start(const HostAndPort& name, const ResolveLimits& limits) {
  const std::optional<SocketAddress> numeric =
      NumericAddress(name.host, name.port);
  if (numeric.has_value()) {
    return Addresses(std::vector<SocketAddress>{*numeric});
  }
  auto answer = std::make_shared<Answer>();
  const absl::Status started =
      StartLookUp(name.host, name.port, limits.look_up, answer);
  if (!started.ok()) return Addresses(started);
  return answer;
}

// Waits for a look-up for at most `left`, and subtracts the waiting time from
// `left`. `timeout`: the time limit of all look-ups, for the error message.
Addresses Await(const std::string& host, Answer& answer,
                const ResolveLimits& limits, Duration timeout, Duration& left) {
  std::unique_lock<std::mutex> lock(answer.mutex);
  while (!answer.addresses.has_value() && left > Duration::zero() &&
         !(limits.given_up && limits.given_up())) {
    const Duration slice = std::min(left, kGlance);
    const bool has_come = answer.come.wait_for(
        lock, slice, [&] { return answer.addresses.has_value(); });
    if (!has_come) left -= slice;
  }
  if (!answer.addresses.has_value()) {
    return absl::DeadlineExceededError(
        absl::StrCat("the name ", host, " was not resolved within ",
                     ToSeconds(timeout), " s; is the name server reachable?"));
  }
  Addresses& found = *answer.addresses;
  if (!found.ok() || found->empty()) {
    return absl::UnavailableError(absl::StrCat(
        "the name ", host, " does not resolve: ",
        found.ok() ? "no address" : std::string(found.status().message())));
  }
  std::stable_partition(
      found->begin(), found->end(),
      [](const SocketAddress& one) { return one.family() == AF_INET; });
  return *std::move(found);
}

}  // namespace

Addresses SystemLookUp(const std::string& host, int port) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error =
      getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(list,
                                                             &freeaddrinfo);
  if (error != 0) return absl::UnavailableError(gai_strerror(error));
  std::vector<SocketAddress> addresses;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    if (one->ai_addrlen > sizeof(sockaddr_storage)) continue;
    SocketAddress& address = addresses.emplace_back();
    std::memcpy(&address.storage, one->ai_addr, one->ai_addrlen);
    address.size = one->ai_addrlen;
  }
  return addresses;
}

Addresses Resolve(const std::string& host, int port, ResolveLimits limits) {
  return ResolveAll({{.host = host, .port = port}}, std::move(limits)).front();
}

std::vector<Addresses> ResolveAll(const std::vector<HostAndPort>& names,
                                  ResolveLimits limits) {
  std::vector<LookUpOrAddresses> started;
  started.reserve(names.size());
  for (const HostAndPort& name : names) started.push_back(Start(name, limits));
  const Duration timeout = std::max(limits.timeout, Duration::zero());
  Duration left = timeout;
  std::vector<Addresses> found;
  found.reserve(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    if (auto* const addresses = std::get_if<Addresses>(&started[i])) {
      found.push_back(*std::move(addresses));
      continue;
    }
    found.push_back(Await(names[i].host,
                          *std::get<std::shared_ptr<Answer>>(started[i]),
                          limits, timeout, left));
  }
  return found;
}

}  // namespace muster
