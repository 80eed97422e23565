#include "launcher/progress_ticker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace muster {
namespace {

using ::testing::ElementsAre;

JobStatus AtStep(int64_t step) {
  JobStatus job;
  job.round = 3;
  job.world_size = 1;
  job.nodes.emplace_back().group_rank = 0;
  job.nodes[0].progress = {{.step = step}};
  return job;
}

TEST(ProgressTicker, TellsWhatIsNew) {
  // What each look finds, in turn.
  std::vector<std::optional<JobStatus>> found = {
      AtStep(1), AtStep(1), std::nullopt, JobStatus(), AtStep(1), AtStep(2)};
  std::vector<std::string> told;
  size_t looks = 0;
  std::promise<void> done;
  {
    ProgressTicker ticker(
        std::chrono::milliseconds(1),
        [&]() -> std::optional<JobStatus> {
          if (looks == found.size()) done.set_value();
          return looks < found.size() ? found[looks++]
                                      : (++looks, std::nullopt);
        },
        [&](int round, const std::string& line) {
          told.push_back(std::to_string(round) + ": " + line);
        });
    done.get_future().wait();
  }
  EXPECT_THAT(told, ElementsAre("3: step 1", "3: step 1", "3: step 2"));
}

TEST(ProgressTicker, ItsEndDoesNotWaitForTheNextLook) {
  const ProgressTicker ticker(
      std::chrono::hours(1), [] { return std::nullopt; },
      [](int, const std::string&) {});
}

}  // namespace
}  // namespace muster
