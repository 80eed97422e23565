#include "trainer_sdk/ddp/reducer.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"
#include "trainer_sdk/shared_memory/shared_memory_transport.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// One rank's model: several parameters of type float.
class Model {
 public:
  explicit Model(const std::vector<int64_t>& counts) {
    for (const int64_t count : counts) {
      gradients_.emplace_back(static_cast<size_t>(count), -1.0f);
    }
  }

  std::vector<Tensor> parameters() {
    std::vector<Tensor> all;
    for (size_t i = 0; i < gradients_.size(); ++i) {
      all.push_back({.name = absl::StrCat("p", i),
                     .shape = {count(static_cast<int>(i))},
                     .gradient = gradients_[i]});
    }
    return all;
  }
  int64_t count(int i) const {
    return static_cast<int64_t>(gradients_[i].size());
  }
  int size() const { return static_cast<int>(gradients_.size()); }

 private:
  std::vector<std::vector<float>> gradients_;
};

// The gradient of element `k` of parameter `i` on rank `rank` in step `step`.
// Sums of these values are rounded, so the order of additions affects the
// result.
float Value(int rank, int step, int i, int64_t k) {
  return 0.1f * static_cast<float>(rank + 1) + 0.37f * static_cast<float>(i) +
         0.013f * static_cast<float>(k) - static_cast<float>(step);
}

// Writes one rank's gradient of parameter `i` in a step.
void Fill(const Reducer& reducer, const Model& model, int rank, int step,
          int i) {
  float* gradient = static_cast<float*>(reducer.gradient(i));
  for (int64_t k = 0; k < model.count(i); ++k) {
    gradient[k] = Value(rank, step, i, k);
  }
}

// The expected average: the sum of the gradients of `ranks` in rank order,
// divided by `world`. Over the shared memory transport, the reducer's average
// must equal this value to the last bit.
float Average(const std::vector<int>& ranks, int world, int step, int i,
              int64_t k) {
  float sum = 0;
  bool first = true;
  for (int rank = 0; rank < world; ++rank) {
    const bool used = std::count(ranks.begin(), ranks.end(), rank) > 0;
    const float value = used ? Value(rank, step, i, k) : 0.0f;
    sum = first ? value : sum + value;
    first = false;
  }
  return sum / static_cast<float>(world);
}

