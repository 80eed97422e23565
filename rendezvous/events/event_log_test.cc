#include "rendezvous/events/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class EventLogTest : public ::testing::Test {
 protected:
  EventLogTest() {
    std::string name = ::testing::TempDir() + "/events-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~EventLogTest() override { std::filesystem::remove_all(folder_); }

  std::function<void(const std::string&)> Tell() {
    return [this](const std::string& trouble) { troubles_.push_back(trouble); };
  }
  static std::vector<nlohmann::json> Lines(const std::string& path) {
    std::vector<nlohmann::json> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      lines.push_back(nlohmann::json::parse(line));
    }
    return lines;
  }

  std::string folder_;
  std::vector<std::string> troubles_;
};

TEST_F(EventLogTest, SeveralThreadsWriteWholeLines) {
  const std::string path = folder_ + "/exp-7/events.jsonl";
  {
    EventLog log(path, EventLog::Rotation::kOwn, Tell());
    log.Create();
    EXPECT_TRUE(std::filesystem::exists(path));
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&log, i] {
        for (int n = 0; n < 250; ++n) {
          log.Append("exp-7", {"join", i, "host", std::to_string(n)});
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::vector<int> next(4);
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    nlohmann::json event = nlohmann::json::parse(line);
    EXPECT_EQ(event["kind"], "join");
    EXPECT_THAT(event["time"].get<std::string>(), HasSubstr("T"));
    int n = next[event["round"].get<int>()]++;
    EXPECT_EQ(event["reason"], std::to_string(n));
  }
  EXPECT_EQ(next, std::vector<int>(4, 250));
  EXPECT_TRUE(troubles_.empty());
}

TEST_F(EventLogTest, ErrorsAreToldOnce) {
  std::ofstream(folder_ + "/exp-7") << "a file where the folder should be";
  EventLog log(folder_ + "/exp-7/events.jsonl", EventLog::Rotation::kOwn,
               Tell());
  log.Create();
  log.Append("exp-7", {"join", 1, "host", "came"});
  log.Append("exp-7", {"join", 1, "host", "came"});
  ASSERT_EQ(troubles_.size(), 1u);
  EXPECT_THAT(troubles_[0], HasSubstr("events.jsonl: Not a directory"));
}

TEST_F(EventLogTest, FollowsARotationFromOutside) {
  const std::string path = folder_ + "/events";
  EventLog log(path, EventLog::Rotation::kOutside, Tell());
  ASSERT_TRUE(log.Reopen().ok());
  log.Append("job", {"join", 0, "a", ""});
  ASSERT_EQ(std::rename(path.c_str(), (path + ".1").c_str()), 0);
  log.Append("job", {"join", 0, "b", ""});
  ASSERT_TRUE(log.Reopen().ok());
  log.Append("job", {"join", 0, "c", ""});
  EXPECT_THAT(Lines(path + ".1"), SizeIs(2));
  ASSERT_THAT(Lines(path), SizeIs(1));
  EXPECT_EQ(Lines(path)[0]["node"], "c");
  EXPECT_THAT(troubles_, IsEmpty());
}

TEST_F(EventLogTest, KeepsTheOldFileWhereThereIsNoNewOne) {
  const std::string folder = folder_ + "/logs";
  const std::string path = folder + "/events";
  std::filesystem::create_directory(folder);
  EventLog log(path, EventLog::Rotation::kOutside, Tell());
  ASSERT_TRUE(log.Reopen().ok());
  std::filesystem::rename(folder, folder_ + "/moved");
  EXPECT_THAT(std::string(log.Reopen().message()), HasSubstr(path));
  log.Append("job", {"join", 0, "a", ""});
  EXPECT_THAT(Lines(folder_ + "/moved/events"), SizeIs(1));
}

TEST_F(EventLogTest, AFullDiskIsToldOnce) {
  EventLog log("/dev/full", EventLog::Rotation::kOutside, Tell());
  ASSERT_TRUE(log.Reopen().ok());
  log.Append("job", {"join", 0, "a", ""});
  log.Append("job", {"join", 0, "b", ""});
  EXPECT_THAT(troubles_, SizeIs(1));
}

}  // namespace
}  // namespace muster::rendezvous
