#include "rendezvous/events/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
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
    EXPECT_TRUE(log.Finish());
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

TEST_F(EventLogTest, ErrorIsReportedOnce) {
  std::ofstream(folder_ + "/exp-7") << "a file where the folder should be";
  EventLog log(folder_ + "/exp-7/events.jsonl", EventLog::Rotation::kOwn,
               Tell());
  log.Create();
  log.Append("exp-7", {"join", 1, "host", "came"});
  log.Append("exp-7", {"join", 1, "host", "came"});
  EXPECT_TRUE(log.Finish());
  ASSERT_EQ(troubles_.size(), 1u);
  EXPECT_THAT(troubles_[0], HasSubstr(": Not a directory"));
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
  EXPECT_TRUE(log.Finish());
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
  EXPECT_TRUE(log.Finish());
  EXPECT_THAT(Lines(folder_ + "/moved/events"), SizeIs(1));
}

TEST_F(EventLogTest, FullDiskIsReportedOnce) {
  EventLog log("/dev/full", EventLog::Rotation::kOutside, Tell());
  ASSERT_TRUE(log.Reopen().ok());
  log.Append("job", {"join", 0, "a", ""});
  log.Append("job", {"join", 0, "b", ""});
  EXPECT_TRUE(log.Finish());
  EXPECT_THAT(troubles_, SizeIs(1));
  EXPECT_GT(log.lost_bytes(), 100);
  EXPECT_EQ(log.omitted(), 0);
}

TEST_F(EventLogTest, EachDecisionIsWrittenOrCountedAsOmitted) {
  const std::string path = folder_ + "/events";
  constexpr int kDecisions = EventThrottle::kBurst + 100;
  EventLog log(path, EventLog::Rotation::kOutside, Tell());
  for (int i = 0; i < kDecisions; ++i) {
    log.Append("job", {"join", 0, "a", ""});
    // Waits for the file, because the log keeps only some MiB in memory.
    if (i % 1000 == 0) {
      EXPECT_TRUE(log.Finish());
    }
  }
  EXPECT_TRUE(log.Finish());
  const std::vector<nlohmann::json> lines = Lines(path);
  const auto joins = std::ranges::count_if(
      lines, [](const nlohmann::json& line) { return line["kind"] == "join"; });
  EXPECT_GE(joins, EventThrottle::kBurst);
  EXPECT_EQ(joins + log.omitted(), kDecisions);
  EXPECT_GT(log.omitted(), 0);
  EXPECT_EQ(log.lost_bytes(), 0);
}

// The log's file is a FIFO. Opening it blocks until it has a reader, as a hung
// file system does. Append must not wait for it.
TEST_F(EventLogTest, AHungFileSystemDelaysNoDecision) {
  const std::string path = folder_ + "/events";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::string text;
  std::thread reader;
  {
    EventLog log(path, EventLog::Rotation::kOutside, Tell());
    log.Create();
    const Decision decision = {"join", 0, "a", std::string(1 << 20, 'x')};
    for (int i = 0; i < 5; ++i) log.Append("job", decision);
    reader = std::thread([&] {
      std::stringstream all;
      all << std::ifstream(path).rdbuf();
      text = all.str();
    });
  }
  reader.join();
  EXPECT_EQ(std::count(text.begin(), text.end(), '{'), 3);
  ASSERT_THAT(troubles_, SizeIs(1));
  EXPECT_THAT(troubles_[0], HasSubstr("bytes are missing in it"));
}

TEST(TimeTextTest, UtcForPeopleAndPrograms) {
  EXPECT_EQ(UtcText(1771337471.25), "2026-02-17 14:11:11 UTC");
  EXPECT_EQ(IsoText(1771337471.25), "2026-02-17T14:11:11.250Z");
  EXPECT_EQ(IsoText(1), "1970-01-01T00:00:01.000Z");
  EXPECT_EQ(UtcText(951782400), "2000-02-29 00:00:00 UTC");
}

TEST(TimeTextTest, InvalidTimesAreUnknown) {
  for (double time : {0.0, -1.0, 1e18, std::nan(""),
                      std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(UtcText(time), "unknown") << time;
    EXPECT_EQ(IsoText(time), "unknown") << time;
  }
}

constexpr double kTime = 1771337471.25;

Decision Break() {
  return {"break", 2, "host-b", "rank 3 was killed by SIGKILL"};
}

TEST(DecisionJsonTest, IsOneObject) {
  EXPECT_EQ(DecisionJson("exp-7", Break(), kTime),
            R"({"time":"2026-02-17T14:11:11.250Z","run_id":"exp-7","round":2,)"
            R"("kind":"break","node":"host-b",)"
            R"("reason":"rank 3 was killed by SIGKILL"})"
            "\n");
  EXPECT_EQ(DecisionJson("a\"b", {"finish", 3, "", "two\nlines \xff"}, kTime),
            R"({"time":"2026-02-17T14:11:11.250Z","run_id":"a\"b","round":3,)"
            R"("kind":"finish","node":null,"reason":"two\nlines \ufffd"})"
            "\n");
  EXPECT_NE(DecisionJson("a", {"join", 1, "\u202E", ""}, kTime)
                .find(R"("node":"\u202e")"),
            std::string::npos);
}

}  // namespace
}  // namespace muster::rendezvous
