#include "trainer_sdk/zero/sharded_optimizer.h"

#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/gloo/gloo_transport.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"
#include "trainer_sdk/shared_memory/shared_memory_transport.h"
#include "trainer_sdk/tcp/tcp_transport.h"
#include "trainer_sdk/zero/toy_training.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

using Values = std::vector<std::vector<float>>;

// The results of a training run after each step: the sum of the squares of the
// gradients, and all values.
struct Trace {
  std::vector<double> squares;
  std::vector<Values> values;

  bool operator==(const Trace&) const = default;
};

TransportFactory SharedMemory() {
  return [](GroupPlace place, Instant deadline) {
    return NewSharedMemoryTransport(place, {}, deadline);
  };
}

// Whether all values have the same bits. Numbers are not compared, because a
// NaN differs from itself and zeros of both signs are equal.
bool SameBits(const Values& a, const Values& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i].empty() && std::memcmp(a[i].data(), b[i].data(),
                                     a[i].size() * sizeof(float)) != 0) {
      return false;
    }
  }
  return a.size() == b.size();
}

// A saved state. Key: the name of a state tensor. Value: all its elements.
using Saved = std::map<std::string, std::vector<float>>;

// Trains on `world` ranks in steps [begin, end). Checks that all ranks have the
// same results, and returns rank 0's results. Before the first step, loads the
// optimizer's state and the values ("values/p0", "values/p1", ...) from `from`.
// After the last step, saves them to `to`. Null: does not load or save.
Trace Train(int world, const ToyPlan& plan, int begin, int end,
            const Saved* from = nullptr, Saved* to = nullptr,
            const TransportFactory& transport = SharedMemory()) {
  std::mutex mutex;
  std::vector<Trace> traces(static_cast<size_t>(world));
  const absl::Status failure = FirstFailure(RunWorld(
      world,
      [&](ProcessGroup& group) -> absl::Status {
        auto created = ToyTraining::Create(plan, group);
        if (!created.ok()) return created.status();
        ToyTraining& toy = **created;
        if (from != nullptr) {
          for (size_t i = 0; i < toy.values().size(); ++i) {
            toy.values()[i] = from->at(absl::StrCat("values/p", i));
          }
          for (const CheckpointSlice& slice : toy.optimizer().State()) {
            const std::vector<float>& whole = from->at(slice.tensor.name);
            std::copy(whole.begin() + slice.begin, whole.begin() + slice.end,
                      static_cast<float*>(slice.data));
          }
          toy.set_updates(begin);
          absl::Status loaded = toy.optimizer().OnStateLoaded();
          if (!loaded.ok()) return loaded;
        }
        Trace& trace = traces[static_cast<size_t>(group.rank())];
        for (int step = begin; step < end; ++step) {
          const absl::StatusOr<double> squares = toy.Step(step);
          if (!squares.ok()) return squares.status();
          trace.squares.push_back(*squares);
          trace.values.push_back(toy.values());
        }
        if (to == nullptr) return absl::OkStatus();
        const std::lock_guard<std::mutex> lock(mutex);
        for (size_t i = 0; i < toy.values().size(); ++i) {
          (*to)[absl::StrCat("values/p", i)] = toy.values()[i];
        }
        for (const CheckpointSlice& slice : toy.optimizer().State()) {
          std::vector<float>& whole = (*to)[slice.tensor.name];
          whole.resize(static_cast<size_t>(slice.tensor.shape[0]), -1.0f);
          std::copy_n(static_cast<const float*>(slice.data),
                      slice.end - slice.begin, whole.begin() + slice.begin);
        }
        return absl::OkStatus();
      },
      transport));
  EXPECT_TRUE(failure.ok()) << failure;
  for (const Trace& trace : traces) {
    EXPECT_EQ(trace.squares, traces[0].squares);
    for (size_t i = 0; i < trace.values.size(); ++i) {
      EXPECT_TRUE(SameBits(trace.values[i], traces[0].values[i]))
          << "ranks differ after step " << begin + static_cast<int>(i);
    }
  }
  return traces[0];
}

void ExpectSame(const Trace& a, const Trace& b) {
  EXPECT_EQ(a.squares, b.squares);
  ASSERT_EQ(a.values.size(), b.values.size());
  for (size_t i = 0; i < a.values.size(); ++i) {
    EXPECT_TRUE(SameBits(a.values[i], b.values[i])) << "step " << i;
  }
}

struct Rule {
  std::string name;
  std::shared_ptr<const UpdateRule> rule;
};

// Test parameters: number of ranks, precision, update rule, and limit of the
// gradient norm (0: no clipping).
class Sharded
    : public testing::TestWithParam<std::tuple<int, DType, Rule, double>> {
 protected:
  ToyPlan Plan(ToyPlan::State state) const {
    ToyPlan plan;
    plan.state = state;
    std::tie(std::ignore, plan.precision, std::ignore, plan.clip) = GetParam();
    plan.rule = std::get<2>(GetParam()).rule;
    return plan;
  }
};

