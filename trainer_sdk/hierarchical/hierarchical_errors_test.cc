// Tests that error messages of a hierarchical group name the operation, the
// ranks and the cause.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <latch>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/hierarchical/hierarchical_transport.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/rank_threads.h"

namespace muster {
namespace {

// Makes the transport of one rank in a group of four ranks on two hosts.
absl::StatusOr<std::unique_ptr<Transport>> Make(GroupPlace place,
                                                Instant deadline) {
  HierarchicalOptions options;
  options.host = absl::StrCat("host", place.rank / 2);
  return NewHierarchicalTransport(std::move(place), options, deadline);
}

int Times(const std::string& message, const std::string& what) {
  int times = 0;
  for (size_t at = message.find(what); at != std::string::npos;
       at = message.find(what, at + 1)) {
    ++times;
  }
  return times;
}

// Rank `odd` calls the operation `other`, or no operation if `other` is null.
// All other ranks call `most`. Returns the error message of each rank, indexed
// by rank.
std::vector<std::string> ErrorsOf(const Operation& most, int odd,
                                  const Operation* other) {
  auto transports = MakeTransports(Make, 4, "world");
  EXPECT_TRUE(transports.ok()) << transports.status();
  std::vector<std::string> messages(4);
  std::latch everybody(4);
  RunRanks(4, [&](int rank) {
    Transport& transport = *(*transports)[rank];
    absl::Status s = transport.Execute(
        Barrier(), {1, MonotonicNow() + std::chrono::seconds(30)});
    EXPECT_TRUE(s.ok()) << s;
    // Wait until all ranks have left the barrier. The next operation breaks the
    // group, which would fail the barrier on a rank that is still in it.
    everybody.arrive_and_wait();
    if (rank == odd && other == nullptr) return absl::OkStatus();
    s = transport.Execute(
        rank == odd ? *other : most,
        {2, MonotonicNow() + std::chrono::seconds(other == nullptr ? 1 : 30)});
    EXPECT_FALSE(s.ok());
    messages[rank] = std::string(s.message());
    return absl::OkStatus();
  });
  return messages;
}

std::string Named(int rank) { return absl::StrCat("rank ", rank, " ("); }

TEST(HierarchicalErrors, NameTheOperationThatWasCalledAndNoStepOfIt) {
  float data = 0;
  for (int odd = 0; odd < 4; ++odd) {
    const std::vector<std::string> messages =
        ErrorsOf(AllReduce(&data, &data, 0, DType::kFloat32), odd, nullptr);
    for (int rank = 0; rank < 4; ++rank) {
      if (rank == odd) continue;
      const std::string& message = messages[rank];
      EXPECT_EQ(Times(message, "all_reduce #2"), 1) << message;
      EXPECT_FALSE(absl::StrContains(message, "all_gather")) << message;
      EXPECT_FALSE(absl::StrContains(message, "broadcast")) << message;
      EXPECT_FALSE(absl::StrContains(message, "world")) << message;
      EXPECT_FALSE(absl::StrContains(message, "its last collective"))
          << message;
      EXPECT_TRUE(absl::StrContains(message, Named(odd))) << message;
      EXPECT_TRUE(absl::StrContains(message, absl::StrCat("pid ", getpid())))
          << message;
    }
  }
}

TEST(HierarchicalErrors, NameWhoCalledSomethingElse) {
  float data = 0;
  const Operation other = Barrier();
  for (int odd = 0; odd < 4; ++odd) {
    const std::vector<std::string> messages =
        ErrorsOf(AllReduce(&data, &data, 0, DType::kFloat32), odd, &other);
    for (const std::string& message : messages) {
      EXPECT_TRUE(absl::StrContains(message, "barrier #2")) << message;
      EXPECT_TRUE(absl::StrContains(message, "all_reduce #2")) << message;
      EXPECT_FALSE(absl::StrContains(message, "world")) << message;
      // The message names each peer with host and process.
      EXPECT_TRUE(absl::StrContains(message, "(host ")) << message;
    }
  }
}

}  // namespace
}  // namespace muster
