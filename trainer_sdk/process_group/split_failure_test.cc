// Tests that a Split fails at once on all ranks if one rank does not complete
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

TEST(SplitFailureTest, AbortEndsTheExchangeOfAll) {
  // Ranks 0 and 1 call Split; rank 2 does not. While ranks 0 and 1 wait for
  // rank 2, rank 0 aborts the group. Split must then fail at once on ranks 0
  // and 1.
  const auto statuses = RunWorld(3, [](ProcessGroup& world) -> absl::Status {
    if (world.rank() == 2) return absl::OkStatus();
    std::thread abort;
    if (world.rank() == 0) {
      abort = std::thread([&world] { world.Abort("the test is over"); });
    }
    const absl::Status status = world.Split(0, 0).status();
    if (abort.joinable()) abort.join();
    EXPECT_TRUE(absl::IsAborted(world.status())) << world.status();
    return status;
  });
  EXPECT_TRUE(absl::IsAborted(statuses[0])) << statuses[0];
  EXPECT_THAT(Message(statuses[0]), HasSubstr("the test is over"));
  EXPECT_TRUE(absl::IsAborted(statuses[1])) << statuses[1];
  EXPECT_THAT(Message(statuses[1]),
              AllOf(HasSubstr("rank 0"), HasSubstr("the test is over")));
}

TEST(SplitFailureTest, BrokenGroupFailsASplit) {
  const auto statuses = RunWorld(3, [](ProcessGroup& world) -> absl::Status {
    if (world.rank() == 2) world.Abort("rank 2 has had enough");
    return world.Split(0, 0).status();
  });
  for (const absl::Status& status : statuses) {
    EXPECT_TRUE(absl::IsAborted(status)) << status;
    EXPECT_THAT(Message(status), HasSubstr("rank 2 has had enough"));
  }
}

TEST(SplitFailureTest, OtherCollectiveFailsBothSidesAtOnce) {
  const auto statuses = RunWorld(3, [](ProcessGroup& world) -> absl::Status {
    const absl::Status status =
        world.rank() == 2 ? world.Run(Barrier()) : world.Split(0, 0).status();
    EXPECT_FALSE(world.Run(Barrier()).ok());
    return status;
  });
  for (const absl::Status& status : statuses) {
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(Message(status),
                AllOf(HasSubstr("split #1"), HasSubstr("barrier #1")));
  }
}

TEST(SplitFailureTest, ATransportThatOneRankCannotMakeFailsTheOthers) {
  const TransportFactory right = ReferenceTransports();
  const auto statuses = RunWorld(
      3, [](ProcessGroup& world) { return world.Split(0, 0).status(); },
      [right](GroupPlace place,
              Instant deadline) -> absl::StatusOr<std::unique_ptr<Transport>> {
        if (place.rank == 1 && absl::StrContains(place.name, "split")) {
          return absl::InternalError("no luck");
        }
        return right(std::move(place), deadline);
      });
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
    EXPECT_THAT(Message(status), HasSubstr("no luck"));
  }
  EXPECT_THAT(Message(statuses[0]), HasSubstr("rank 1"));
  EXPECT_THAT(Message(statuses[2]), HasSubstr("rank 1"));
}

TEST(SplitFailureTest, ACreationThatFailsOnOneRankFailsTheOthers) {
  const TransportFactory right = ReferenceTransports();
  const auto statuses = RunWorld(
      2, [](ProcessGroup&) { return absl::OkStatus(); },
      [right](GroupPlace place,
              Instant deadline) -> absl::StatusOr<std::unique_ptr<Transport>> {
        if (place.rank == 1) return absl::NotFoundError("no such interface");
        return right(std::move(place), deadline);
      });
  EXPECT_TRUE(absl::IsNotFound(statuses[0])) << statuses[0];
  EXPECT_THAT(Message(statuses[0]),
              AllOf(HasSubstr("rank 1"), HasSubstr("no such interface")));
}

}  // namespace
}  // namespace muster
