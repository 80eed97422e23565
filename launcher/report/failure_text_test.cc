#include "launcher/report/failure_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(FailureTextTest, SignalsHaveNames) {
  EXPECT_EQ(SignalText(SIGKILL), "SIGKILL");
  EXPECT_EQ(SignalText(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(SignalText(SIGRTMIN + 3), "SIGRTMIN+3");
  EXPECT_EQ(SignalText(999), "signal 999");
}

TEST(FailureTextTest, EachKindOfEnd) {
  Failure failure;
  failure.exit_code = 3;
  EXPECT_EQ(EndText(failure), "exit code 3");
  failure.kind = FailureKind::kSignal;
  failure.signal = SIGSEGV;
  EXPECT_EQ(EndText(failure), "killed by SIGSEGV (signal 11)");
  failure.kind = FailureKind::kStoppedByUs;
  failure.signal = SIGTERM;
  EXPECT_EQ(EndText(failure), "stopped by us with SIGTERM");
  failure.signal = 0;
  EXPECT_EQ(EndText(failure), "stopped by us, exit code 3");
  failure.kind = FailureKind::kStartFailed;
  EXPECT_EQ(EndText(failure), "could not be started");
  failure.kind = FailureKind::kNodeLost;
  EXPECT_EQ(EndText(failure), "node lost");
}

TEST(FailureTextTest, NamesWorkersAndNodes) {
  Failure failure;
  failure.host = failure.node_id = "host-b";
  failure.group_rank = 1;
  EXPECT_EQ(WhoText(failure), "host-b, node rank 1");
  failure.rank = 3;
  failure.local_rank = 1;
  failure.pid = 42;
  failure.node_id = "pod-1\x1b[31m";
  EXPECT_EQ(WhoText(failure),
            "rank 3 (local rank 1) on host-b (node pod-1), node rank 1, "
            "pid 42");
  EXPECT_EQ(WhoText(Failure()), "an unknown node");
}

TEST(FailureTextTest, AKillThatWasNotOursGetsAHint) {
  Failure failure;
  failure.kind = FailureKind::kSignal;
  failure.signal = SIGKILL;
  EXPECT_THAT(HintText(failure), HasSubstr("out of memory"));
  failure.signal = SIGSEGV;
  EXPECT_THAT(HintText(failure), IsEmpty());
  failure.kind = FailureKind::kStoppedByUs;
  failure.signal = SIGKILL;
  EXPECT_THAT(HintText(failure), IsEmpty());
}

}  // namespace
}  // namespace muster
