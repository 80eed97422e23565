#include "tests/integration/training/training_fixture.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/check.h"
#include "tests/integration/harness/cluster.h"

namespace muster {

Training::Training() {
  std::string pattern = ::testing::TempDir() + "/trainingXXXXXX";
  folder_ = mkdtemp(pattern.data());
  std::ofstream text(folder_ + "/text");
  for (int i = 0; i < 2000; ++i) text << i * i % 97 << (i % 9 ? ' ' : '\n');
}

Training::~Training() { std::filesystem::remove_all(folder_); }

std::string Training::Worker(const std::string& command,
                             const std::string& name) const {
  return "echo up rank=$RANK round=$TORCHELASTIC_RESTART_COUNT pid=$$; exec " +
         command + " --data " + folder_ + "/text --checkpoint-dir " + folder_ +
         "/" + name + " --log " + folder_ + "/" + name +
         ".jsonl --heads 2 --width 32 --context 32 --batch 4 --log-every 1";
}

std::unique_ptr<Subprocess> Training::Launch(const std::string& command,
                                             const std::string& name,
                                             int workers) const {
  return std::make_unique<Subprocess>(std::vector<std::string>{
      kLaunch, "--standalone", "--nproc-per-node=" + std::to_string(workers),
      "--max-restarts=2", "--log-dir=" + folder_ + "/logs-" + name, "sh", "-c",
      Worker(command, name)});
}

LossCurve Training::CurveOf(const std::string& name) const {
  LossCurve curve;
  std::ifstream log(folder_ + "/" + name + ".jsonl");
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

pid_t PidOf(Subprocess& launch, int rank, int round) {
  const std::string up = "up rank=" + std::to_string(rank) +
                         " round=" + std::to_string(round) + " ";
  MUSTER_CHECK(launch.Printed(up)) << up;
  return std::stoi(Field(launch.Lines(up).at(0), "pid"));
}

}  // namespace muster
