#include "trainer_sdk/examples/gpt/gpt_trainer.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "trainer_sdk/gloo/gloo_transport.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"
#include "trainer_sdk/shared_memory/shared_memory_transport.h"

namespace muster {
namespace {

GptTrainingOptions Small() {
  GptTrainingOptions options;
  options.model = {.vocabulary = 11,
                   .context = 8,
                   .layers = 2,
                   .heads = 2,
                   .width = 16,
                   .biases = GptConfig::Biases::kAll};
  options.batch = 2;
  options.micro_batches = 4;
  options.learning_rate = {.peak = 1e-2, .decay_until = 100};
  options.validation_batches = 3;
  return options;
}

// A text that can be learned: each token tells the next.
std::shared_ptr<const Tokens> Text() {
  std::vector<int32_t> tokens;
  for (int i = 0; i < 500; ++i) tokens.push_back(i * 3 % 11);
  return std::make_shared<TokensInMemory>(std::move(tokens));
}

// What one rank saw.
struct Course {
  std::vector<double> losses;
  // Of the weights, after each step.
  std::vector<uint64_t> hashes;
  double validation = 0;
};

TransportFactory SharedMemory() {
  return [](GroupPlace place, Instant deadline) {
    return NewSharedMemoryTransport(std::move(place), {}, deadline);
  };
}

struct Training {
  int world = 1;
  int64_t steps = 8;
  int64_t micro_batches = 4;
  TransportFactory factory = SharedMemory();
};

std::vector<Course> Train(const Training& training) {
  std::vector<Course> courses(static_cast<size_t>(training.world));
  const auto statuses = RunWorld(
      training.world,
      [&](ProcessGroup& group) -> absl::Status {
        Course& course = courses[static_cast<size_t>(group.rank())];
        GptTrainingOptions options = Small();
        options.micro_batches = training.micro_batches;
        auto trainer = GptTrainer::Create(options, Text(), group);
        if (!trainer.ok()) return trainer.status();
        for (int64_t step = 0; step < training.steps; ++step) {
          const auto done = (*trainer)->Step(step);
          if (!done.ok()) return done.status();
          course.losses.push_back(done->loss);
          course.hashes.push_back((*trainer)->WeightsHash());
        }
        const auto validation = (*trainer)->Validate();
        if (!validation.ok()) return validation.status();
        course.validation = *validation;
        return absl::OkStatus();
      },
      training.factory);
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  return courses;
}

TEST(GptTrainerTest, LearnsAndAllRanksStayAlike) {
  const std::vector<Course> courses = Train({.world = 2, .steps = 40});
  EXPECT_GT(courses[0].losses.front(), 2.2);
  EXPECT_LT(courses[0].losses.back(), 0.5);
  EXPECT_LT(courses[0].validation, 0.5);
  EXPECT_EQ(courses[0].hashes, courses[1].hashes);
  EXPECT_EQ(courses[0].losses, courses[1].losses);
}

TEST(GptTrainerTest, RanksAreAccumulationOnOneRankBitForBit) {
  for (const int world : {2, 4}) {
    const Course alone = Train({.micro_batches = world})[0];
    for (const Course& course :
         Train({.world = world, .micro_batches = world})) {
      EXPECT_EQ(course.losses, alone.losses) << world << " ranks";
      EXPECT_EQ(course.hashes, alone.hashes) << world << " ranks";
    }
  }
}

TEST(GptTrainerTest, OverGlooRanksStayAlikeAndNearOneRank) {
  for (const int world : {2, 4}) {
    const Course alone = Train({.micro_batches = world})[0];
    const std::vector<Course> courses =
        Train({.world = world,
               .micro_batches = world,
               .factory = [](GroupPlace place, Instant deadline) {
                 return NewGlooTransport(std::move(place), {}, deadline);
               }});
    for (const Course& course : courses) {
      EXPECT_EQ(course.hashes, courses[0].hashes) << world << " ranks";
      for (size_t step = 0; step < alone.losses.size(); ++step) {
        EXPECT_NEAR(course.losses[step], alone.losses[step], 1e-4)
            << world << " ranks, step " << step;
      }
    }
  }
}

TEST(GptTrainerTest, AnyNumberOfRanksTakesTheSameCourse) {
  const Course alone = Train({.world = 1})[0];
  for (const int world : {2, 4}) {
    const std::vector<Course> courses = Train({.world = world});
    for (size_t step = 0; step < alone.losses.size(); ++step) {
      EXPECT_NEAR(courses[0].losses[step], alone.losses[step], 1e-4)
          << world << " ranks, step " << step;
    }
  }
}

TEST(GptTrainerTest, TheSameSeedIsTheSameCourse) {
  EXPECT_EQ(Train({.world = 2, .steps = 3})[0].hashes,
            Train({.world = 2, .steps = 3})[0].hashes);
}

TEST(GptTrainerTest, RanksMustDivideTheMicroBatches) {
  const auto statuses = RunWorld(3, [](ProcessGroup& group) {
    return GptTrainer::Create(Small(), Text(), group).status();
  });
  EXPECT_NE(
      statuses[0].message().find("4 micro-batches a step cannot be dealt"),
      absl::string_view::npos)
      << statuses[0];
}

TEST(GptTrainerTest, ATextMustHaveAWindowToHoldBack) {
  const auto statuses = RunWorld(1, [](ProcessGroup& group) {
    return GptTrainer::Create(
               Small(),
               std::make_shared<TokensInMemory>(std::vector<int32_t>(80)),
               group)
        .status();
  });
  EXPECT_NE(statuses[0].message().find("a text of 80 tokens"),
            absl::string_view::npos)
      << statuses[0];
}

}  // namespace
}  // namespace muster
