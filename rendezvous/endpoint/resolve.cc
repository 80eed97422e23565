#include "rendezvous/endpoint/resolve.h"

#include <netdb.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::rendezvous {
namespace {

constexpr Duration kGlance = std::chrono::milliseconds(50);

struct LookUp {
  int error = 0;
  std::vector<SocketAddress> addresses;
};

LookUp Ask(const Endpoint& endpoint, int flags) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  LookUp answer;
  answer.error =
      getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(),
                  &hints, &found);
  if (answer.error != 0) return answer;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    if (one->ai_addrlen > sizeof(sockaddr_storage)) continue;
    SocketAddress address;
    std::memcpy(&address.storage, one->ai_addr, one->ai_addrlen);
    address.size = one->ai_addrlen;
    answer.addresses.push_back(address);
  }
  freeaddrinfo(found);
  std::stable_partition(answer.addresses.begin(), answer.addresses.end(),
                        [](const SocketAddress& address) {
                          return address.storage.ss_family == AF_INET;
                        });
  return answer;
}

// A look-up that may outlive its caller: getaddrinfo cannot be cancelled, and
// takes half a minute if the name server is dead.
struct Pending {
  std::mutex mutex;
  std::condition_variable done;
  std::optional<LookUp> answer;
};

std::optional<LookUp> AskWithin(const Endpoint& endpoint, Duration timeout,
                                const std::function<bool()>& given_up) {
  auto pending = std::make_shared<Pending>();
  std::thread([pending, endpoint] {
    LookUp answer = Ask(endpoint, 0);
    std::lock_guard<std::mutex> lock(pending->mutex);
    pending->answer = std::move(answer);
    pending->done.notify_one();
  }).detach();
  std::unique_lock<std::mutex> lock(pending->mutex);
  while (!pending->answer.has_value() && timeout > Duration::zero() &&
         !(given_up && given_up())) {
    const Duration slice = std::min(timeout, kGlance);
    pending->done.wait_for(lock, slice,
                           [&] { return pending->answer.has_value(); });
    timeout -= slice;
  }
  return std::move(pending->answer);
}

}  // namespace

absl::StatusOr<std::vector<SocketAddress>> Resolve(
    const Endpoint& endpoint, Duration timeout,
    const std::function<bool()>& given_up) {
  LookUp answer = Ask(endpoint, AI_NUMERICHOST);
  if (answer.error == 0) return std::move(answer.addresses);
  std::optional<LookUp> named = AskWithin(endpoint, timeout, given_up);
  if (!named.has_value()) {
    return absl::DeadlineExceededError(
        absl::StrCat("the name ", endpoint.host, " was not resolved within ",
                     ToSeconds(timeout), " s; is the name server reachable?"));
  }
  if (named->error != 0 || named->addresses.empty()) {
    const char* why =
        named->error == 0 ? "no address" : gai_strerror(named->error);
    return absl::UnavailableError(
        absl::StrCat("the name ", endpoint.host, " does not resolve: ", why));
  }
  return std::move(named->addresses);
}

}  // namespace muster::rendezvous
