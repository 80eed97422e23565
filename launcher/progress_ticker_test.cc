#include "launcher/progress_ticker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <utility>
#include <vector>

#include "launcher/report/progress_text.h"

namespace muster::launcher {
namespace {

using ::testing::ElementsAre;

rendezvous::JobStatus AtStep(int64_t step) {
  rendezvous::JobStatus job;
  job.round = 3;
  job.world_size = 1;
  job.nodes.emplace_back().group_rank = 0;
  job.nodes[0].progress = {{.step = step}};
  return job;
}

// Runs a ticker whose Look returns the elements of `found` one after another,
// then nullopt. Returns the progress that the ticker reported.
std::vector<std::string> Told(
    const std::vector<std::optional<rendezvous::JobStatus>>& found) {
  std::vector<std::string> told;
  size_t looks = 0;
  std::promise<void> done;
  {
    ProgressTicker ticker(
        std::chrono::milliseconds(1),
        [&]() -> std::optional<rendezvous::JobStatus> {
          if (looks == found.size()) done.set_value();
          return looks < found.size() ? found[looks++]
                                      : (++looks, std::nullopt);
        },
        [&](const rendezvous::JobStatus& job) {
          told.push_back(std::to_string(job.round) + ": " + ProgressLine(job));
        });
    done.get_future().wait();
  }
  return told;
}

TEST(ProgressTicker, OnlyNewProgressIsPrinted) {
  EXPECT_THAT(Told({AtStep(1), AtStep(1), std::nullopt, rendezvous::JobStatus(),
                    AtStep(1), AtStep(2)}),
              ElementsAre("3: step 1", "3: step 1", "3: step 2"));
}

TEST(ProgressTicker, ChangeOfASingleRankIsNew) {
  rendezvous::JobStatus job = AtStep(5);
  job.nodes[0].progress = {{.local_rank = 0, .step = 5, .loss = 1},
                           {.local_rank = 1, .step = 5, .loss = 3}};
  rendezvous::JobStatus other = job;
  std::swap(other.nodes[0].progress[0].loss, other.nodes[0].progress[1].loss);
  EXPECT_EQ(ProgressLine(job), ProgressLine(other));
  EXPECT_EQ(Told({job, other}).size(), 2u);
}

TEST(ProgressTicker, SilenceIsPrintedOnce) {
  const auto silent = [](int seconds) {
    rendezvous::JobStatus job = AtStep(5);
    job.nodes[0].progress[0].silent_for = std::chrono::seconds(seconds);
    return job;
  };
  EXPECT_EQ(
      Told({silent(1), silent(6), silent(11), silent(16), silent(21)}).size(),
      2u);
}

TEST(ProgressTicker, ItsEndDoesNotWaitForTheNextLook) {
  const ProgressTicker ticker(
      std::chrono::hours(1), [] { return std::nullopt; },
      [](const rendezvous::JobStatus&) {});
}

}  // namespace
}  // namespace muster::launcher
