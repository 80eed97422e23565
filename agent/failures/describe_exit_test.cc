#include "agent/failures/describe_exit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

namespace muster::agent {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr int ExitStatus(int code) { return code << 8; }
constexpr int kCoreDumped = 0x80;

rendezvous::Failure Place() {
  rendezvous::Failure place;
  place.node_id = "node-a";
  place.host = "alpha";
  place.group_rank = 1;
  place.rank = 6;
  place.local_rank = 2;
  place.unix_time = 100;
  return place;
}

rendezvous::Failure Describe(int wait_status,
                             const WorkerRemains& remains = {}) {
  const auto failure =
      DescribeEnd(Place(), WorkerEnded{2, 4711, wait_status}, remains);
  EXPECT_TRUE(failure.has_value());
  return failure.value_or(rendezvous::Failure());
}

std::string NotStarted(const std::string& step, const std::string& path,
                       int error) {
  return DescribeNotStarted(Place(), WorkerNotStarted{2, step, path, error})
      .message;
}

TEST(DescribeEnd, IsNothingAfterSuccess) {
  EXPECT_FALSE(DescribeEnd(Place(), WorkerEnded{2, 4711, 0}, {}).has_value());
}

TEST(DescribeEnd, FailureHasRankHostAndExitCode) {
  const rendezvous::Failure failure = Describe(ExitStatus(3));
  EXPECT_EQ(failure.kind, rendezvous::FailureKind::kExitCode);
  EXPECT_EQ(failure.exit_code, 3);
  EXPECT_EQ(failure.message, "exit code 3");
  EXPECT_EQ(failure.node_id, "node-a");
  EXPECT_EQ(failure.host, "alpha");
  EXPECT_EQ(failure.rank, 6);
  EXPECT_EQ(failure.local_rank, 2);
  EXPECT_EQ(failure.pid, 4711);
  EXPECT_EQ(failure.unix_time, 100);
}

TEST(DescribeEnd, NamesTheSignal) {
  const rendezvous::Failure failure = Describe(SIGSEGV | kCoreDumped);
  EXPECT_EQ(failure.kind, rendezvous::FailureKind::kSignal);
  EXPECT_EQ(failure.signal, SIGSEGV);
  EXPECT_EQ(failure.message, "killed by SIGSEGV (11), core dumped");
  EXPECT_EQ(Describe(SIGTERM).message, "killed by SIGTERM (15)");
  EXPECT_EQ(Describe(SIGKILL).message,
            "killed by SIGKILL (9); perhaps the out-of-memory killer: see "
            "dmesg");
}

TEST(DescribeEnd, AddsAnExceptionFromStderr) {
  WorkerRemains remains;
  remains.stderr_tail = {"Traceback (most recent call last):",
                         "torch.cuda.OutOfMemoryError: CUDA out of memory", ""};
  EXPECT_EQ(Describe(ExitStatus(1), remains).message,
            "exit code 1: torch.cuda.OutOfMemoryError: CUDA out of memory");
  remains.stderr_tail = {"KeyboardInterrupt"};
  EXPECT_EQ(Describe(ExitStatus(1), remains).message,
            "exit code 1: KeyboardInterrupt");
}

TEST(DescribeEnd, AddsNothingElseFromStderr) {
  for (const char* line :
       {"epoch 3: loss 2.1", "Error while reading: x", "", "ValueErrors: 3"}) {
    WorkerRemains remains;
    remains.stderr_tail = {line};
    EXPECT_EQ(Describe(ExitStatus(1), remains).message, "exit code 1") << line;
  }
}

TEST(DescribeEnd, ExplainsTheExitCodeOfAShell) {
  EXPECT_EQ(Describe(ExitStatus(137)).message, "exit code 137 (128 + SIGKILL)");
}

TEST(DescribeEnd, PrefersTheErrorFile) {
  WorkerRemains remains;
  remains.stderr_tail = {"ValueError: other"};
  remains.error_file_path = "/logs/error.json";
  remains.error_file = ErrorFile{"ValueError: no layer\nsecond line",
                                 "Traceback\n  File\n", 1763683200};
  const rendezvous::Failure failure = Describe(ExitStatus(1), remains);
  EXPECT_EQ(failure.message, "ValueError: no layer");
  EXPECT_EQ(failure.traceback, "Traceback\n  File");
  EXPECT_EQ(failure.error_file, "/logs/error.json");
  EXPECT_EQ(failure.unix_time, 1763683200);
}

TEST(DescribeEnd, DoesWithoutAnErrorFileThatCannotBeRead) {
  WorkerRemains remains;
  remains.error_file_path = "/logs/error.json";
  remains.error_file = absl::InvalidArgumentError("garbage");
  const rendezvous::Failure failure = Describe(ExitStatus(1), remains);
  EXPECT_EQ(failure.message, "exit code 1");
  EXPECT_EQ(failure.error_file, "");
}

TEST(DescribeEnd, BoundsEveryText) {
  WorkerRemains remains;
  for (int i = 0; i < 100; ++i) {
    remains.stderr_tail.push_back(std::to_string(i) + std::string(5000, 'x'));
  }
  remains.error_file_path = "/logs/error.json";
  remains.error_file =
      ErrorFile{std::string(100000, 'm'), std::string(100000, 't'), 0};
  const rendezvous::Failure failure = Describe(ExitStatus(1), remains);
  EXPECT_EQ(failure.message.size(),
            static_cast<size_t>(rendezvous::kMaxLineBytes));
  EXPECT_LE(failure.traceback.size(),
            static_cast<size_t>(rendezvous::kMaxTracebackBytes));
  EXPECT_GT(failure.traceback.size(), 0u);
  ASSERT_EQ(failure.stderr_tail.size(),
            static_cast<size_t>(rendezvous::kMaxStderrLines));
  EXPECT_EQ(failure.stderr_tail.back().substr(0, 3), "99x");
  EXPECT_EQ(failure.stderr_tail.back().size(),
            static_cast<size_t>(rendezvous::kMaxLineBytes));
}

TEST(DescribeEndTest, AnExpiredTimerIsTheReason) {
  WorkerRemains remains;
  remains.expired_timer = "step";
  EXPECT_EQ(Describe(SIGKILL, remains).message,
            "killed by SIGKILL (9); its timer 'step' expired");
}

TEST(DescribeEndTest, MissingJaxVariablesSuggestTheFlag) {
  WorkerRemains remains;
  remains.stderr_tail = {"Traceback (most recent call last):",
                         "ValueError: coordinator_address should be defined."};
  EXPECT_EQ(
      Describe(ExitStatus(1), remains).message,
      "exit code 1: ValueError: coordinator_address should be defined; "
      "give launch --framework-env jax, which tells JAX where its coordinator "
      "is");
}

TEST(DescribeNotStarted, NamesStepPathAndReason) {
  EXPECT_EQ(NotStarted("exec", "/opt/x", EACCES),
            "exec /opt/x: Permission denied");
  EXPECT_EQ(NotStarted("chdir", "/gone", ENOENT),
            "chdir /gone: No such file or directory");
  EXPECT_EQ(NotStarted("pipe", "", EMFILE), "pipe: Too many open files");
  EXPECT_EQ(NotStarted("interpreter", "/no/python", ENOENT),
            "exec: the script's interpreter /no/python: No such file or "
            "directory");
  EXPECT_THAT(NotStarted("exec", "/opt/x", ENOEXEC),
              HasSubstr("neither a program for this machine nor a script"));
  EXPECT_THAT(NotStarted("exec", "/opt/x", E2BIG), HasSubstr("too long"));
  EXPECT_THAT(NotStarted("fork", "/opt/x", EAGAIN), HasSubstr("ulimit -u"));
  EXPECT_THAT(NotStarted("loader", "/opt/x", ENOENT),
              HasSubstr("dynamic loader"));
  EXPECT_THAT(NotStarted("exec", std::string(9000, 'x'), ENOENT),
              EndsWith("..."));
}

TEST(DescribeNotStarted, HasTheExitCodeOfAShell) {
  const auto code = [](int error) {
    return DescribeNotStarted(Place(), WorkerNotStarted{2, "exec", "x", error})
        .exit_code;
  };
  EXPECT_EQ(code(ENOENT), 127);
  EXPECT_EQ(code(EACCES), 126);
}

}  // namespace
}  // namespace muster::agent
