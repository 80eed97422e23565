// Compares training on a device with training on the host, with DDP and ZeRO-1,
// each optimizer and each precision. The weights must be equal to the last bit.

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/data_parallel/data_parallel.h"
#include "trainer_sdk/device/testing/stream_device.h"
#include "trainer_sdk/optim/gradient_norm.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster {
namespace {

using State = DataParallelOptions::State;

const std::vector<int64_t> kCounts = {10, 200, 1, 0, 33, 300, 7};

struct Plan {
  State state = State::kReplicated;
  std::shared_ptr<const UpdateRule> rule = AdamWRule({});
  DType precision = DType::kFloat32;
  // The element type in which values are stored: `precision` or float32.
  DType values = DType::kFloat32;
  GradientPlace place = GradientPlace::kOwn;
  double clip = 0;
};

std::string ToString(const Plan& plan) {
  return absl::StrCat(
      plan.state == State::kSharded ? "sharded " : "replicated ",
      plan.rule->adamw() != nullptr ? "AdamW " : "SGD ", Name(plan.precision),
      " in ", Name(plan.values), ", place ", static_cast<int>(plan.place),
      ", clip ", plan.clip);
}

std::vector<Plan> AllPlans() {
  std::vector<Plan> plans;
  for (const State state : {State::kReplicated, State::kSharded}) {
    for (const auto& rule : {AdamWRule({.weight_decay = 0.1}),
                             SgdRule({.momentum = 0.9,
                             .lookahead = SgdOptions::Lookahead::kNesterov}),
                             SgdRule({.weight_decay = 0.1})}) {
      for (const auto& [precision, values] :
           {std::pair(DType::kFloat32, DType::kFloat32),
            std::pair(DType::kBFloat16, DType::kBFloat16),
            std::pair(DType::kFloat16, DType::kFloat32)}) {
        for (const GradientPlace place :
             {GradientPlace::kOwn, GradientPlace::kInPlace}) {
          for (const double clip : {0.0, 0.5}) {
            plans.push_back({state, rule, precision, values, place, clip});
          }
        }
      }
    }
  }
  return plans;
}

// A training run of several tensors on one rank. All values are in one array
// and all gradients in another, with four unused elements after each tensor.
class Training {
 public:
  Training(const Plan& plan, Device& device) : plan_(plan), device_(device) {
    int64_t total = 0;
    for (const int64_t count : kCounts) total += count + 4;
    values_ = *device.Allocate(total * SizeOf(plan.values));
    gradients_ = *device.Allocate(total * 4);
    device.Zero(Device::Stream::kCompute, values_.get(),
                total * SizeOf(plan.values));
    device.Zero(Device::Stream::kCompute, gradients_.get(), total * 4);
    int64_t at = 0;
    for (const int64_t count : kCounts) {
      const size_t i = tensors_.size();
      tensors_.push_back(
          {.name = absl::StrCat("p", i),
           .shape = {count},
           .value = {static_cast<char*>(values_.get()) +
                         at * SizeOf(plan.values),
                     count, plan.values},
           .gradient = {static_cast<float*>(gradients_.get()) + at, count},
           .decay = i % 2 == 0 ? WeightDecay::kApplied : WeightDecay::kNone,
           .precision = plan.precision});
      std::vector<float> first;
      for (int64_t k = 0; k < count; ++k) {
        first.push_back(
            std::cos(0.3f * static_cast<float>(k) + static_cast<float>(i)));
      }
      Write(first, tensors_.back().value);
      at += count + 4;
    }
  }

  absl::Status Prepare(ProcessGroup& world) {
    rank_ = world.rank();
    auto made = DataParallel::Create(
        world, tensors_, plan_.rule,
        {.ddp = {.device = &device_,
                 .limits = {.first_bytes = 64, .bytes = 900},
                 .place = plan_.place,
                 .order = BucketOrder::kReverse},
         .state = plan_.state});
    if (!made.ok()) return made.status();
    model_ = *std::move(made);
    return absl::OkStatus();
  }

