#include "agent/pair_check/gpu_pair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <future>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/owned_fd.h"
#include "base/subprocess.h"

namespace muster::agent {
namespace {

using rendezvous::PairCheck;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

using Result = absl::StatusOr<GpuPairValues>;

// Two agents that start shell scripts instead of the program that measures
// GPUs.
class GpuPairTest : public testing::Test {
 protected:
  GpuPairTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    ends_ = {OwnedFd(ends[0]), OwnedFd(ends[1])};
  }

  // Writes a program with this text, and returns its path.
  std::string Program(const std::string& text) {
    const std::string path =
        testing::TempDir() + "/program" + std::to_string(programs_++);
    std::ofstream(path) << "#!/bin/sh\n" << text;
    chmod(path.c_str(), 0700);
    return path;
  }
  // A program that reports two GPUs, and executes the shell commands `then`
  // after the agent's order.
  std::string OrderedProgram(const std::string& then) {
    return Program("echo gpus 2 GPU\nread order\n" + then + "\n");
  }
  // A program that reports the values of a measurement. The time is 0.5 s. The
  // rate is the number of GPUs in the agent's order, or 0 if the order is
  // "alone".
  std::string GoodProgram(int gpus, const std::string& model = "GPU") {
    return Program("echo gpus " + std::to_string(gpus) + " " + model +
                   "\nread role count id\n"
                   "[ \"$role\" = alone ] && count=0\n"
                   "[ \"$role\" = root ] && echo id " +
                   kId + "\n[ \"$role\" = join ] && [ \"$id\" != " + kId +
                   " ] && exit 1\n"
                   "echo values $count 0.5\n");
  }

  std::future<Result> Start(PairCheck::Role role, const std::string& program,
                            Duration limit = seconds(60)) {
    const int fd = ends_[role == PairCheck::Role::kServe ? 0 : 1].get();
    return std::async(std::launch::async, [=, this] {
      const GpuPairChannel partner{
          .send =
              [=](const char* data, size_t bytes) {
                return Transferred(send(fd, data, bytes, MSG_NOSIGNAL), bytes);
              },
          .receive =
              [=](char* data, size_t bytes) {
                return Transferred(recv(fd, data, bytes, MSG_WAITALL), bytes);
              }};
      const PairCheck check{.role = role, .gpus = 8};
      return MeasureGpuPair(
          check, {.path = program, .environment = EnvironmentWith({})}, partner,
          cancel_.get(), MonotonicNow() + limit);
    });
  }
  // Starts both agents. Their programs must have been written before this call:
  // a process that is forked while a program file is being written briefly
  // holds the file open for writing, and the kernel then refuses to execute the
  // program.
  std::array<std::future<Result>, 2> Both(
      const std::string& servers, const std::string& clients,
      Duration clients_limit = seconds(60)) {
    return {Start(PairCheck::Role::kServe, servers),
            Start(PairCheck::Role::kConnect, clients, clients_limit)};
  }

  const std::string kId = std::string(256, 'a');
  const OwnedFd cancel_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};

 private:
  static absl::Status Transferred(ssize_t done, size_t bytes) {
    return done == static_cast<ssize_t>(bytes)
               ? absl::OkStatus()
               : absl::UnavailableError("broken");
  }

  std::array<OwnedFd, 2> ends_;
  int programs_ = 0;
};

// Returns the values as one line: kind, rate, time, and the failure if any.
std::string Text(const Result& result) {
  if (!result.ok()) return result.status().ToString();
  return absl::StrCat(result->kind, " | ", result->bytes_per_s, " | ",
                      result->compute_s, " | ", result->failure);
}

TEST_F(GpuPairTest, GpusOfOneKindAreMeasuredTogether) {
  for (const int gpus : {1, 2, 20}) {
    const int used = std::min(gpus, 8);
    for (auto& end : Both(GoodProgram(gpus), GoodProgram(gpus))) {
      EXPECT_EQ(Text(end.get()),
                absl::StrCat(used, " x GPU | ", used, " | 0.5 | "));
    }
  }
}

