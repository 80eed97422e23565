#include "rendezvous/daemon/decision_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace muster {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class DecisionLogTest : public ::testing::Test {
 protected:
  DecisionLogTest() : path_(::testing::TempDir() + "events") {
    std::remove(path_.c_str());
  }

  std::unique_ptr<DecisionLog> Open(const std::string& path) {
    auto log = DecisionLog::Open(
        path, [this](const std::string& w) { warnings_.push_back(w); });
    EXPECT_TRUE(log.ok()) << log.status();
    return *std::move(log);
  }
  static std::vector<nlohmann::json> Lines(const std::string& path) {
    std::vector<nlohmann::json> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      lines.push_back(nlohmann::json::parse(line));
    }
    return lines;
  }

  const std::string path_;
  std::vector<std::string> warnings_;
};

TEST_F(DecisionLogTest, WritesOneObjectALine) {
  Open(path_)->Append("job", {"join", 0, "node-a", "it said \"hi\"\nand came"});
  Open(path_)->Append("job", {"finish", 2, "", "done \xff"});
  const auto lines = Lines(path_);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0]["run_id"], "job");
  EXPECT_EQ(lines[0]["kind"], "join");
  EXPECT_EQ(lines[0]["node"], "node-a");
  EXPECT_EQ(lines[0]["reason"], "it said \"hi\"\nand came");
  EXPECT_EQ(lines[0]["time"].get<std::string>().size(),
            std::string("2024-05-01T12:00:00.123Z").size());
  EXPECT_EQ(lines[1]["round"], 2);
  EXPECT_TRUE(lines[1]["node"].is_null());
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(DecisionLogTest, FollowsARotation) {
  auto log = Open(path_);
  log->Append("job", {"join", 0, "a", ""});
  ASSERT_EQ(std::rename(path_.c_str(), (path_ + ".1").c_str()), 0);
  ASSERT_TRUE(log->Reopen().ok());
  log->Append("job", {"join", 0, "b", ""});
  EXPECT_THAT(Lines(path_ + ".1"), SizeIs(1));
  EXPECT_THAT(Lines(path_), SizeIs(1));
}

TEST_F(DecisionLogTest, SaysOnceThatItCannotWrite) {
  auto log = Open("/dev/full");
  log->Append("job", {"join", 0, "a", ""});
  log->Append("job", {"join", 0, "b", ""});
  EXPECT_THAT(warnings_, SizeIs(1));
}

TEST_F(DecisionLogTest, SaysWhyItCannotOpen) {
  EXPECT_EQ(
      DecisionLog::Open("/no/such/folder/events", nullptr).status().code(),
      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace muster
