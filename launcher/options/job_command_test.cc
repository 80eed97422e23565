#include "launcher/options/job_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "rendezvous/protocol/job_spec.h"

namespace muster::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

RunOptions Running(std::vector<std::string> program) {
  RunOptions options;
  options.program = std::move(program);
  return options;
}

TEST(JobCommand, IsWhatWasAskedFor) {
  RunOptions options = Running({"train.py", "--lr=0.1", "a b", ""});
  EXPECT_EQ(JobCommand(options),
            "--nproc-per-node=1 train.py --lr=0.1 'a b' ''");
  options.workers_per_node = "gpu";
  options.interpreter = Interpreter::kModule;
  EXPECT_EQ(JobCommand(options),
            "--nproc-per-node=gpu --module train.py --lr=0.1 'a b' ''");
  options.workers_per_node = "4";
  options.workers_asked = "$SLURM_GPUS_ON_NODE";
  EXPECT_THAT(JobCommand(options),
              StartsWith("--nproc-per-node=$SLURM_GPUS_ON_NODE "));
}

TEST(JobCommand, DiffersWhereTheCommandDoes) {
  const std::vector<std::vector<std::string>> programs = {
      {"a", "b"}, {"a b"},        {"a", "b", ""}, {"a", "\n"},
      {"a"},      {"a", "\\x0a"}, {"a", "\\n"},   {"'a'", "b"}};
  std::vector<std::string> seen;
  for (const auto& program : programs) {
    const std::string command = JobCommand(Running(program));
    EXPECT_THAT(seen, ::testing::Not(::testing::Contains(command)));
    seen.push_back(command);
    for (const char c : command) EXPECT_GE(c, 0x20) << command;
  }
}

TEST(JobCommand, ALongOneIsCutAndStillTellsCommandsApart) {
  const std::string text(5000, 'x');
  const std::string one = JobCommand(Running({"a", text + "1"}));
  const std::string two = JobCommand(Running({"a", text + "2"}));
  EXPECT_LE(one.size(), rendezvous::kMaxCommandBytes);
  EXPECT_NE(one, two);
  EXPECT_THAT(one, HasSubstr("xxx... (5022 bytes, hash "));
  EXPECT_EQ(one, JobCommand(Running({"a", text + "1"})));
}

TEST(JobCommand, IsNotCutWithinACharacter) {
  for (size_t shift = 0; shift < 2; ++shift) {
    std::string text(shift, 'x');
    for (int i = 0; i < 1000; ++i) text += "\u00e9";
    const std::string command = JobCommand(Running({text}));
    EXPECT_THAT(command, HasSubstr("\u00e9... ("));
  }
}

}  // namespace
}  // namespace muster::launcher
