// Tests a training's timeline, from the recording on each rank to the file.

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/trainer/host_gpt_trainer.h"
#include "models/trainer/report/timeline_files.h"
#include "models/trainer/testing/small_training.h"
#include "trainer_sdk/gloo/gloo_transport.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster::models {
namespace {

using Json = nlohmann::json;

constexpr int kRanks = 2;

TransportFactory Gloo() {
  return [](GroupPlace place, Instant deadline) {
    return NewGlooTransport(std::move(place), {}, deadline);
  };
}

// Options for a training whose gradients fill more than one bucket, with two
// micro-batches per rank.
GptTrainingOptions Recorded() {
  GptTrainingOptions options = SmallTraining();
  options.model.width = 96;
  options.model.layers = 3;
  options.timeline = testing::TempDir() + "/timeline.json";
  options.timeline_steps = 2;
  return options;
}

// Trains `steps` steps and returns rank 0's timeline of the last steps.
Timeline Train(const GptTrainingOptions& options, int64_t steps, int ranks,
               const TransportFactory& factory) {
  Timeline timeline;
  const auto statuses = RunWorld(
      ranks,
      [&](ProcessGroup& group) -> absl::Status {
        auto trainer = HostGptTrainer::Create(options, LearnableText(), group);
        if (!trainer.ok()) return trainer.status();
        for (int64_t step = 0; step < steps; ++step) {
          const auto done = (*trainer)->Step(step);
          if (!done.ok()) return done.status();
        }
        auto gathered = (*trainer)->GatherTimelines();
        if (!gathered.ok()) return gathered.status();
        if (group.rank() == 0) {
          timeline = *std::move(gathered);
        } else {
          EXPECT_TRUE(gathered->ranks.empty());
        }
        return absl::OkStatus();
      },
      factory);
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  return timeline;
}

struct Stretch {
  double begin = 0;
  double end = 0;
};

Stretch StretchOf(const Json& event) {
  const double begin = event["ts"].get<double>();
  return {begin, begin + event["dur"].get<double>()};
}

// The events of one rank's step. Key: the event's name; value: the events with
// this name, in order.
using Names = std::map<std::string, std::vector<Json>>;

Names InFile(const std::string& path, int rank, int64_t step) {
  std::ifstream file(path);
  Names names;
  const Json trace = Json::parse(file);
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["pid"] == rank &&
        event["args"]["step"] == step) {
      names[event["name"]].push_back(event);
    }
  }
  return names;
}

class GptTimelineTest : public testing::TestWithParam<TransportFactory (*)()> {
};

TEST_P(GptTimelineTest, BucketsLieBetweenBackwardAndUpdate) {
  const GptTrainingOptions options = Recorded();
  const Timeline timeline = Train(options, 4, kRanks, GetParam()());
  ASSERT_TRUE(WritePictureFile(
                  {.kind = "timeline", .path = options.timeline},
                  [&](std::ostream& out) { WriteTraceEvents(timeline, out); })
                  .ok());
  // Only the last two of the four steps are in the file.
  EXPECT_TRUE(InFile(options.timeline, 0, 2).empty());
  for (int rank = 0; rank < kRanks; ++rank) {
    for (const int64_t step : {3, 4}) {
      Names names = InFile(options.timeline, rank, step);
      ASSERT_EQ(names["step " + std::to_string(step)].size(), 1u);
      // A step has four micro-batches, two per rank.
      ASSERT_EQ(names["forward"].size(), 2u);
      ASSERT_EQ(names["backward"].size(), 2u);
      for (const char* part :
           {"head", "block 2", "block 1", "block 0", "embeddings"}) {
        EXPECT_EQ(names[part].size(), 2u) << part;
      }
      ASSERT_EQ(names["wait for gradients"].size(), 1u);
      ASSERT_EQ(names["update"].size(), 1u);
      // The gradients of both micro-batches are reduced together, during the
      // backward pass of the second one.
      const Stretch backward = StretchOf(names["backward"][1]);
      const Stretch wait = StretchOf(names["wait for gradients"][0]);
      const Stretch update = StretchOf(names["update"][0]);
      EXPECT_GE(wait.begin, backward.end);
      EXPECT_GE(update.begin, wait.end);
      ASSERT_EQ(names["bucket 0"].size(), 1u);
      ASSERT_EQ(names["bucket 1"].size(), 1u);
      double before = backward.begin;
      for (const char* name : {"bucket 0", "bucket 1"}) {
        const Json& bucket = names[name][0];
        const Stretch reduced = StretchOf(bucket);
        const double asked =
            reduced.begin - bucket["args"]["waited_us"].get<double>();
        EXPECT_GT(asked, backward.begin) << name;
        EXPECT_LE(asked, backward.end) << name;
        EXPECT_GE(reduced.begin, before) << name;
        EXPECT_LE(reduced.end, wait.end) << name;
        EXPECT_GT(bucket["args"]["bytes"], 0) << name;
        before = reduced.end;
      }
    }
  }
  EXPECT_THAT(DescribeTimeline(timeline),
              testing::MatchesRegex(
                  "steps 3 to 4 of 2 ranks: .* ms of communication a step, .* "
                  "% of it hidden behind the backward pass; exposed: .*"));
}

INSTANTIATE_TEST_SUITE_P(Transports, GptTimelineTest,
                         testing::Values(&SharedMemory, &Gloo));

TEST(GptTimelineAloneTest, SingleRankReducesNothing) {
  const Timeline timeline = Train(Recorded(), 1, 1, SharedMemory());
  EXPECT_EQ(DescribeTimeline(timeline),
            "step 1 of 1 rank: no gradients were reduced");
}

TEST(GptTimelineAloneTest, NoStepIsNoTimeline) {
  const Timeline timeline = Train(Recorded(), 0, kRanks, SharedMemory());
  EXPECT_EQ(DescribeTimeline(timeline), "no step was taken");
}

TEST(GptTimelineAloneTest, WithoutAFileNothingIsRecorded) {
  GptTrainingOptions options = Recorded();
  options.timeline.clear();
  const auto statuses =
      RunWorld(kRanks, [&](ProcessGroup& group) -> absl::Status {
        auto trainer = HostGptTrainer::Create(options, LearnableText(), group);
        if (!trainer.ok()) return trainer.status();
        auto done = (*trainer)->Step(0);
        if (!done.ok()) return done.status();
        return (*trainer)->GatherTimelines().status();
      });
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  }
}

}  // namespace
}  // namespace muster::models
