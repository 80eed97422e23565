#include "agent/report/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

namespace muster {
namespace {

using ::testing::HasSubstr;

class EventLogTest : public ::testing::Test {
 protected:
  EventLogTest() {
    std::string name = ::testing::TempDir() + "/events-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~EventLogTest() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
  std::vector<std::string> troubles_;
};

TEST_F(EventLogTest, SeveralThreadsWriteWholeLines) {
  std::string path = EventLogPath(folder_, "exp-7");
  EXPECT_EQ(path, folder_ + "/exp-7/events.jsonl");
  {
    EventLog log(path, [this](const std::string& trouble) {
      troubles_.push_back(trouble);
    });
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
  EventLog log(
      EventLogPath(folder_, "exp-7"),
      [this](const std::string& trouble) { troubles_.push_back(trouble); });
  log.Append("exp-7", {"join", 1, "host", "came"});
  log.Append("exp-7", {"join", 1, "host", "came"});
  ASSERT_EQ(troubles_.size(), 1u);
  EXPECT_THAT(troubles_[0], HasSubstr("events.jsonl: Not a directory"));
}

}  // namespace
}  // namespace muster
