#include "trainer_sdk/shared_memory/local_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"

namespace muster {
namespace {

std::string NameOf(const std::string& test) {
  return absl::StrCat("muster-test/", getpid(), "/", test);
}

// Listens with the smallest possible backlog, which few connections fill.
OwnedFd ListenWithoutRoom(const std::string& name) {
  OwnedFd listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  EXPECT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address),
                 offsetof(sockaddr_un, sun_path) + 1 + name.size()),
            0);
  EXPECT_EQ(listen(listener.get(), 0), 0);
  return listener;
}

// Opens connections until the backlog is full; returns the error of the last
// attempt.
absl::Status ConnectUntilFull(const std::string& name,
                              const std::function<absl::Status()>& look,
                              std::vector<OwnedFd>* connected) {
  for (int i = 0; i < 10; ++i) {
    absl::StatusOr<OwnedFd> one = ConnectLocal(
        name, {MonotonicNow() + std::chrono::milliseconds(60), look});
    if (!one.ok()) return one.status();
    connected->push_back(*std::move(one));
  }
  return absl::OkStatus();
}

TEST(ConnectLocal, WaitsForAPlaceUntilItsDeadline) {
  const std::string name = NameOf("full");
  const OwnedFd listener = ListenWithoutRoom(name);
  std::vector<OwnedFd> connected;
  const absl::Status full = ConnectUntilFull(name, nullptr, &connected);
  EXPECT_TRUE(absl::IsDeadlineExceeded(full)) << full;
  ASSERT_FALSE(connected.empty());
  // Accepting one connection frees a place in the backlog.
  absl::StatusOr<OwnedFd> taken = AcceptLocal(listener.get());
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_TRUE(
      ConnectLocal(name, {MonotonicNow() + std::chrono::seconds(60), nullptr})
          .ok());
}

TEST(ConnectLocal, IsGivenUp) {
  const std::string name = NameOf("given up");
  const OwnedFd listener = ListenWithoutRoom(name);
  std::vector<OwnedFd> connected;
  const absl::Status given_up = ConnectUntilFull(
      name, [] { return absl::AbortedError("enough"); }, &connected);
  EXPECT_EQ(given_up, absl::AbortedError("enough"));
}

TEST(ReceiveLocal, IsGivenUp) {
  const std::string name = NameOf("silent");
  const absl::StatusOr<OwnedFd> listener = ListenLocal(name);
  ASSERT_TRUE(listener.ok()) << listener.status();
  const Instant far = MonotonicNow() + std::chrono::minutes(2);
  const absl::StatusOr<OwnedFd> socket = ConnectLocal(name, {far, nullptr});
  ASSERT_TRUE(socket.ok()) << socket.status();
  int looks = 0;
  const absl::StatusOr<LocalMessage> message =
      ReceiveLocal(socket->get(), 8, {far, [&]() -> absl::Status {
                                        if (++looks < 3) return {};
                                        return absl::AbortedError("enough");
                                      }});
  EXPECT_EQ(message.status(), absl::AbortedError("enough"));
}

}  // namespace
}  // namespace muster