TEST_P(Sharded, IsDdpBitForBit) {
  const int world = std::get<0>(GetParam());
  ExpectSame(Train(world, Plan(ToyPlan::State::kSharded), 0, 5),
             Train(world, Plan(ToyPlan::State::kReplicated), 0, 5));
}

INSTANTIATE_TEST_SUITE_P(
    All, Sharded,
    testing::Combine(
        testing::Values(1, 2, 3, 4),
        testing::Values(DType::kFloat32, DType::kBFloat16, DType::kFloat16),
        testing::Values(Rule{"AdamW", AdamWRule({})}, Rule{"Sgd", SgdRule({})},
                        Rule{"Momentum", SgdRule({.momentum = 0.9})}),
        testing::Values(0.0, 0.5)),
    [](const auto& tested) {
      return absl::StrCat(std::get<0>(tested.param), "_",
                          Name(std::get<1>(tested.param)), "_",
                          std::get<2>(tested.param).name, "_",
                          std::get<3>(tested.param) == 0 ? "whole" : "clipped");
    });

TEST(ShardedOptimizerTest, ThereMayBeMoreRanksThanElements) {
  ToyPlan plan;
  plan.counts = {2, 0, 1};
  plan.micro_batches = 6;
  const Trace replicated = Train(6, plan, 0, 3);
  plan.state = ToyPlan::State::kSharded;
  ExpectSame(Train(6, plan, 0, 3), replicated);
}

TEST(ShardedOptimizerTest, EveryPlaceAndUseOfGradientsWillDo) {
  ToyPlan plan;
  const Trace expected = Train(2, plan, 0, 4);
  plan.state = ToyPlan::State::kSharded;
  for (const GradientPlace place :
       {GradientPlace::kBucket, GradientPlace::kOwnToBucket}) {
    for (const ParameterUse use :
         {ParameterUse::kAll, ParameterUse::kMayVary, ParameterUse::kStatic}) {
      plan.ddp.place = place;
      plan.ddp.use = use;
      ExpectSame(Train(2, plan, 0, 4), expected);
    }
  }
  // AllReduceHook averages the whole bucket on every rank, although a rank
  // needs only its own part. A sharded optimizer must accept this hook, with
  // the same results.
  plan.ddp.hook = std::make_shared<AllReduceHook>();
  ExpectSame(Train(2, plan, 0, 4), expected);
}

TEST(ShardedOptimizerTest, TheNetworkIsAsGood) {
  // Integer gradients have exact sums, so the order in which a network
  // transport adds them must not affect the result.
  ToyPlan plan;
  plan.gradients = ToyPlan::Gradients::kWhole;
  plan.clip = 3;
  const Trace expected = Train(1, plan, 0, 3);
  const std::vector<TransportFactory> networks = {
      [](GroupPlace place, Instant deadline) {
        return NewTcpTransport(place, {}, deadline);
      },
      [](GroupPlace place, Instant deadline) {
        return NewGlooTransport(place, {}, deadline);
      }};
  plan.state = ToyPlan::State::kSharded;
  for (const TransportFactory& network : networks) {
    for (const int world : {2, 3}) {
      ExpectSame(Train(world, plan, 0, 3, nullptr, nullptr, network), expected);
    }
  }
}

// Tests that state which was saved with one number of ranks can be loaded with
// another. Test parameter: precision.
class Resharded : public testing::TestWithParam<DType> {};

