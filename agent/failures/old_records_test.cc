#include "agent/failures/old_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
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
    // The second of three nodes, with ranks 2 and 3 of 6.
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

TEST_F(OldRecords, ItsOwnAndThoseBeyondTheWorldGo) {
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

// A folder of that name is left alone.
TEST_F(OldRecords, OnlyFilesAreRemoved) {
  std::filesystem::create_directory(folder_ + "/rank_2.ring");
  Write({"rank_3.json"});
  EXPECT_THAT(Left(), UnorderedElementsAre("rank_2.ring"));
}

}  // namespace
}  // namespace muster::agent
