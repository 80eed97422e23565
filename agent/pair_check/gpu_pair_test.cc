#include "agent/pair_check/gpu_pair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <future>
#include <string>

#include "base/monotonic_clock.h"
#include "base/owned_fd.h"

namespace muster::agent {
namespace {

using rendezvous::PairCheck;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Field;
using ::testing::HasSubstr;

using Result = absl::StatusOr<GpuPairValues>;

// Two agents whose programs are shell scripts.
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
  // A program that has two GPUs, and does `then` after the agent's order.
  std::string OrderedProgram(const std::string& then) {
    return Program("echo gpus 2\nread order\n" + then + "\n");
  }
  // A program that measures. Its rate is the number of GPUs in the agent's
  // order, and its time 0.5 s.
  std::string GoodProgram(int gpus) {
    return Program("echo gpus " + std::to_string(gpus) +
                   "\nread role count id\n"
                   "[ $role = root ] && echo id " +
                   kId + "\n[ $role = root ] || [ $id = " + kId +
                   " ] || exit 1\n"
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
      return MeasureGpuPair(check, program, partner, cancel_.get(),
                            MonotonicNow() + limit);
    });
  }
  // Starts both agents, with programs that were written before. (A program that
  // is written while another one is started cannot be started itself: the new
  // process briefly holds the file open for writing.)
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

auto IsValues(double bytes_per_s, double compute_s) {
  return AllOf(Field(&GpuPairValues::bytes_per_s, bytes_per_s),
               Field(&GpuPairValues::compute_s, compute_s));
}

std::string Why(const Result& result) {
  return std::string(result.status().message());
}

TEST_F(GpuPairTest, AsManyGpusAsBothHaveAreMeasured) {
  for (const auto& [here, there, used] :
       {std::array{4, 2, 2}, std::array{1, 3, 1}, std::array{20, 30, 8}}) {
    for (auto& end : Both(GoodProgram(here), GoodProgram(there))) {
      const Result result = end.get();
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_THAT(*result, IsValues(used, 0.5));
    }
  }
}

TEST_F(GpuPairTest, WithoutGpusOnOneSideNothingIsMeasured) {
  const std::string good = GoodProgram(2);
  for (const std::string& without :
       {std::string(), std::string("/no/such/program"), GoodProgram(0),
        Program("exit 1"), Program("echo nonsense")}) {
    for (const bool serves : {false, true}) {
      for (auto& end : Both(serves ? without : good, serves ? good : without)) {
        const Result result = end.get();
        ASSERT_TRUE(result.ok()) << result.status();
        EXPECT_THAT(*result, IsValues(0, 0)) << without;
      }
    }
  }
}

TEST_F(GpuPairTest, TheProgramsErrorIsTheResult) {
  auto [server, client] =
      Both(GoodProgram(2), OrderedProgram("echo failed GPU 1: no memory"));
  EXPECT_TRUE(server.get().ok());
  EXPECT_EQ(Why(client.get()), "NCCL between the GPUs: GPU 1: no memory");
}

TEST_F(GpuPairTest, WithoutAnIdThePartnerDoesNotWait) {
  for (const char* answer : {"echo failed no id", "echo id 12"}) {
    auto [server, client] = Both(OrderedProgram(answer), GoodProgram(2));
    EXPECT_FALSE(server.get().ok()) << answer;
    EXPECT_THAT(Why(client.get()), HasSubstr("the partner makes no NCCL id"));
  }
}

TEST_F(GpuPairTest, AProgramThatEndsOrSpeaksNonsenseIsAnError) {
  auto [server, client] = Both(OrderedProgram("exit 3"), GoodProgram(2));
  EXPECT_THAT(Why(server.get()), HasSubstr("ended with exit code 3"));
  EXPECT_FALSE(client.get().ok());
  for (const char* answer : {"echo values 1", "echo values a b",
                             "echo values 1 2 3", "echo nonsense"}) {
    auto [other, strange] = Both(GoodProgram(2), OrderedProgram(answer));
    EXPECT_TRUE(other.get().ok());
    EXPECT_THAT(Why(strange.get()), HasSubstr("spoke nonsense")) << answer;
  }
}

TEST_F(GpuPairTest, AProgramThatHangsIsKilledAtTheDeadline) {
  auto [server, client] =
      Both(GoodProgram(2), OrderedProgram("read never"), milliseconds(500));
  EXPECT_EQ(client.get().status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(server.get().ok());
}

TEST_F(GpuPairTest, ACancelledMeasurementEnds) {
  auto [server, client] = Both(GoodProgram(2), OrderedProgram("read never"));
  EXPECT_TRUE(server.get().ok());
  eventfd_write(cancel_.get(), 1);
  EXPECT_EQ(client.get().status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace muster::agent