TEST_F(GpuPairTest, GpusOfAnotherKindAreMeasuredAlone) {
  for (const std::string& other :
       {GoodProgram(2, "old"), GoodProgram(4), GoodProgram(0), std::string()}) {
    auto [server, client] = Both(GoodProgram(2), other);
    EXPECT_EQ(Text(server.get()), "2 x GPU | 0 | 0.5 | ");
    EXPECT_THAT(Text(client.get()), HasSubstr(" | 0 | "));
  }
}

TEST_F(GpuPairTest, WithoutGpusNothingIsMeasured) {
  for (const std::string& none : {GoodProgram(0), std::string()}) {
    for (auto& end : Both(none, none))
      EXPECT_EQ(Text(end.get()), " | 0 | 0 | ");
  }
}

TEST_F(GpuPairTest, GpusThatDoNotWorkAreAFailure) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "under ThreadSanitizer the child shares no memory";
#endif
  for (const auto& [program, why] :
       {std::pair{Program("echo failed cuInit says: no"), "cuInit says: no"},
        {std::string("/no/such/program"), "No such file"},
        {Program("exit 1"), "ended with exit code 1"},
        {Program("echo nonsense"), "spoke nonsense"},
        {Program("echo gpus many"), "spoke nonsense"}}) {
    auto [server, client] = Both(GoodProgram(2), program);
    EXPECT_EQ(Text(server.get()), "2 x GPU | 0 | 0.5 | ");
    const Result broken = client.get();
    ASSERT_TRUE(broken.ok());
    EXPECT_THAT(broken->failure, HasSubstr(why));
    EXPECT_EQ(broken->kind, "");
  }
}

TEST_F(GpuPairTest, TheProgramsErrorIsTheFailure) {
  auto [server, client] =
      Both(GoodProgram(2), OrderedProgram("echo failed GPU 1: no memory"));
  EXPECT_EQ(Text(server.get()), "2 x GPU | 2 | 0.5 | ");
  EXPECT_EQ(Text(client.get()), "2 x GPU | 0 | 0 | GPU 1: no memory");
}

TEST_F(GpuPairTest, WithoutAnIdThePartnerDoesNotWait) {
  for (const char* answer : {"echo failed no id", "echo id 12; exit"}) {
    auto [server, client] = Both(OrderedProgram(answer), GoodProgram(2));
    EXPECT_THAT(Text(client.get()), HasSubstr("the partner makes no NCCL id"));
    EXPECT_NE(server.get()->failure, "") << answer;
  }
}

TEST_F(GpuPairTest, AProgramThatEndsOrSpeaksNonsenseIsAFailure) {
  for (const auto& [then, why] : {std::pair{"exit 3", "ended with exit code 3"},
                                  {"echo values 1", "spoke nonsense"},
                                  {"echo values a b", "spoke nonsense"},
                                  {"echo values 1 2 3", "spoke nonsense"},
                                  {"echo nonsense", "spoke nonsense"}}) {
    auto [other, strange] = Both(GoodProgram(2), OrderedProgram(then));
    EXPECT_EQ(Text(other.get()), "2 x GPU | 2 | 0.5 | ");
    EXPECT_THAT(Text(strange.get()), HasSubstr(why)) << then;
  }
}

TEST_F(GpuPairTest, AProgramThatHangsIsKilledAtTheDeadline) {
  auto [server, client] =
      Both(GoodProgram(2), OrderedProgram("read never"), milliseconds(500));
  EXPECT_THAT(Text(client.get()), HasSubstr("did not answer in time"));
  EXPECT_EQ(Text(server.get()), "2 x GPU | 2 | 0.5 | ");
}

TEST_F(GpuPairTest, ACancelledMeasurementEnds) {
  auto [server, client] = Both(GoodProgram(2), OrderedProgram("read never"));
  EXPECT_TRUE(server.get().ok());
  eventfd_write(cancel_.get(), 1);
  EXPECT_EQ(client.get().status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace muster::agent
