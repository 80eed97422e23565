#include "agent/failures/round_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace muster::agent {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class OldRecords : public ::testing::Test {
 protected:
  OldRecords() {
    std::string pattern = ::testing::TempDir() + "/recordsXXXXXX";
    folder_ = mkdtemp(pattern.data());
    // This node is the second of three nodes. It has ranks 2 and 3 of the 6
    // ranks of the world.
    place_.group_rank = 1;
    place_.group_world_size = 3;
    place_.first_rank = 2;
    place_.world_size = 6;
  }
  ~OldRecords() override { std::filesystem::remove_all(folder_); }

  void Write(const std::vector<std::string>& names) {
    for (const std::string& name : names) std::ofstream(folder_ + "/" + name);
  }
  std::vector<std::string> Left() {
    RemoveOldRecords(folder_, place_, /*workers=*/2);
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  std::string folder_;
  rendezvous::Place place_;
};

TEST_F(OldRecords, OwnRecordsAndThoseBeyondTheWorldAreRemoved) {
  Write({"rank_2.ring", "rank_2.json", "rank_3.ring", "rank_6.ring",
         "rank_70.json", "workers.1.json", "workers.3.json"});
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(OldRecords, OtherNodesAndEverythingElseStays) {
  const std::vector<std::string> others = {
      "rank_0.ring",    "rank_1.json",    "rank_4.json",   "rank_5.ring",
      "workers.0.json", "workers.2.json", "rank_2.txt",    "rank_.json",
      "rank_-1.json",   "rank_2x.json",   "rank_+2.json",  "myrank_2.ring",
      "rank_2",         "workers.json",   "workers.9.log", "9"};
  Write(others);
  EXPECT_THAT(Left(), ::testing::UnorderedElementsAreArray(others));
}

TEST_F(OldRecords, WithoutAFolderThereAreNone) {
  std::filesystem::remove_all(folder_);
  RemoveOldRecords(folder_, place_, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

// A folder with the name of an old record must not be removed.
TEST_F(OldRecords, OnlyFilesAreRemoved) {
  std::filesystem::create_directory(folder_ + "/rank_2.ring");
  Write({"rank_3.json"});
  EXPECT_THAT(Left(), UnorderedElementsAre("rank_2.ring"));
}

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

TEST(WorkerEnds, JsonListsHowEachWorkerEnded) {
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
