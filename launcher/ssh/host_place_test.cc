#include "launcher/ssh/host_place.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>

#include "absl/strings/str_cat.h"

namespace muster::launcher {
namespace {

using Event = HostPlace::Event;

std::string RunOfThisTest() { return absl::StrCat("test-", getpid()); }

TEST(HostPlaceTest, AClaimantWaitsForTheEndOfTheHolder) {
  std::optional<HostPlace> holder(std::in_place, RunOfThisTest(), 1);
  EXPECT_EQ(holder->Serve(), Event::kTaken);
  EXPECT_EQ(holder->Serve(), Event::kNone);

  HostPlace claimant(RunOfThisTest(), 1);
  EXPECT_EQ(claimant.Serve(), Event::kNone);
  EXPECT_EQ(claimant.Serve(), Event::kNone);
  EXPECT_EQ(holder->Serve(), Event::kClaimed);
  EXPECT_EQ(holder->Serve(), Event::kNone);
  EXPECT_EQ(holder->fd(), -1);
  EXPECT_EQ(claimant.Serve(), Event::kNone);

  holder.reset();
  EXPECT_EQ(claimant.Serve(), Event::kTaken);
  // `claimant` is now the process that may run the agent, so `next` must claim
  // the host from `claimant`.
  HostPlace next(RunOfThisTest(), 1);
  EXPECT_EQ(next.Serve(), Event::kNone);
  EXPECT_EQ(claimant.Serve(), Event::kClaimed);
}

TEST(HostPlaceTest, OfTwoClaimantsOneWaitsForTheOther) {
  std::optional<HostPlace> holder(std::in_place, RunOfThisTest(), 1);
  EXPECT_EQ(holder->Serve(), Event::kTaken);
  HostPlace first(RunOfThisTest(), 1);
  HostPlace second(RunOfThisTest(), 1);
  EXPECT_EQ(first.Serve(), Event::kNone);
  EXPECT_EQ(second.Serve(), Event::kNone);
  EXPECT_EQ(holder->Serve(), Event::kClaimed);
  holder.reset();
  EXPECT_EQ(second.Serve(), Event::kTaken);
  EXPECT_EQ(first.Serve(), Event::kNone);
  EXPECT_EQ(second.Serve(), Event::kClaimed);
}

TEST(HostPlaceTest, OtherHostsAndRunsAreIndependent) {
  HostPlace one(RunOfThisTest(), 1);
  HostPlace other_host(RunOfThisTest(), 2);
  HostPlace other_run(RunOfThisTest() + "x", 1);
  EXPECT_EQ(one.Serve(), Event::kTaken);
  EXPECT_EQ(other_host.Serve(), Event::kTaken);
  EXPECT_EQ(other_run.Serve(), Event::kTaken);
}

}  // namespace
}  // namespace muster::launcher
