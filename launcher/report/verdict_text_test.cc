#include "launcher/report/verdict_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <sstream>

#include "launcher/report/text_layout.h"

namespace muster::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

rendezvous::Failure Cause() {
  rendezvous::Failure cause;
  cause.kind = rendezvous::FailureKind::kExitCode;
  cause.node_id = cause.host = "host-b";
  cause.group_rank = 1;
  cause.rank = 3;
  cause.local_rank = 1;
  cause.pid = 4242;
  cause.exit_code = 3;
  cause.unix_time = 1771337471.25;
  cause.message = "RuntimeError: CUDA error: an illegal memory access";
  cause.error_file = "/logs/exp-7/attempt_0/3/error.json";
  cause.traceback =
      "Traceback (most recent call last):\n"
      "  File \"train.py\", line 31, in main\n"
      "    raise RuntimeError('CUDA error: an illegal memory access')\n"
      "RuntimeError: CUDA error: an illegal memory access\n";
  cause.stderr_tail = {"  step 120 loss 2.31", "", "\x1b[31mAborting\x1b[0m"};
  return cause;
}

rendezvous::Failure Collateral(int rank, int signal) {
  rendezvous::Failure failure;
  failure.kind = rendezvous::FailureKind::kStoppedByUs;
  failure.node_id = failure.host = "host-a";
  failure.rank = rank;
  failure.local_rank = rank;
  failure.pid = 4000 + rank;
  failure.signal = signal;
  return failure;
}

rendezvous::Verdict Failed() {
  rendezvous::Verdict verdict;
  verdict.outcome = rendezvous::Outcome::kFailed;
  verdict.exit_code = 3;
  verdict.reason =
      "rank 3 on host-b ended with exit code 3, and all 2 restarts of the job "
      "are used up";
  verdict.cause = Cause();
  verdict.collateral = {Collateral(0, SIGTERM), Collateral(10, SIGKILL)};
  verdict.collateral_omitted = 5;
  verdict.restarts_used = 2;
  verdict.max_restarts = 2;
  verdict.rounds = 3;
  verdict.lasted = std::chrono::seconds(123);
  return verdict;
}

TEST(VerdictTextTest, AFailureShowsCauseAndCollateral) {
  EXPECT_EQ("\n" + VerdictText(Failed(), "train.py", {}), R"(
================================================================================
train.py FAILED after 2m 03s                                         exit code 3
--------------------------------------------------------------------------------
rank 3 on host-b ended with exit code 3, and all 2 restarts of the job are used
up

ROOT CAUSE (the first failure of the job)
  host         host-b, node rank 1
  worker       rank 3 (local rank 1), pid 4242
  what         exit code 3
  message      RuntimeError: CUDA error: an illegal memory access
  when         2026-02-17 14:11:11 UTC, by that host's clock
  error file   /logs/exp-7/attempt_0/3/error.json
  traceback    Traceback (most recent call last):
                 File "train.py", line 31, in main
                   raise RuntimeError('CUDA error: an illegal memory access')
               RuntimeError: CUDA error: an illegal memory access
  last stderr  |   step 120 loss 2.31
               |
               | Aborting

COLLATERAL (7 ended in consequence, not the cause)
  rank 0   local 0   host-a  pid 4000  stopped by us with SIGTERM
  rank 10  local 10  host-a  pid 4010  stopped by us with SIGKILL
  and 5 more

3 rounds, 2 of 2 restarts used
================================================================================
)");
}

TEST(VerdictTextTest, TheExceptionOfAStoppedWorkerIsShown) {
  rendezvous::Verdict verdict = Failed();
  verdict.collateral[0].error_file = "/logs/0/error.json";
  verdict.collateral[0].message = "ValueError: x";
  verdict.collateral[0].raised_first = true;
  verdict.collateral[1].error_file = "/logs/10/error.json";
  verdict.collateral[1].message = "ValueError: y";
  const std::string text = VerdictText(verdict, "train.py", {.columns = 200});
  EXPECT_THAT(text, HasSubstr("stopped by us with SIGTERM; recorded before the "
                              "first failure: ValueError: x\n"));
  EXPECT_THAT(text, HasSubstr("stopped by us with SIGKILL; recorded at the "
                              "same time or later: ValueError: y\n"));
}

TEST(VerdictTextTest, AStoppedWorkerMayBeTheCause) {
  rendezvous::Verdict verdict = Failed();
  verdict.cause->kind = rendezvous::FailureKind::kStoppedByUs;
  verdict.cause->signal = SIGTERM;
  EXPECT_THAT(VerdictText(verdict, "train.py", {}),
              HasSubstr("what         stopped by us with SIGTERM after it had "
                        "raised an exception\n"));
}

