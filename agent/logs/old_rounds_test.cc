#include "agent/logs/old_rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <vector>

namespace muster::agent {
namespace {

TEST(KeptRounds, TheFirstAndTheNewestAreKept) {
  KeptRounds kept;
  std::vector<std::string> removed;
  for (int round = 1; round <= 301; ++round) {
    const std::string folder = kept.Begin("attempt_" + std::to_string(round));
    if (!folder.empty()) removed.push_back(folder);
  }
  ASSERT_EQ(removed.size(), 301u - 1 - kMaxKeptRounds);
  EXPECT_EQ(removed.front(), "attempt_2");
  EXPECT_EQ(removed.back(), "attempt_201");
}

TEST(KeptRounds, AJobOfAFewRoundsKeepsAll) {
  KeptRounds kept;
  for (int round = 1; round <= kMaxKeptRounds + 1; ++round) {
    EXPECT_EQ(kept.Begin("attempt_" + std::to_string(round)), "") << round;
  }
}

TEST(FolderRemover, RemovesAFolderAndFollowsNoLink) {
  std::string name = ::testing::TempDir() + "/rounds-XXXXXX";
  const std::filesystem::path root = mkdtemp(name.data());
  const auto round = root / "attempt_1";
  std::filesystem::create_directories(round / "0");
  std::ofstream(round / "0" / "stdout.log") << "hello";
  std::ofstream(root / "elsewhere") << "stays";
  std::filesystem::create_directories(root / "folder" / "inside");
  std::filesystem::create_symlink(root / "elsewhere", round / "0" / "link");
  std::filesystem::create_directory_symlink(root / "folder", round / "there");
  std::promise<std::string> removed;
  FolderRemover remover(
      [&](const std::string& folder) { removed.set_value(folder); });
  remover.Remove(round.string());
  auto done = removed.get_future();
  ASSERT_EQ(done.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  EXPECT_EQ(done.get(), round.string());
  EXPECT_FALSE(std::filesystem::exists(round));
  EXPECT_TRUE(std::filesystem::exists(root / "elsewhere"));
  EXPECT_TRUE(std::filesystem::exists(root / "folder" / "inside"));
  std::filesystem::remove_all(root);
}

TEST(FolderRemover, AFolderThatIsNotThereIsNoError) {
  std::promise<void> removed;
  FolderRemover remover([&](const std::string&) { removed.set_value(); });
  remover.Remove("/nowhere/attempt_1");
  EXPECT_EQ(removed.get_future().wait_for(std::chrono::seconds(60)),
            std::future_status::ready);
}

}  // namespace
}  // namespace muster::agent