  // Runs one training step. Its gradients depend on the weights, so that a
  // wrong weight makes all later weights wrong.
  absl::Status Step(int step) {
    absl::Status status = model_->Begin();
    for (int i = static_cast<int>(tensors_.size()); i-- > 0;) {
      std::vector<float> gradient = Read(tensors_[i].value);
      for (size_t k = 0; k < gradient.size(); ++k) {
        gradient[k] = std::sin(3 * gradient[k] + static_cast<float>(rank_) +
                               0.1f * static_cast<float>(step));
      }
      Write(gradient, tensors_[i].gradient);
      status.Update(model_->MarkReady(i));
    }
    status.Update(model_->Finish());
    if (!status.ok()) return status;
    OptimizerStep update{.step = step + 1, .learning_rate = 0.05};
    if (plan_.clip > 0) {
      const auto squares = model_->SumOfSquares();
      if (!squares.ok()) return squares.status();
      update.gradient_factor = ClipCoefficient(*squares, plan_.clip);
    }
    status = model_->Step(update);
    status.Update(model_->reducer().Confirm());
    return status;
  }

  std::vector<std::vector<float>> Values() {
    std::vector<std::vector<float>> values;
    for (const Tensor& tensor : tensors_) values.push_back(Read(tensor.value));
    return values;
  }

  DataParallel& model() { return *model_; }

 private:
  void Write(const std::vector<float>& from, const TensorData& to) {
    std::vector<char> bytes(static_cast<size_t>(to.count * SizeOf(to.dtype)));
    HostDevice().Convert(
        Device::Stream::kCompute,
        {const_cast<float*>(from.data()), to.count, DType::kFloat32},
        {bytes.data(), to.count, to.dtype}, to.dtype);
    device_.CopyIn(to.data, bytes.data(), static_cast<int64_t>(bytes.size()));
  }

  std::vector<float> Read(const TensorData& from) {
    std::vector<char> bytes(
        static_cast<size_t>(from.count * SizeOf(from.dtype)));
    device_.CopyOut(bytes.data(), from.data,
                    static_cast<int64_t>(bytes.size()));
    std::vector<float> values(static_cast<size_t>(from.count));
    HostDevice().Convert(Device::Stream::kCompute,
                         {bytes.data(), from.count, from.dtype}, values,
                         DType::kFloat32);
    return values;
  }