TEST(VerdictTextTest, ATracebackIsShownOnce) {
  rendezvous::Verdict verdict = Failed();
  verdict.cause->stderr_tail = {
      "step 1",
      "Traceback (most recent call last):",
      "  File \"record.py\", line 357, in wrapper",
      "    return f()",
      "  File \"train.py\", line 31, in main",
      "RuntimeError: CUDA error: an illegal memory access",
      "bye"};
  const std::string text = VerdictText(verdict, "train.py", {});
  EXPECT_THAT(text, HasSubstr("  last stderr  | step 1\n"
                              "               | bye\n"));
  EXPECT_EQ(text.find("Traceback"), text.rfind("Traceback"));
  verdict.cause->traceback = "";
  EXPECT_THAT(VerdictText(verdict, "train.py", {}),
              HasSubstr("| Traceback (most recent call last):"));
}

TEST(VerdictTextTest, AFilesLocationStaysOnOneLine) {
  const std::string place = "File \"/a/" + std::string(80, 'p') +
                            "/with blanks/train.py\", line 31, in main";
  rendezvous::Verdict verdict = Failed();
  verdict.cause->traceback = "  " + place + "\nValueError: x";
  verdict.cause->stderr_tail = {place};
  verdict.cause->stack = {place};
  const std::string text = VerdictText(verdict, "train.py", {});
  EXPECT_THAT(text, HasSubstr("  traceback      " + place + "\n"));
  EXPECT_THAT(text, HasSubstr("  stack        | " + place + "\n"));
  EXPECT_THAT(text, HasSubstr("  last stderr  | " + place + "\n"));
}

TEST(VerdictTextTest, AKilledWorkerWithoutOutputHasAHint) {
  rendezvous::Verdict verdict = Failed();
  verdict.exit_code = 137;
  verdict.reason = "rank 3 on host-b was killed by SIGKILL";
  verdict.cause = rendezvous::Failure();
  verdict.cause->kind = rendezvous::FailureKind::kSignal;
  verdict.cause->signal = SIGKILL;
  verdict.cause->host = "host-b";
  verdict.cause->rank = 3;
  verdict.cause->message = "killed by SIGKILL (signal 9)";
  verdict.collateral.clear();
  verdict.collateral_omitted = 0;
  verdict.max_restarts = 0;
  verdict.rounds = 1;
  EXPECT_EQ("\n" + VerdictText(verdict, "/opt/models/train.py", {}), R"(
================================================================================
/opt/models/train.py FAILED after 2m 03s                           exit code 137
--------------------------------------------------------------------------------
rank 3 on host-b was killed by SIGKILL

ROOT CAUSE (the first failure of the job)
  host         host-b
  worker       rank 3
  what         killed by SIGKILL (signal 9)
  hint         Muster did not send it. Mostly it is the kernel, out of memory:
                 see dmesg on that host, or the limits of its container.

1 round
================================================================================
)");
}

// If the coordinator, which counts the rounds, is lost, the number of rounds is
// unknown.
TEST(VerdictTextTest, UnknownRoundsAreNotShown) {
  rendezvous::Verdict verdict;
  verdict.outcome = rendezvous::Outcome::kFailed;
  verdict.exit_code = 1;
  verdict.reason = "a: the connection to it broke";
  verdict.rounds = -1;
  verdict.lasted = std::chrono::minutes(10);
  EXPECT_EQ("\n" + VerdictText(verdict, "train.py", {}), R"(
================================================================================
train.py FAILED after 10m 00s                                        exit code 1
--------------------------------------------------------------------------------
a: the connection to it broke
================================================================================
)");
}

TEST(VerdictTextTest, TooFewNodesTimeOut) {
  rendezvous::Verdict verdict;
  verdict.outcome = rendezvous::Outcome::kTimedOut;
  verdict.exit_code = 1;
  verdict.reason = "1 of at least 2 nodes came within 10m 00s";
  verdict.lasted = std::chrono::minutes(10);
  EXPECT_EQ("\n" + VerdictText(verdict, "train.py", {}), R"(
================================================================================
train.py TIMED OUT after 10m 00s                                     exit code 1
--------------------------------------------------------------------------------
1 of at least 2 nodes came within 10m 00s

no round was formed
================================================================================
)");
}

