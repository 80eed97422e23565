#include "launcher/report/failure_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace muster::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(FailureTextTest, EachKindOfEndHasItsText) {
  rendezvous::Failure failure;
  failure.exit_code = 3;
  EXPECT_EQ(EndText(failure), "exit code 3");
  failure.kind = rendezvous::FailureKind::kSignal;
  failure.signal = SIGSEGV;
  EXPECT_EQ(EndText(failure), "killed by SIGSEGV (signal 11)");
  failure.kind = rendezvous::FailureKind::kStoppedByUs;
  failure.signal = SIGTERM;
  EXPECT_EQ(EndText(failure), "stopped by us with SIGTERM");
  failure.signal = SIGSEGV;
  EXPECT_EQ(EndText(failure),
            "crashed with SIGSEGV while the round was being stopped");
  failure.signal = 0;
  EXPECT_EQ(EndText(failure), "stopped by us, exit code 3");
  failure.kind = rendezvous::FailureKind::kStartFailed;
  EXPECT_EQ(EndText(failure), "could not be started");
  failure.kind = rendezvous::FailureKind::kNodeLost;
  EXPECT_EQ(EndText(failure), "node lost");
}

TEST(FailureTextTest, NamesWorkersAndNodes) {
  rendezvous::Failure failure;
  EXPECT_EQ(WorkerText(failure), "");
  EXPECT_EQ(NodeText(failure), "an unknown node");
  failure.host = failure.node_id = "host-b";
  EXPECT_EQ(NodeText(failure), "host-b");
  failure.node_id = "pod-1\x1b[31m";
  EXPECT_EQ(NodeText(failure), "host-b (node pod-1)");
  failure.host = "";
  EXPECT_EQ(NodeText(failure), "pod-1");
  failure.rank = 3;
  EXPECT_EQ(WorkerText(failure), "rank 3");
  failure.local_rank = 1;
  failure.pid = 42;
  EXPECT_EQ(WorkerText(failure), "rank 3 (local rank 1), pid 42");
}

TEST(FailureTextTest, TheMessageDoesNotRepeatTheEnd) {
  rendezvous::Failure failure;
  failure.exit_code = 3;
  failure.message = "exit code 3: ValueError: x";
  EXPECT_EQ(MessageText(failure), "ValueError: x");
  failure.message = "exit code 3";
  EXPECT_EQ(MessageText(failure), "");
  failure.message = "ValueError: x";
  EXPECT_EQ(MessageText(failure), "ValueError: x");
}

TEST(FailureTextTest, AForeignSigkillHasAHint) {
  rendezvous::Failure failure;
  failure.kind = rendezvous::FailureKind::kSignal;
  failure.signal = SIGKILL;
  EXPECT_THAT(HintText(failure), HasSubstr("out of memory"));
  failure.signal = SIGSEGV;
  EXPECT_THAT(HintText(failure), IsEmpty());
  failure.kind = rendezvous::FailureKind::kStoppedByUs;
  failure.signal = SIGKILL;
  EXPECT_THAT(HintText(failure), IsEmpty());
}

TEST(FailureTextTest, ExitStatus75HasAHint) {
  rendezvous::Failure failure;
  failure.exit_code = 3;
  EXPECT_THAT(HintText(failure), IsEmpty());
  failure.exit_code = 75;
  EXPECT_THAT(HintText(failure), HasSubstr("it ends with 1"));
}

}  // namespace
}  // namespace muster::launcher
