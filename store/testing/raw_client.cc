#include "store/testing/raw_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>

#include "base/monotonic_clock.h"
#include "base/poll.h"

namespace muster::store {
namespace {

constexpr std::chrono::seconds kSocketTimeout(30);

bool Await(int fd, short events) {
  return PollUntil(fd, events, MonotonicNow() + kSocketTimeout);
}

}  // namespace

RawClient::RawClient(int port, Greeting greeting, uint32_t address)
    : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in server{};
  server.sin_family = AF_INET;
  server.sin_port = htons(static_cast<uint16_t>(port));
  server.sin_addr.s_addr = htonl(address);
  if (connect(socket_.get(), reinterpret_cast<sockaddr*>(&server),
              sizeof(server)) != 0) {
    ADD_FAILURE() << "connecting: " << std::strerror(errno);
    return;
  }
  const int on = 1;
  setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (greeting == Greeting::kNone) return;
  Send({.command = StoreCommand::kValidate, .number = kStoreMagic});
  EXPECT_EQ(Ask({.command = StoreCommand::kPing, .number = 77}).number, 77);
}

void RawClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = send(socket_.get(), bytes.data(), bytes.size(),
                               MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
    } else if (errno == EAGAIN) {
      ASSERT_TRUE(Await(socket_.get(), POLLOUT)) << "the store does not read";
    } else {
      // The store has closed the connection. The next call of Receive or Ended
      // reports this.
      return;
    }
  }
}

void RawClient::Send(const StoreRequest& request) {
  std::string bytes;
  AppendRequest(request, &bytes);
  Send(bytes);
}

size_t RawClient::SendWhatFits(std::string_view bytes) {
  const ssize_t count = send(socket_.get(), bytes.data(), bytes.size(),
                             MSG_NOSIGNAL | MSG_DONTWAIT);
  return count < 0 ? 0 : static_cast<size_t>(count);
}

bool RawClient::ReceiveMore() {
  if (!Await(socket_.get(), POLLIN)) {
    ADD_FAILURE() << "nothing comes from the store";
    return false;
  }
  char buffer[65536];
  const ssize_t count = recv(socket_.get(), buffer, sizeof(buffer), 0);
  if (count <= 0) return false;
  received_.append(buffer, static_cast<size_t>(count));
  return true;
}

std::string RawClient::Receive(size_t bytes) {
  while (received_.size() < bytes && ReceiveMore()) {
  }
  std::string front = received_.substr(0, bytes);
  received_.erase(0, bytes);
  return front;
}

StoreReply RawClient::Reply(const StoreRequest& request) {
  ReplyParser parser(request.command, request.keys.size());
  StoreReply reply;
  while (true) {
    const auto length = parser.Parse(received_, &reply);
    if (!length.ok() || *length > 0) {
      EXPECT_TRUE(length.ok()) << length.status();
      received_.erase(0, length.ok() ? *length : received_.size());
      return reply;
    }
    if (!ReceiveMore()) {
      ADD_FAILURE() << "no reply to " << CommandName(request.command);
      return reply;
    }
  }
}

StoreReply RawClient::Ask(const StoreRequest& request) {
  Send(request);
  return Reply(request);
}

bool RawClient::HasInput() {
  return !received_.empty() || PollUntil(socket_.get(), POLLIN, kAtOnce);
}

bool RawClient::Ended() {
  char buffer[65536];
  while (Await(socket_.get(), POLLIN)) {
    if (recv(socket_.get(), buffer, sizeof(buffer), 0) <= 0) return true;
  }
  return false;
}

void RawClient::Set(std::string_view key, std::string_view value) {
  Send({.command = StoreCommand::kSet, .key = key, .value = value});
}

std::string RawClient::Get(std::string_view key) {
  const StoreReply reply = Ask({.command = StoreCommand::kGet, .key = key});
  return reply.strings.empty() ? "" : reply.strings[0];
}

int64_t RawClient::Add(std::string_view key, int64_t amount) {
  return Ask({.command = StoreCommand::kAdd, .key = key, .number = amount})
      .number;
}

void RawClient::StartWait(std::string_view key) {
  Send({.command = StoreCommand::kWait, .keys = {key}});
}

bool RawClient::Released() { return Receive(1) == std::string(1, '\0'); }

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

size_t ManyClients::CountReceivers(std::string_view expected) {
  std::vector<pollfd> open;
  for (const auto& client : clients_) {
    open.push_back({.fd = client->fd(), .events = POLLIN, .revents = 0});
  }
  std::vector<std::string_view> missing(open.size(), expected);
  std::vector<char> buffer(1 << 18);
  size_t left = open.size();
  size_t whole = 0;
  while (left > 0 && PollUntil(open, MonotonicNow() + kSocketTimeout) > 0) {
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
