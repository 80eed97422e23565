#include "rendezvous/server/driven_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/channel_key.h"

namespace muster::rendezvous {
namespace {

using ::testing::ElementsAre;

Decision Numbered(int number) { return {.kind = "join", .round = number}; }

TEST(JobWatchersTest, AllWatchersAreCalledInOrder) {
  std::vector<std::string> told;
  JobWatchers watchers([&](const Decision& d) {
    told.push_back("always " + std::to_string(d.round));
  });
  ASSERT_TRUE(watchers.Add(1, [&](const Decision& d) {
    told.push_back("one " + std::to_string(d.round));
  }));
  watchers.Note({Numbered(1)});
  watchers.Note({Numbered(2)});
  watchers.Tell();
  EXPECT_THAT(told, ElementsAre("always 1", "one 1", "always 2", "one 2"));
}

TEST(JobWatchersTest, ARemovedWatcherIsNotCalled) {
  int told = 0;
  JobWatchers watchers(nullptr);
  ASSERT_TRUE(watchers.Add(1, [&](const Decision&) { ++told; }));
  watchers.Note({Numbered(1)});
  watchers.Remove(1);
  watchers.Tell();
  EXPECT_EQ(told, 0);
}

TEST(JobWatchersTest, ThereIsABound) {
  JobWatchers watchers(nullptr);
  uint64_t added = 0;
  while (added < 1'000'000 && watchers.Add(added, [](const Decision&) {})) {
    ++added;
  }
  EXPECT_LT(added, 1'000'000u);
  watchers.Remove(0);
  EXPECT_TRUE(watchers.Add(added, [](const Decision&) {}));
}

TEST(JobWatchersTest, KeepsTheOrderOfDecisionsAcrossThreads) {
  // needs no lock, since the calls of an observer do not overlap
  std::vector<int> told;
  JobWatchers watchers([&](const Decision& d) { told.push_back(d.round); });
  std::mutex job;
  int next = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        {
          std::lock_guard<std::mutex> lock(job);
          watchers.Note({Numbered(next++)});
        }
        watchers.Tell();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(told.size(), 2000u);
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(told[i], i);
}

TEST(JobWatchersTest, RemovedWatcherIsNotCalled) {
  JobWatchers watchers(nullptr);
  std::atomic<bool> stop = false;
  std::thread teller([&] {
    while (!stop) {
      watchers.Note({Numbered(1)});
      watchers.Tell();
    }
  });
  for (uint64_t id = 0; id < 200; ++id) {
    // On the stack, so that a sanitizer reports a call after the observer's
    // removal.
    int told = 0;
    ASSERT_TRUE(watchers.Add(id, [&told](const Decision&) { ++told; }));
    watchers.Remove(id);
  }
  stop = true;
  teller.join();
}

TEST(ChannelKeys, EachRoundHasAnother) {
  ChannelKeys keys;
  const std::string first = keys.KeyOf(1);
  EXPECT_EQ(first.size(), kChannelKeyBytes);
  EXPECT_EQ(keys.KeyOf(1), first);
  EXPECT_NE(keys.KeyOf(2), first);
  EXPECT_EQ(keys.KeyOf(2).size(), kChannelKeyBytes);
}

}  // namespace
}  // namespace muster::rendezvous
