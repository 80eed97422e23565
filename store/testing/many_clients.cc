#include "store/testing/many_clients.h"

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "base/monotonic_clock.h"
#include "base/poll.h"

namespace muster::store {
namespace {

constexpr std::chrono::seconds kPatience(30);

}  // namespace

ManyClients::ManyClients(int port, size_t count, RawClient::Greeting greeting,
                         uint32_t address) {
  for (size_t i = 0; i < count; ++i) {
    clients_.push_back(std::make_unique<RawClient>(port, greeting, address));
  }
}

void ManyClients::SendByAll(const StoreRequest& request) {
  std::string bytes;
  AppendRequest(request, &bytes);
  SendByAll(bytes);
}

void ManyClients::SendByAll(std::string_view bytes) {
  for (const auto& client : clients_) client->Send(bytes);
}

bool ManyClients::HasInput() {
  return std::ranges::any_of(
      clients_, [](const auto& client) { return client->HasInput(); });
}

size_t ManyClients::CountThoseSent(std::string_view expected) {
  std::vector<pollfd> open;
  for (const auto& client : clients_) {
    open.push_back({.fd = client->fd(), .events = POLLIN, .revents = 0});
  }
  std::vector<std::string_view> missing(open.size(), expected);
  std::vector<char> buffer(1 << 18);
  size_t left = open.size();
  size_t whole = 0;
  while (left > 0 && PollUntil(open, MonotonicNow() + kPatience) > 0) {
    for (size_t i = 0; i < open.size(); ++i) {
      if (open[i].fd < 0 || open[i].revents == 0) continue;
      const ssize_t count = recv(open[i].fd, buffer.data(), buffer.size(), 0);
      const std::string_view bytes(buffer.data(), std::max<ssize_t>(count, 0));
      const bool right = !bytes.empty() && missing[i].starts_with(bytes);
      if (right) missing[i].remove_prefix(bytes.size());
      if (right && !missing[i].empty()) continue;
      whole += right ? 1 : 0;
      --left;
      open[i].fd = -1;
    }
  }
  return whole;
}

}  // namespace muster::store