std::vector<int> AllOfThem(int world) {
  std::vector<int> ranks(static_cast<size_t>(world));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

absl::Status Expect(const Reducer& reducer, const Model& model, int i,
                    const std::vector<int>& ranks, int world, int step) {
  const float* gradient = static_cast<const float*>(reducer.gradient(i));
  for (int64_t k = 0; k < model.count(i); ++k) {
    const float expected = Average(ranks, world, step, i, k);
    if (gradient[k] != expected) {
      return absl::InternalError(absl::StrCat("step ", step, ", p", i, "[", k,
                                              "] is ", gradient[k], ", not ",
                                              expected));
    }
  }
  return absl::OkStatus();
}

// Options with small buckets: the first bucket is full at 64 bytes, every other
// bucket at 256 bytes.
DdpOptions Small(GradientPlace place) {
  DdpOptions options;
  options.limits = {.first_bytes = 64, .bytes = 256};
  options.place = place;
  return options;
}

const std::vector<int64_t> kCounts = {10, 100, 1, 0, 33, 64, 7};

// A fixture for tests with different numbers of ranks and each GradientPlace
// (where gradients are written and averages read).
class AnyWorld : public testing::TestWithParam<std::tuple<int, GradientPlace>> {
 protected:
  const int world_ = std::get<0>(GetParam());
  const GradientPlace place_ = std::get<1>(GetParam());

  void Run(const std::function<absl::Status(ProcessGroup&)>& body) {
    const absl::Status failure = FirstFailure(
        RunWorld(world_, body, [](GroupPlace place, Instant deadline) {
          return NewSharedMemoryTransport(place, {}, deadline);
        }));
    EXPECT_TRUE(failure.ok()) << failure;
  }
};

TEST_P(AnyWorld, EveryGradientBecomesTheAverageBitForBit) {
  Run([&](ProcessGroup& group) -> absl::Status {
    Model model(kCounts);
    auto reducer = Reducer::Create(group, model.parameters(), Small(place_));
    if (!reducer.ok()) return reducer.status();
    for (int step = 0; step < 4; ++step) {
      absl::Status status = (*reducer)->Begin(GradientSync::kReduce);
      for (int n = 0; n < model.size() && status.ok(); ++n) {
        // Mark the gradients in an order that differs between ranks. The
        // buckets must still be reduced in index order on every rank.
        const int i = (n + group.rank() * 3 + step) % model.size();
        Fill(**reducer, model, group.rank(), step, i);
        status = (*reducer)->MarkReady(i);
      }
      if (status.ok()) status = (*reducer)->Finish();
      for (int i = 0; i < model.size() && status.ok(); ++i) {
        status = Expect(**reducer, model, i, AllOfThem(world_), world_, step);
      }
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  });
}

TEST_P(AnyWorld, AccumulatedGradientsAreAveragedOnce) {
  Run([&](ProcessGroup& group) -> absl::Status {
    Model model(kCounts);
    auto created = Reducer::Create(group, model.parameters(), Small(place_));
    if (!created.ok()) return created.status();
    Reducer& reducer = **created;
    for (int step = 0; step < 2; ++step) {
      for (int pass = 0; pass < 3; ++pass) {
        absl::Status status = reducer.Begin(pass < 2 ? GradientSync::kAccumulate
                                                     : GradientSync::kReduce);
        for (int i = model.size() - 1; i >= 0 && status.ok(); --i) {
          float* gradient = static_cast<float*>(reducer.gradient(i));
          for (int64_t k = 0; k < model.count(i); ++k) {
            // The gradients are integers, so that their sums are exact.
            const float value = static_cast<float>(group.rank() + pass + k);
            gradient[k] = pass == 0 ? value : gradient[k] + value;
          }
          status = reducer.MarkReady(i);
        }
        if (status.ok()) status = reducer.Finish();
        if (!status.ok()) return status;
      }
      for (int i = 0; i < model.size(); ++i) {
        const float* gradient = static_cast<const float*>(reducer.gradient(i));
        for (int64_t k = 0; k < model.count(i); ++k) {
          float sum = 0;
          for (int rank = 0; rank < world_; ++rank) {
            sum += static_cast<float>(3 * (rank + k) + 3);
          }
          if (gradient[k] != sum / static_cast<float>(world_)) {
            return absl::InternalError(absl::StrCat("p", i, "[", k, "]"));
          }
        }
      }
    }
    return absl::OkStatus();
  });
}

TEST_P(AnyWorld, UnusedParametersCountAsZeroWhereTheyAreUnused) {
  Run([&](ProcessGroup& group) -> absl::Status {
    Model model(kCounts);
    DdpOptions options = Small(place_);
    options.use = ParameterUse::kMayVary;
    auto created = Reducer::Create(group, model.parameters(), options);
    if (!created.ok()) return created.status();
    Reducer& reducer = **created;
    for (int step = 0; step < 3; ++step) {
      // Rank r uses all parameters except number r and number 5. So no rank
      // uses parameter 5.
      const auto used = [](int rank, int i) { return i != 5 && rank != i; };
      absl::Status status = reducer.Begin(GradientSync::kReduce);
      for (int i = model.size() - 1; i >= 0 && status.ok(); --i) {
        if (used(group.rank(), i)) {
          Fill(reducer, model, group.rank(), step, i);
          status = reducer.MarkReady(i);
        } else if (step == 1) {
          status = reducer.MarkUnused(i);
        }
      }
      if (status.ok()) status = reducer.Finish();
      for (int i = 0; i < model.size() && status.ok(); ++i) {
        std::vector<int> users;
        for (int rank = 0; rank < world_; ++rank) {
          if (used(rank, i)) users.push_back(rank);
        }
        if (!users.empty()) {
          status = Expect(reducer, model, i, users, world_, step);
        }
      }
      // No rank uses parameter 5, so its gradient must keep its initial value,
      // -1. Two cases are not checked (`alone`): a single rank, and gradients
      // that lie in the buckets.
      const float untouched = *static_cast<const float*>(reducer.gradient(5));
      const bool alone = world_ == 1 || place_ == GradientPlace::kBucket;
      if (status.ok() && !alone && untouched != -1.0f) {
        status = absl::InternalError(absl::StrCat("p5 is ", untouched));
      }
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  });
}

TEST_P(AnyWorld, AStaticGraphMayUseAParameterTwiceOrNever) {
  Run([&](ProcessGroup& group) -> absl::Status {
    Model model(kCounts);
    DdpOptions options = Small(place_);
    options.use = ParameterUse::kStatic;
    auto created = Reducer::Create(group, model.parameters(), options);
    if (!created.ok()) return created.status();
    Reducer& reducer = **created;
    for (int step = 0; step < 3; ++step) {
      absl::Status status = reducer.Begin(GradientSync::kReduce);
      for (int i = model.size() - 1; i >= 0 && status.ok(); --i) {
        if (i == 2) continue;
        Fill(reducer, model, group.rank(), step, i);
        status = reducer.MarkReady(i);
        if (status.ok() && i == 4) status = reducer.MarkReady(i);
      }
      if (status.ok()) status = reducer.Finish();
      for (int i = 0; i < model.size() && status.ok(); ++i) {
        if (i == 2) continue;
        status = Expect(reducer, model, i, AllOfThem(world_), world_, step);
      }
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  });
}

INSTANTIATE_TEST_SUITE_P(
    All, AnyWorld,
    testing::Combine(testing::Values(1, 2, 4),
                     testing::Values(GradientPlace::kOwn,
                                     GradientPlace::kBucket)));

// After the first step, all ranks put parameters into buckets in the order in
// which rank 0's gradients became ready in the first step.
TEST(ReducerTest, BucketsFollowTheFirstStepOfRank0) {
  const auto statuses = RunWorld(2, [](ProcessGroup& group) -> absl::Status {
    Model model({4, 4, 4});
    DdpOptions options;
    options.limits = {.first_bytes = 16, .bytes = 16};
    auto reducer = Reducer::Create(group, model.parameters(), options);
    if (!reducer.ok()) return reducer.status();
    const auto order = [&] {
      std::string text;
      for (const GradientBucket& bucket : (*reducer)->buckets()) {
        absl::StrAppend(&text, bucket.parts[0].parameter);
      }
      return text;
    };
    const std::string before = order();
    absl::Status status = (*reducer)->Begin(GradientSync::kReduce);
    for (const int i : group.rank() == 0 ? std::vector<int>{1, 2, 0}
                                         : std::vector<int>{0, 1, 2}) {
      if (status.ok()) status = (*reducer)->MarkReady(i);
    }
    if (status.ok()) status = (*reducer)->Finish();
    if (status.ok() && before + order() != "210120") {
      status = absl::InternalError(before + " became " + order());
    }
    return status;
  });
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
}

TEST(ReducerTest, ModelsThatDifferAreFoundOnEveryRank) {
  const auto statuses = RunWorld(3, [](ProcessGroup& group) -> absl::Status {
    Model model(group.rank() == 1 ? std::vector<int64_t>{3, 5}
                                  : std::vector<int64_t>{3, 4});
    return Reducer::Create(group, model.parameters()).status();
  });
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("parameter 1, here"), HasSubstr("'p1' of "),
                      HasSubstr("another than rank 0's on rank 1")));
  }
}

TEST(ReducerTest, ModelsOfAnotherLengthAreFoundToo) {
  const auto statuses = RunWorld(2, [](ProcessGroup& group) -> absl::Status {
    Model model(std::vector<int64_t>(static_cast<size_t>(2 + group.rank()), 1));
    return Reducer::Create(group, model.parameters()).status();
  });
  for (const absl::Status& status : statuses) {
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("rank 0 has 2 parameters, rank 1 3"));
  }
}

