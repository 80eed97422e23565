// Tests of the possible outcomes of a job with one node, and of the messages
// about them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/integration/harness/cluster.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

TEST(Outcome, SuccessIsOneLineAndExitsWithZero) {
  auto launch = Standalone({"--nproc-per-node=2"}, {"succeed-in", "1"});
  EXPECT_EQ(launch->ExitCode(), 0);
  EXPECT_THAT(launch->Lines("up rank="), SizeIs(2));
  EXPECT_THAT(launch->Output(), HasSubstr("SUCCEEDED"));
  EXPECT_THAT(launch->Output(), Not(HasSubstr("FAILED")));
}

TEST(Outcome, EveryWorkerHasItsRank) {
  auto launch = Standalone({"--nproc-per-node=3"}, {"succeed-in", "1"});
  EXPECT_EQ(launch->ExitCode(), 0);
  for (const char* rank : {"0", "1", "2"}) {
    const auto lines =
        launch->Lines("up rank=" + std::string(rank) + " local=" + rank);
    ASSERT_THAT(lines, SizeIs(1));
    EXPECT_EQ(Field(lines[0], "world"), "3");
    EXPECT_EQ(Field(lines[0], "of"), "1");
    EXPECT_THAT(lines[0], HasSubstr(":" + std::string(rank) + "] up"));
  }
}

TEST(Outcome, AFailureIsNamedAndSetsTheExitCode) {
  auto launch = Standalone({"--nproc-per-node=2"}, {"exit", "7", "1"});
  EXPECT_EQ(launch->ExitCode(), 7);
  EXPECT_THAT(launch->Output(), HasSubstr("ROOT CAUSE"));
  EXPECT_THAT(launch->Output(), HasSubstr("about to fail"));
  for (pid_t pid : WorkerPids(*launch, 1)) EXPECT_TRUE(IsGone(pid));
}

TEST(Outcome, LeftoverProcessesAreNamedAlsoWithQuiet) {
  Subprocess launch({kLaunch, "--standalone", "--quiet", "sh", "-c",
                     "( tail -f /dev/null; echo done ) & echo trained"});
  EXPECT_EQ(launch.ExitCode(), 0) << launch.Output();
  EXPECT_THAT(launch.Lines("that rank 0 left behind w"), SizeIs(1))
      << launch.Output();
  EXPECT_THAT(launch.Lines("stopped: "), SizeIs(1));
}

// Rank 1 raises an exception and does not exit. It writes the exception to its
// error file, as torch's decorator @record does, and gives a time five seconds
// in the past. Rank 0 then loses its connection to rank 1, and exits first. The
// exception of rank 1 must be named as the cause.
TEST(Outcome, TheFirstRecordedExceptionIsTheCause) {
  const std::string script = R"sh(
record() {
  printf '{"message":{"message":"%s","extraInfo":{"py_callstack":"%s"' "$1" \
    "in main: $1" >"$TORCHELASTIC_ERROR_FILE.new"
  printf ',"timestamp":"%s"}}}' "$2" >>"$TORCHELASTIC_ERROR_FILE.new"
  mv "$TORCHELASTIC_ERROR_FILE.new" "$TORCHELASTIC_ERROR_FILE"
}
now=$(date +%s)
raised=${TORCHELASTIC_ERROR_FILE%/?/error.json}/raised
mkfifo "$raised" 2>/dev/null
if [ "$RANK" = 1 ]; then
  record 'ValueError: bad batch' $((now - 5))
  echo >"$raised"
  exec tail -f /dev/null
fi
read -r _ <"$raised"
record 'RuntimeError: Connection closed by peer' "$now"
exit 7
)sh";
  Subprocess launch(
      {kLaunch, "--standalone", "--nproc-per-node=2", "sh", "-c", script});
  EXPECT_EQ(launch.ExitCode(), 1) << launch.Output();
  EXPECT_THAT(launch.Output(), HasSubstr("in main: ValueError: bad batch"));
  EXPECT_THAT(launch.Lines("worker       rank 1"), SizeIs(1));
}

TEST(Outcome, ASignalGives128AndItsName) {
  auto launch = Standalone({"--nproc-per-node=2"}, {"crash", "SEGV", "0"});
  EXPECT_EQ(launch->ExitCode(), 128 + SIGSEGV);
  EXPECT_THAT(launch->Output(), HasSubstr("SIGSEGV"));
}

TEST(Outcome, RestartsUntilItSucceeds) {
  auto launch = Standalone({"--nproc-per-node=2", "--max-restarts=3"},
                           {"exit-until", "3", "3"});
  EXPECT_EQ(launch->ExitCode(), 0);
  EXPECT_THAT(launch->Lines("round=3 "), SizeIs(2));
  EXPECT_THAT(launch->Lines("restart=2 "), SizeIs(2));
}

TEST(Outcome, EndsWhenTheBudgetIsSpent) {
  auto launch = Standalone({"--nproc-per-node=1", "--max-restarts=2"},
                           {"exit-until", "9", "99"});
  EXPECT_EQ(launch->ExitCode(), 9);
  EXPECT_THAT(launch->Lines("up rank=0"), SizeIs(3));
}

TEST(Outcome, AProgramThatCannotBeStartedIsNotTriedAgain) {
  Subprocess launch({kLaunch, "--standalone", "--max-restarts=5", "--no-python",
                     "tests/integration/BUILD.no-such-program"});
  EXPECT_THAT(launch.ExitCode(), ::testing::AnyOf(2, 127));
  EXPECT_THAT(launch.Output(), HasSubstr("no-such-program"));
}

TEST(Outcome, AWorkerThatIgnoresSigtermIsKilledAfterTheGrace) {
  auto launch =
      Standalone({"--nproc-per-node=2", "--shutdown-timeout=1"}, {"deaf"});
  ASSERT_TRUE(launch->Printed("up rank=", 2));
  const auto pids = WorkerPids(*launch, 1);
  ASSERT_THAT(pids, SizeIs(2));
  kill(pids[0], SIGKILL);
  EXPECT_EQ(launch->ExitCode(), 128 + SIGKILL);
  for (pid_t pid : pids) EXPECT_TRUE(IsGone(pid));
}

TEST(Outcome, AfterSuccessNoProcessIsLeft) {
  auto launch = Standalone({"--nproc-per-node=1", "--shutdown-timeout=5"},
                           {"leave-and-go"});
  EXPECT_EQ(launch->ExitCode(), 0);
  for (const std::string& line : launch->Lines("litter pid=")) {
    EXPECT_TRUE(IsGone(std::atoi(Field(line, "pid").c_str())));
  }
}

}  // namespace
}  // namespace muster
