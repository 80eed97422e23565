#include "agent/failures/worker_ends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

rendezvous::Place APlace() {
  rendezvous::Place place;
  place.round = 3;
  place.group_rank = 1;
  place.world_size = 4;
  return place;
}

rendezvous::Failure EndOf(int rank, rendezvous::FailureKind kind) {
  rendezvous::Failure end;
  end.kind = kind;
  end.rank = rank;
  end.host = "h\xff";
  end.pid = 70 + rank;
  end.signal = 9;
  end.unix_time = 1000.5;
  end.message = "killed by SIGKILL (9)";
  return end;
}

TEST(WorkerEnds, TellsHowEachEnded) {
  const auto json = nlohmann::json::parse(WorkerEndsJson(
      APlace(), {EndOf(3, rendezvous::FailureKind::kSignal),
                 EndOf(2, rendezvous::FailureKind::kHung),
                 EndOf(1, rendezvous::FailureKind::kStoppedByUs),
                 EndOf(0, rendezvous::FailureKind::kExitCode),
                 EndOf(0, rendezvous::FailureKind::kStartFailed)}));
  EXPECT_EQ(json["round"], 3);
  EXPECT_EQ(json["world_size"], 4);
  std::vector<std::string> how;
  for (const auto& worker : json["workers"]) how.push_back(worker["how"]);
  EXPECT_THAT(
      how, ElementsAre("killed", "hung", "stopped", "exited", "not started"));
  EXPECT_EQ(json["workers"][0]["rank"], 3);
  EXPECT_EQ(json["workers"][0]["pid"], 73);
  EXPECT_EQ(json["workers"][0]["signal"], 9);
  EXPECT_EQ(json["workers"][0]["time"], 1000.5);
  EXPECT_EQ(json["workers"][0]["message"], "killed by SIGKILL (9)");
}

TEST(WorkerEnds, TheFileIsReplacedAsAWhole) {
  std::string folder = ::testing::TempDir() + "/endsXXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string path = WorkerEndsPath(folder, APlace());
  EXPECT_EQ(path, folder + "/workers.1.json");
  ASSERT_TRUE(WriteWorkerEnds(path, "a longer text\n").ok());
  ASSERT_TRUE(WriteWorkerEnds(path, "text\n").ok());
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "text\n");
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files += entry.is_regular_file();
  }
  EXPECT_EQ(files, 1) << "nothing else is left";
  std::filesystem::remove_all(folder);
  EXPECT_THAT(std::string(WriteWorkerEnds(path, "text\n").message()),
              HasSubstr("workers.1.json"));
}

}  // namespace
}  // namespace muster::agent
