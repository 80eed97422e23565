// The GPT example under `launch`: what dies and what is stopped, and that the
// training is none the worse for it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/integration/harness/cluster.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

constexpr int kSteps = 1500;
constexpr char kGpt[] = "trainer_sdk/examples/gpt/gpt";

// Losses by step, as text of JSON numbers, which are exact.
using LossCurve = std::map<int, std::string>;

class Training : public ::testing::Test {
 protected:
  Training() {
    std::string pattern = ::testing::TempDir() + "/trainingXXXXXX";
    folder_ = mkdtemp(pattern.data());
    std::ofstream text(folder_ + "/text");
    for (int i = 0; i < 2000; ++i) text << i * i % 97 << (i % 9 ? ' ' : '\n');
  }
  ~Training() override { std::filesystem::remove_all(folder_); }

  // A worker that trains a very small model and tells its pid. What is named
  // `name` has checkpoints and a log of its own.
  std::string Worker(const std::string& name, const std::string& more) const {
    return "echo up rank=$RANK round=$TORCHELASTIC_RESTART_COUNT pid=$$; "
           "exec " +
           std::string(kGpt) + " train --data " + folder_ + "/text" +
           " --checkpoint-dir " + folder_ + "/" + name + " --log " +
           LogOf(name) + " --checkpoint-every 100 --steps " +
           std::to_string(kSteps) +
           " --layers 2 --heads 2 --width 32 --context 32 --batch 4" +
           " --micro-batches 2 --validate-every 500 --validation-batches 2" +
           " --log-every 1 " + more;
  }

  // `launch` of so many workers.
  std::unique_ptr<Subprocess> Launch(const std::string& name, int workers,
                                     const std::string& more = "") {
    return std::make_unique<Subprocess>(std::vector<std::string>{
        kLaunch, "--standalone", "--nproc-per-node=" + std::to_string(workers),
        "--max-restarts=2", "--log-dir=" + folder_ + "/logs-" + name, "sh",
        "-c", Worker(name, more)});
  }

  std::string LogOf(const std::string& name) const {
    return folder_ + "/" + name + ".jsonl";
  }

  // The curve in a log. A step that was taken again must have had the same
  // loss each time.
  LossCurve CurveOf(const std::string& name) const {
    LossCurve curve;
    std::ifstream log(LogOf(name));
    for (std::string line; std::getline(log, line);) {
      const nlohmann::json json = nlohmann::json::parse(line);
      if (!json.contains("loss")) continue;
      const std::string loss = json["loss"].dump();
      const auto [at, fresh] = curve.emplace(json["step"], loss);
      EXPECT_TRUE(fresh || at->second == loss)
          << "step " << at->first << ": " << at->second << ", again " << loss;
    }
    return curve;
  }

  LossCurve Undisturbed(int workers, const std::string& more = "") {
    const auto launch = Launch("undisturbed", workers, more);
    EXPECT_EQ(launch->ExitCode(), 0) << launch->Output();
    LossCurve curve = CurveOf("undisturbed");
    EXPECT_EQ(curve.size(), size_t{kSteps});
    return curve;
  }

  std::string folder_;
};

pid_t PidOf(Subprocess& launch, int rank, int round) {
  for (const std::string& line :
       launch.Lines("up rank=" + std::to_string(rank))) {
    if (Field(line, "round") == std::to_string(round)) {
      return std::atoi(Field(line, "pid").c_str());
    }
  }
  return -1;
}

// Whoever of them is killed, and in whatever step: rank 1, then rank 0, which
// writes the log and leads the checkpoints.
TEST_F(Training, AKilledWorkerLeavesNoTraceInTheLossCurve) {
  const LossCurve undisturbed = Undisturbed(2);
  const auto launch = Launch("killed", 2);
  ASSERT_TRUE(launch->Printed("step  350/")) << launch->Output();
  ASSERT_EQ(kill(PidOf(*launch, 1, 0), SIGKILL), 0);
  ASSERT_TRUE(launch->Printed("going on behind step")) << launch->Output();
  ASSERT_TRUE(launch->Printed("step  730/")) << launch->Output();
  ASSERT_EQ(kill(PidOf(*launch, 0, 1), SIGKILL), 0);
  EXPECT_EQ(launch->ExitCode(), 0) << launch->Output();
  EXPECT_EQ(launch->Lines("going on behind step").size(), 2u);
  EXPECT_EQ(CurveOf("killed"), undisturbed);
}

// SIGTERM to one worker: all stop behind the same step, with a checkpoint, and
// the next launch takes the remaining steps.
TEST_F(Training, AskedToStopItGoesOnWhereItStopped) {
  const LossCurve undisturbed = Undisturbed(2);
  const auto first = Launch("stopped", 2);
  ASSERT_TRUE(first->Printed("step  420/")) << first->Output();
  ASSERT_EQ(kill(PidOf(*first, 1, 0), SIGTERM), 0);
  ASSERT_TRUE(first->Printed("asked to stop behind step")) << first->Output();
  EXPECT_EQ(first->ExitCode(), 0) << first->Output();
  const LossCurve half = CurveOf("stopped");
  EXPECT_LT(half.size(), size_t{kSteps});
  const int last = half.rbegin()->first;

  const auto second = Launch("stopped", 2);
  EXPECT_EQ(second->ExitCode(), 0) << second->Output();
  EXPECT_THAT(second->Output(),
              HasSubstr("going on behind step " + std::to_string(last)));
  EXPECT_EQ(CurveOf("stopped"), undisturbed);
}

// Half of the nodes is lost, and the job goes on with the other half: the
// losses are still those of one worker that nobody disturbed, as gradients are
// added in pairs.
TEST_F(Training, ALostNodeLeavesNoTraceEither) {
  const LossCurve undisturbed = Undisturbed(1, "--pairwise");
  Cluster cluster("sh");
  const auto node = [&] {
    return cluster.Node({"--nnodes=1:2", "--nproc-per-node=1",
                         "--rdzv-conf=is_host=0,last_call_timeout=60",
                         "--log-dir=" + folder_ + "/logs-lost"},
                        {"-c", Worker("lost", "--pairwise")});
  };
  const auto a = node();
  const auto b = node();
  // Rank 0 is on either.
  const auto told = [&](const std::string& text) {
    return !a->Lines(text).empty() || !b->Lines(text).empty();
  };
  ASSERT_TRUE(a->Printed("up rank=")) << a->Output();
  ASSERT_TRUE(b->Printed("up rank=")) << b->Output();
  Subprocess& first = a->Lines("up rank=0").empty() ? *b : *a;
  Subprocess& second = &first == a.get() ? *b : *a;
  ASSERT_TRUE(first.Printed("step  250/")) << first.Output();
  second.Signal(SIGKILL);
  EXPECT_EQ(first.ExitCode(), 0) << first.Output();
  EXPECT_TRUE(told("2 ranks over")) << first.Output();
  EXPECT_TRUE(told("1 rank over")) << first.Output();
  EXPECT_EQ(CurveOf("lost"), undisturbed);
}

}  // namespace
}  // namespace muster