TEST(ReducerTest, AGradientMustBeSomewhere) {
  const auto statuses = RunWorld(1, [](ProcessGroup& group) {
    return Reducer::Create(group, {{.name = "w", .shape = {3}}}).status();
  });
  EXPECT_THAT(
      std::string(statuses[0].message()),
      HasSubstr("tensor 'w' of shape [3] has 3 elements, its gradient 0"));
}

TEST(ReducerTest, WhenCommunicationFailsSoDoesEveryLaterCall) {
  const auto statuses = RunWorld(2, [](ProcessGroup& group) -> absl::Status {
    Model model({8});
    auto reducer = Reducer::Create(group, model.parameters());
    if (!reducer.ok()) return reducer.status();
    group.Abort("the test says so");
    absl::Status status = (*reducer)->Begin(GradientSync::kReduce);
    if (status.ok()) status = (*reducer)->MarkReady(0);
    if (!status.ok()) return absl::InternalError("too early");
    status = (*reducer)->Finish();
    const absl::Status again = (*reducer)->Begin(GradientSync::kReduce);
    return again == status ? status : absl::InternalError("it forgot");
  });
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
  }
}

// A hook that counts the buckets and fills them with ones.
class Ones : public CommHook {
 public:
  absl::Status Reduce(GradientBucket& bucket, ProcessGroup&) override {
    ++buckets;
    std::fill_n(static_cast<float*>(bucket.data), bucket.count, 1.0f);
    return absl::OkStatus();
  }
  void OnNewBuckets() override { ++rebuilt; }