TEST_P(Resharded, StateIsTheSameOnAnyNumberOfRanks) {
  ToyPlan plan;
  plan.precision = GetParam();
  plan.gradients = ToyPlan::Gradients::kWhole;
  plan.clip = 2;
  const Trace undisturbed = Train(1, plan, 0, 8);
  plan.state = ToyPlan::State::kSharded;
  for (const int saved_on : {4, 3, 1}) {
    Saved saved;
    const Trace before = Train(saved_on, plan, 0, 4, nullptr, &saved);
    for (const int loaded_on : {2, 6, 1}) {
      Trace trace = before;
      const Trace after = Train(loaded_on, plan, 4, 8, &saved);
      trace.squares.insert(trace.squares.end(), after.squares.begin(),
                           after.squares.end());
      trace.values.insert(trace.values.end(), after.values.begin(),
                          after.values.end());
      SCOPED_TRACE(absl::StrCat(saved_on, " ranks, then ", loaded_on));
      ExpectSame(trace, undisturbed);
    }
    // A ReplicatedOptimizer must be able to load the state that a
    // ShardedOptimizer saved.
    ToyPlan replicated = plan;
    replicated.state = ToyPlan::State::kReplicated;
    const Trace after = Train(2, replicated, 4, 8, &saved);
    EXPECT_TRUE(SameBits(after.values.back(), undisturbed.values.back()));
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, Resharded,
                         testing::Values(DType::kFloat32, DType::kBFloat16),
                         [](const auto& tested) { return Name(tested.param); });

// Returns the error of ShardedOptimizer::Create for parameters and options that
// do not fit together.
std::string WhatIsWrong(const DdpOptions& options, DType gradient,
                        std::vector<Tensor> parameters) {
  const auto statuses = RunWorld(1, [&](ProcessGroup& group) -> absl::Status {
    auto reducer = Reducer::Create(
        group,
        {{.name = "a", .shape = {3}, .gradient = {nullptr, 0, gradient}},
         {.name = "b", .shape = {2}, .gradient = {nullptr, 0, gradient}}},
        options);
    if (!reducer.ok()) return reducer.status();
    return ShardedOptimizer::Create(group, **reducer, SgdRule({}), parameters)
        .status();
  });
  EXPECT_EQ(statuses[0].code(), absl::StatusCode::kInvalidArgument);
  return std::string(statuses[0].message());
}

TEST(ShardedOptimizerTest, MismatchIsNamed) {
  std::vector<float> values(3);
  Tensor a{.name = "a", .shape = {3}, .value = values};
  Tensor b{.name = "b", .shape = {2}, .value = {values.data(), 2}};
  const DdpOptions in_buckets = ForSharding({.place = GradientPlace::kBucket});
  EXPECT_THAT(
      WhatIsWrong({.place = GradientPlace::kBucket}, DType::kFloat32, {a, b}),
      HasSubstr("make the reducer with ForSharding"));
  EXPECT_THAT(WhatIsWrong(in_buckets, DType::kFloat32, {a}),
              HasSubstr("the reducer has 2 parameters, the optimizer 1"));
  EXPECT_THAT(WhatIsWrong(in_buckets, DType::kFloat32, {b, a}),
              HasSubstr("has 3 elements, its gradient 2"));
  EXPECT_THAT(WhatIsWrong(in_buckets, DType::kBFloat16, {a, b}),
              HasSubstr("have no room where its gradient is"));
  Tensor c = b;
  c.value = values;
  EXPECT_THAT(WhatIsWrong(in_buckets, DType::kFloat32, {a, c}),
              HasSubstr("tensor 'b' of shape [2] has 2 elements, its value 3"));
  b.precision = DType::kBFloat16;
  EXPECT_THAT(WhatIsWrong(in_buckets, DType::kFloat32, {a, b}),
              HasSubstr("cannot be gathered in one bucket"));
}

// A reducer made with ForSharding gives each rank only a part of the averages.
// A ReplicatedOptimizer, which updates all weights, must reject it.
TEST(ShardedOptimizerTest, AReplicatedOptimizerBehindItsReducerIsRefused) {
  const auto statuses = RunWorld(2, [](ProcessGroup& group) -> absl::Status {
    std::vector<float> values(4, 1), gradient(4, 1);
    const std::vector<Tensor> tensors = {{"w", {4}, values, gradient}};
    auto reducer = Reducer::Create(group, tensors, ForSharding({}));
    if (!reducer.ok()) return reducer.status();
    ReplicatedOptimizer optimizer(SgdRule({}), tensors, [&](int parameter) {
      return (*reducer)->average(parameter);
    });
    absl::Status status = (*reducer)->Begin(GradientSync::kReduce);
    status.Update((*reducer)->MarkReady(0));
    status.Update((*reducer)->Finish());
    if (!status.ok()) return status;
    status = optimizer.Step({.step = 1, .learning_rate = 1});
    EXPECT_EQ(values, std::vector<float>(4, 1));
    return status;
  });
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("ShardedOptimizer takes"));
  }
}

TEST(ShardedOptimizerTest, AStepThatWasNotGivenIsRefused) {
  const auto statuses = RunWorld(2, [](ProcessGroup& group) -> absl::Status {
    ToyPlan plan;
    plan.state = ToyPlan::State::kSharded;
    auto toy = ToyTraining::Create(plan, group);
    if (!toy.ok()) return toy.status();
    EXPECT_FALSE((*toy)->optimizer().Step({.learning_rate = 1}).ok());
    return (*toy)->optimizer().Step({.step = 1});
  });
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  }
}

TEST(ShardedOptimizerTest, ABrokenGroupIsAnError) {
  const auto statuses = RunWorld(2, [](ProcessGroup& group) -> absl::Status {
    ToyPlan plan;
    plan.state = ToyPlan::State::kSharded;
    auto toy = ToyTraining::Create(plan, group);
    if (!toy.ok()) return toy.status();
    group.Abort("the test says so");
    if ((*toy)->optimizer().SumOfSquares().ok()) {
      return absl::InternalError("a sum without a group");
    }
    return (*toy)->optimizer().Step({.step = 1, .learning_rate = 1});
  });
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
  }
}

}  // namespace
}  // namespace muster