  const Plan plan_;
  Device& device_;
  int rank_ = 0;
  std::shared_ptr<void> values_;
  std::shared_ptr<void> gradients_;
  std::vector<Tensor> tensors_;
  std::unique_ptr<DataParallel> model_;
};

// Runs `body` on every rank. If `on_device`, each rank has its own device;
// otherwise the data is in host memory.
void OnRanks(int ranks, bool on_device,
             const std::function<absl::Status(ProcessGroup&, Device&)>& body) {
  const auto statuses = RunWorld(
      ranks,
      [&](ProcessGroup& world) {
        std::unique_ptr<Device> device;
        if (on_device) device = std::make_unique<StreamDevice>();
        return body(world, device == nullptr ? HostDevice() : *device);
      },
      on_device ? OnStreams(ReferenceTransports()) : ReferenceTransports());
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
}

using Weights = std::vector<std::vector<float>>;

// Returns the weights of each rank after three steps.
std::vector<Weights> Train(const Plan& plan, int ranks, bool on_device) {
  std::vector<Weights> found(static_cast<size_t>(ranks));
  OnRanks(ranks, on_device, [&](ProcessGroup& world, Device& device) {
    Training training(plan, device);
    absl::Status status = training.Prepare(world);
    for (int step = 0; step < 3 && status.ok(); ++step) {
      status = training.Step(step);
    }
    found[static_cast<size_t>(world.rank())] = training.Values();
    return status;
  });
  return found;
}

TEST(DeviceTrainingTest, EveryOptimizerGivesTheWeightsOfTheHost) {
  for (const Plan& plan : AllPlans()) {
    SCOPED_TRACE(ToString(plan));
    const std::vector<Weights> host = Train(plan, 2, false);
    ASSERT_EQ(host[0], host[1]);
    ASSERT_EQ(Train(plan, 2, true), host);
  }
}

TEST(DeviceTrainingTest, AnyNumberOfRanksSharesTheState) {
  for (const int ranks : {1, 3}) {
    for (const GradientPlace place :
         {GradientPlace::kOwn, GradientPlace::kInPlace}) {
      Plan plan{.precision = DType::kBFloat16,
                .values = DType::kBFloat16,
                .place = place,
                .clip = 0.5};
      const std::vector<Weights> whole = Train(plan, ranks, true);
      plan.state = State::kSharded;
      ASSERT_EQ(Train(plan, ranks, true), whole) << ranks;
      ASSERT_EQ(Train(plan, ranks, false), whole) << ranks;
    }
  }
}

TEST(DeviceTrainingTest, StateIsReadFromAndWrittenToTheDevice) {
  for (const State state : {State::kReplicated, State::kSharded}) {
    for (const DType precision : {DType::kFloat32, DType::kBFloat16}) {
      const Plan plan{
          .state = state, .precision = precision, .values = precision};
      OnRanks(2, true, [&](ProcessGroup& world, Device& device) {
        Training saved(plan, device);
        Training loaded(plan, device);
        absl::Status status = saved.Prepare(world);
        status.Update(loaded.Prepare(world));
        for (int step = 0; step < 2 && status.ok(); ++step) {
          status = saved.Step(step);
        }
        if (!status.ok()) return status;
        const auto from = saved.model().State();
        const auto to = loaded.model().State();
        EXPECT_EQ(from.size(), to.size());
        for (size_t i = 0; i < from.size(); ++i) {
          EXPECT_EQ(from[i].tensor, to[i].tensor);
          HostDevice().CopyIn(
              to[i].data, from[i].data,
              (from[i].end - from[i].begin) * SizeOf(from[i].tensor.dtype));
        }
        status = loaded.model().OnStateLoaded();
        EXPECT_EQ(loaded.Values(), saved.Values());
        status.Update(saved.Step(2));
        status.Update(loaded.Step(2));
        EXPECT_EQ(loaded.Values(), saved.Values());
        return status;
      });
    }
  }
}

TEST(DeviceTrainingTest, AFullDeviceIsReported) {
  for (const State state : {State::kReplicated, State::kSharded}) {
    const auto statuses = RunWorld(
        1,
        [&](ProcessGroup& world) {
          // A device with enough memory for values and gradients, but not for
          // the buffers that DataParallel::Create allocates.
          StreamDevice device(8000);
          Training training({.state = state}, device);
          return training.Prepare(world);
        },
        OnStreams(ReferenceTransports()));
    EXPECT_EQ(statuses[0].code(), absl::StatusCode::kResourceExhausted);
  }
}

class OwnRule final : public UpdateRule {
 public:
  std::vector<std::string> states() const override { return {}; }
  void Update(const OptimizerStep&, WeightDecay, int64_t, float*, const float*,
              float* const*) const override {}
};

TEST(DeviceTrainingTest, ARuleThatTheDeviceDoesNotHaveIsRefused) {
  for (const State state : {State::kReplicated, State::kSharded}) {
    const auto statuses = RunWorld(
        1,
        [&](ProcessGroup& world) {
          StreamDevice device;
          Training training(
              {.state = state, .rule = std::make_shared<OwnRule>()}, device);
          return training.Prepare(world);
        },
        OnStreams(ReferenceTransports()));
    EXPECT_EQ(statuses[0].code(), absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace muster