  int buckets = 0;
  int rebuilt = 0;
};

TEST(ReducerTest, AHookDoesItAlsoOnARankAlone) {
  const auto statuses = RunWorld(1, [](ProcessGroup& group) -> absl::Status {
    Model model({4, 4});
    auto hook = std::make_shared<Ones>();
    DdpOptions options = Small(GradientPlace::kOwn);
    options.limits = {.first_bytes = 1, .bytes = 1};
    options.hook = hook;
    auto reducer = Reducer::Create(group, model.parameters(), options);
    if (!reducer.ok()) return reducer.status();
    absl::Status status = (*reducer)->Begin(GradientSync::kReduce);
    if (status.ok()) status = (*reducer)->MarkReady(1);
    if (status.ok()) status = (*reducer)->MarkReady(0);
    if (status.ok()) status = (*reducer)->Finish();
    const float value = *static_cast<float*>((*reducer)->gradient(0));
    if (status.ok() &&
        (hook->buckets != 2 || hook->rebuilt != 1 || value != 1.0f)) {
      status = absl::InternalError("the hook was not asked");
    }
    return status;
  });
  EXPECT_TRUE(statuses[0].ok()) << statuses[0];
}

// An observer that records all its calls.
class Witness : public ReducerObserver {
 public:
  void OnReduced(const BucketReduction& reduction) override {
    reductions.push_back(reduction);
  }
  void OnWaited(Instant begin, Instant end) override {
    waits.emplace_back(begin, end);
  }

  std::vector<BucketReduction> reductions;
  std::vector<std::pair<Instant, Instant>> waits;
};

TEST(ReducerTest, ObserverSeesEachBucketAndWait) {
  for (const ParameterUse use : {ParameterUse::kAll, ParameterUse::kMayVary}) {
    const auto statuses = RunWorld(2, [&](ProcessGroup& group) -> absl::Status {
      Model model(kCounts);
      DdpOptions options = Small(GradientPlace::kOwn);
      options.use = use;
      const auto witness = std::make_shared<Witness>();
      options.observer = witness;
      auto reducer = Reducer::Create(group, model.parameters(), options);
      if (!reducer.ok()) return reducer.status();
      Duration exposed{};
      for (int step = 0; step < 3; ++step) {
        witness->reductions.clear();
        witness->waits.clear();
        const size_t buckets = (*reducer)->buckets().size();
        absl::Status status = (*reducer)->Begin(GradientSync::kReduce);
        for (int i = model.size(); status.ok() && i-- > 0;) {
          Fill(**reducer, model, group.rank(), step, i);
          status = (*reducer)->MarkReady(i);
        }
        if (status.ok()) status = (*reducer)->Finish();
        if (!status.ok()) return status;
        const bool shares_use = use == ParameterUse::kMayVary;
        EXPECT_EQ(witness->reductions.size(), buckets + (shares_use ? 1 : 0));
        EXPECT_EQ(witness->waits.size(), 1u);
        Instant before{};
        for (size_t i = 0; i < witness->reductions.size(); ++i) {
          const BucketReduction& one = witness->reductions[i];
          EXPECT_EQ(one.bucket, i < buckets ? static_cast<int>(i) : -1);
          EXPECT_GT(one.bytes, 0);
          EXPECT_LE(one.asked, one.began);
          EXPECT_LE(before, one.began);
          EXPECT_LE(one.began, one.ended);
          EXPECT_LE(one.ended, witness->waits[0].second);
          before = one.ended;
        }
        exposed += witness->waits[0].second - witness->waits[0].first;
        EXPECT_EQ((*reducer)->times().exposed, exposed);
        // Forget the earlier reductions. The next pass only accumulates
        // gradients and reduces nothing, so the observer must get no calls.
        witness->reductions.clear();
        status = (*reducer)->Begin(GradientSync::kAccumulate);
        for (int i = model.size(); status.ok() && i-- > 0;) {
          status = (*reducer)->MarkReady(i);
        }
        if (status.ok()) status = (*reducer)->Finish();
        if (!status.ok()) return status;
        EXPECT_TRUE(witness->reductions.empty());
        EXPECT_EQ(witness->waits.size(), 1u);
      }
      return absl::OkStatus();
    });
    EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  }
}

}  // namespace
}  // namespace muster
