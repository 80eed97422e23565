#include "launcher/gpu_pair/gpu_pair_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "agent/commands/child_program.h"
#include "agent/pair_check/gpu_pair.h"
#include "base/monotonic_clock.h"
#include "base/poll.h"
#include "base/subprocess.h"

namespace muster::launcher {
namespace {

using agent::ChildProgram;
using ::testing::MatchesRegex;

constexpr char kStaged[] = "launcher/gpu_pair/staged_gpu_pair_process";

constexpr char kGpus[] = "gpus 1 Fake GPU, NCCL 2.28.9";

std::unique_ptr<ChildProgram> Start() {
  return *ChildProgram::Start(kStaged, agent::kGpuPairArgument,
                              EnvironmentWith({}));
}

std::string NextLine(ChildProgram& program) {
  const Instant deadline = MonotonicNow() + std::chrono::seconds(60);
  while (!program.Read().whole) {
    if (!PollUntil(program.fd(), POLLIN, deadline)) return "no line in time";
  }
  const std::string line = program.Read().text;
  program.Advance();
  return line;
}

TEST(GpuPairProcess, TheRootMakesAnId) {
  const auto program = Start();
  EXPECT_EQ(NextLine(*program), kGpus);
  ASSERT_TRUE(program->Write("root 1").ok());
  EXPECT_THAT(NextLine(*program), MatchesRegex("id [0-9a-f]{256}"));
}

TEST(GpuPairProcess, GpusAreMeasuredAlone) {
  const auto program = Start();
  EXPECT_EQ(NextLine(*program), kGpus);
  ASSERT_TRUE(program->Write("alone 1").ok());
  EXPECT_THAT(NextLine(*program), MatchesRegex("values 0 [0-9.e-]+"));
}

TEST(GpuPairProcess, AnInvalidIdIsAnError) {
  const auto program = Start();
  EXPECT_EQ(NextLine(*program), kGpus);
  ASSERT_TRUE(program->Write("join 1 12").ok());
  EXPECT_THAT(NextLine(*program), MatchesRegex("failed .*"));
}

TEST(GpuPairProcess, WithoutNcclThereAreNoGpus) {
  setenv("STAGED_NO_NCCL", "1", 1);
  const auto program = Start();
  unsetenv("STAGED_NO_NCCL");
  EXPECT_EQ(NextLine(*program), "gpus 0");
  EXPECT_EQ(NextLine(*program), "");
  EXPECT_EQ(program->End(), "ended with exit code 0");
}

TEST(GpuPairProcess, AnUnknownOrderEndsTheProcess) {
  const auto program = Start();
  EXPECT_EQ(NextLine(*program), kGpus);
  ASSERT_TRUE(program->Write("nonsense 1").ok());
  EXPECT_EQ(NextLine(*program), "");
  EXPECT_EQ(program->End(), "ended with exit code 1");
}

}  // namespace
}  // namespace muster::launcher