TEST(VerdictTextTest, SuccessIsOneLine) {
  rendezvous::Verdict verdict;
  verdict.rounds = 2;
  verdict.restarts_used = 1;
  verdict.max_restarts = 3;
  verdict.lasted = std::chrono::seconds(123);
  EXPECT_EQ(VerdictText(verdict, "train.py", {}),
            "train.py SUCCEEDED in 2m 03s (2 rounds, 1 of 3 restarts used)\n");
  verdict.rounds = 1;
  verdict.max_restarts = 0;
  EXPECT_EQ(VerdictText(verdict, "train.py", {}),
            "train.py SUCCEEDED in 2m 03s (1 round)\n");
}

TEST(VerdictTextTest, TimeThatWasLostFollows) {
  rendezvous::Verdict verdict;
  verdict.rounds = 2;
  verdict.lasted = std::chrono::seconds(20);
  verdict.time.spent_s = {0, 0, 1, 0, 0, 3};
  verdict.time.by_cause[0] = {.incidents = 1, .pause_s = 2.5};
  EXPECT_EQ(VerdictText(verdict, "train.py", {}),
            "train.py SUCCEEDED in 20.0s (2 rounds)\n"
            "75.0 % productive; 2.5s lost to 1 failure\n");
  verdict.outcome = rendezvous::Outcome::kFailed;
  EXPECT_THAT(VerdictText(verdict, "train.py", {}),
              testing::HasSubstr("2 rounds\n75.0 % productive; 2.5s lost"));
}

TEST(VerdictTextTest, ALongJobWhoseWorkersReportStepsHasAShare) {
  rendezvous::Verdict verdict;
  verdict.rounds = 1;
  verdict.lasted = std::chrono::seconds(61);
  verdict.time.spent_s = {0, 0, 1, 0, 3};
  EXPECT_EQ(VerdictText(verdict, "train.py", {}),
            "train.py SUCCEEDED in 1m 01s (1 round)\n");
  verdict.time.spent_s = {0, 0, 1, 0, 0, 3};
  EXPECT_EQ(VerdictText(verdict, "train.py", {}),
            "train.py SUCCEEDED in 1m 01s (1 round)\n75.0 % productive\n");
}

TEST(VerdictTextTest, ColoursDoNotChangeTheLayout) {
  TextTarget coloured{TextStyle::kColoured, 80};
  EXPECT_THAT(VerdictText(Failed(), "train.py", coloured),
              HasSubstr("\x1b[1;31mROOT CAUSE\x1b[0m"));
  EXPECT_THAT(VerdictText(Failed(), "train.py", {}), Not(HasSubstr("\x1b")));
  EXPECT_EQ(PrintableLines(VerdictText(Failed(), "train.py", coloured)),
            PrintableLines(VerdictText(Failed(), "train.py", {})));
}

TEST(VerdictTextTest, LinesFitTheWidthAndHaveNoTrailingBlanks) {
  rendezvous::Verdict verdict = Failed();
  // Remove the traceback, whose lines are never wrapped and may be too wide.
  verdict.cause->traceback.clear();
  for (std::string* text :
       {&verdict.reason, &verdict.cause->message, &verdict.cause->host}) {
    *text = "";
    for (int i = 0; i < 60; ++i) *text += "word" + std::to_string(i) + " \t ";
  }
  for (int columns : {60, 80, 100}) {
    std::istringstream lines(
        VerdictText(verdict, std::string(200, '/'),
                    TextTarget{TextStyle::kPlain, columns}));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(Columns(line), columns) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
  }
}

TEST(VerdictTextTest, AHangShowsTheStack) {
  rendezvous::Verdict verdict;
  verdict.outcome = rendezvous::Outcome::kFailed;
  verdict.exit_code = 1;
  verdict.reason = "rank 3 on b: hung: silent for 31 s";
  verdict.cause.emplace();
  verdict.cause->kind = rendezvous::FailureKind::kHung;
  verdict.cause->rank = 3;
  verdict.cause->host = "b";
  verdict.cause->message =
      "hung: silent for 31 s (its deadline is 30 s), last step 1200";
  verdict.cause->stack = {"Python, main thread:",
                          "  File \"train.py\", line 3 in load"};
  const std::string text = VerdictText(verdict, "train.py", {});
  EXPECT_THAT(text, HasSubstr("  what         hung\n"));
  EXPECT_THAT(text, HasSubstr("  message      silent for 31 s (its deadline is "
                              "30 s), last step 1200\n"));
  EXPECT_THAT(text, HasSubstr("  stack        | Python, main thread:\n"
                              "               |   File \"train.py\", line 3 in "
                              "load\n"));
  EXPECT_THAT(text, HasSubstr("WATCHDOG_S=0"));
}

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
