// Tests every combination of the reducer's options and hooks, on every
// transport and with 1 to 4 ranks. The expected averages are computed one
// element at a time.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/fnv_hash.h"
#include "base/testing/rounding.h"
#include "gtest/gtest.h"
#include "trainer_sdk/ddp/comm_hook.h"
#include "trainer_sdk/ddp/power_sgd_hook.h"
#include "trainer_sdk/ddp/reducer.h"
#include "trainer_sdk/gloo/gloo_transport.h"
#include "trainer_sdk/process_group/element.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"
#include "trainer_sdk/shared_memory/shared_memory_transport.h"
#include "trainer_sdk/tcp/tcp_transport.h"

namespace muster {
namespace {

constexpr int kSteps = 3;

struct Shape {
  int64_t rows = 1;
  int64_t columns = 0;
};
// The sizes (rows, columns) of the parameters. Matrices have at most three
// rows, so that a PowerSGD approximation of rank 3 is exact.
const std::vector<Shape> kShapes = {{1, 10}, {3, 20}, {1, 1}, {1, 0},
                                    {3, 7},  {1, 64}, {1, 7}};
constexpr int kParameters = 7;

enum class Hook { kNone, kBFloat16, kFloat16, kPowerSgd };

struct Case {
  Hook hook = Hook::kNone;
  GradientPlace place = GradientPlace::kOwn;
  ParameterUse use = ParameterUse::kAll;
  BucketOrder order = BucketOrder::kObserved;
  // The number of backward passes in an optimizer step.
  int passes = 1;
  BucketLimits limits;
  std::optional<DType> narrow_to;
};

std::string ToString(const Case& c) {
  return absl::StrCat(
      "hook ", static_cast<int>(c.hook), ", place ", static_cast<int>(c.place),
      ", use ", static_cast<int>(c.use), ", order ", static_cast<int>(c.order),
      ", passes ", c.passes, ", limits ", c.limits.first_bytes, "/",
      c.limits.bytes, c.narrow_to ? Name(*c.narrow_to) : "");
}

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (const Hook hook :
       {Hook::kNone, Hook::kBFloat16, Hook::kFloat16, Hook::kPowerSgd}) {
    for (const GradientPlace place :
         {GradientPlace::kOwn, GradientPlace::kBucket,
          GradientPlace::kOwnToBucket}) {
      for (const ParameterUse use : {ParameterUse::kAll, ParameterUse::kMayVary,
                                     ParameterUse::kStatic}) {
        for (const BucketOrder order :
             {BucketOrder::kObserved, BucketOrder::kReverse}) {
          for (const int passes : {1, 3}) {
            for (const BucketLimits limits :
                 {BucketLimits{.first_bytes = 1, .bytes = 1},
                  BucketLimits{.first_bytes = 64, .bytes = 256},
                  BucketLimits{}}) {
              cases.push_back({hook, place, use, order, passes, limits, {}});
            }
          }
        }
      }
    }
  }
  // Adds further cases, in which float32 gradients are narrowed to a 16-bit
  // type in the buckets.
  const size_t count = cases.size();
  for (size_t i = 0; i < count; ++i) {
    Case narrowed = cases[i];
    if (narrowed.place == GradientPlace::kBucket ||
        narrowed.hook != Hook::kNone) {
      continue;
    }
    for (const DType type : {DType::kBFloat16, DType::kFloat16}) {
      narrowed.narrow_to = type;
      cases.push_back(narrowed);
    }
  }
  return cases;
}

// The number of times that rank `rank` produces a gradient of parameter `i` in
// a pass.
int Times(const Case& c, int rank, int step, int pass, int i) {
  switch (c.use) {
    case ParameterUse::kAll:
      return 1;
    case ParameterUse::kMayVary:
      // Every rank uses parameter 5 in odd steps only. Any other parameter is
      // unused if the sum of rank, step, pass and index is a multiple of 3.
      return i == 5 ? step % 2 : (rank + step + pass + i) % 3 == 0 ? 0 : 1;
    case ParameterUse::kStatic:
      // No rank uses parameter 2; parameter 4 has two gradients in each pass;
      // rank 1 does not use parameter 6.
      return i == 2 || (i == 6 && rank == 1) ? 0 : i == 4 ? 2 : 1;
  }
  return 0;
}

// Element `k` of the gradient of parameter `i` in one pass. Sums of these
// values are rounded, so the order of additions affects the result.
float Value(int rank, int step, int pass, int i, int64_t k) {
  return 0.1f * static_cast<float>(rank + 1) - 0.37f * static_cast<float>(i) +
         0.013f * static_cast<float>(k * (pass + 1)) -
         0.3f * static_cast<float>(step);
}

float RoundedTo(DType type, float value) {
  uint64_t bits = 0;
  EncodeElement(value, type, &bits);
  return static_cast<float>(DecodeElement(type, &bits));
}

// Element `k` of a rank's gradient of parameter `i`, summed over all passes of
// the step.
float Accumulated(const Case& c, int rank, int step, int i, int64_t k) {
  float sum = 0;
  for (int pass = 0; pass < c.passes; ++pass) {
    for (int n = 0; n < Times(c, rank, step, pass, i); ++n) {
      sum += Value(rank, step, pass, i, k);
    }
  }
  return sum;
}

bool IsUsed(const Case& c, int rank, int step, int i) {
  for (int pass = 0; pass < c.passes; ++pass) {
    if (Times(c, rank, step, pass, i) > 0) return true;
  }
  return false;
}

// The element type in which the ranks send gradients to each other.
DType Sent(const Case& c) {
  if (c.narrow_to) return *c.narrow_to;
  if (c.hook == Hook::kBFloat16) return DType::kBFloat16;
  return c.hook == Hook::kFloat16 ? DType::kFloat16 : DType::kFloat32;
}

// The expected average of element `k`: the ranks' gradients, added in rank
// order and divided by the number of ranks. nullopt: no rank produced a
// gradient.
std::optional<float> Average(const Case& c, int world, int step, int i,
                             int64_t k) {
  float sum = 0;
  bool used = false;
  for (int rank = 0; rank < world; ++rank) {
    used = used || IsUsed(c, rank, step, i);
    const float value = Accumulated(c, rank, step, i, k);
    const float sent =
        Sent(c) == DType::kFloat32 ? value : RoundedTo(Sent(c), value);
    sum = rank == 0 ? sent : sum + sent;
  }
  if (!used) return std::nullopt;
  const float average = sum / static_cast<float>(world);
  return Sent(c) == DType::kFloat32 ? average : RoundedTo(Sent(c), average);
}

std::shared_ptr<CommHook> NewHook(Hook hook) {
  switch (hook) {
    case Hook::kNone:
      return nullptr;
    case Hook::kBFloat16:
      return std::make_shared<CompressHook>(DType::kBFloat16);
    case Hook::kFloat16:
      return std::make_shared<CompressHook>(DType::kFloat16);
    case Hook::kPowerSgd:
      // No matrix has more than three rows, so an approximation of rank 3 is
      // exact.
      return std::make_shared<PowerSgdHook>(
          PowerSgdOptions{.rank = 3, .exact_steps = 1, .least_rate = 0});
  }
  return nullptr;
}

// Which differences from the expected averages a test accepts. kBits: none, to
// the last bit, because the transport adds in rank order, as the test does.
// kRounding: rounding errors.
enum class Exactness { kBits, kRounding };

float AsFloat(TensorData view, int64_t k) {
  return static_cast<float>(DecodeElement(
      view.dtype,
      static_cast<const char*>(view.data) + k * SizeOf(view.dtype)));
}

// One rank that trains with the options of one case and checks all averages.
class OneCase {
 public:
  OneCase(const Case& c, Exactness exactness, ProcessGroup& group)
      : case_(c), exactness_(exactness), group_(group) {}

  absl::Status Run() {
    std::vector<Tensor> parameters;
    for (size_t i = 0; i < kShapes.size(); ++i) {
      const Shape& shape = kShapes[i];
      own_.emplace_back(static_cast<size_t>(shape.rows * shape.columns));
      parameters.push_back({.name = absl::StrCat("p", i),
                            .shape = {shape.rows, shape.columns},
                            .gradient = own_.back()});
    }
    DdpOptions options;
    options.limits = case_.limits;
    options.use = case_.use;
    options.place = case_.place;
    options.order = case_.order;
    options.narrow_to = case_.narrow_to;
    options.hook = NewHook(case_.hook);
    auto reducer = Reducer::Create(group_, parameters, options);
    if (!reducer.ok()) return reducer.status();
    reducer_ = *std::move(reducer);
    for (int step = 0; step < kSteps; ++step) {
      absl::Status status = Passes(step);
      if (status.ok()) status = Compare(step);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Passes(int step) {
    for (int i = 0; i < kParameters; ++i) {
      std::fill_n(static_cast<float*>(reducer_->gradient(i)), own_[i].size(),
                  0.0f);
    }
    absl::Status status;
    for (int pass = 0; pass < case_.passes && status.ok(); ++pass) {
      status =
          reducer_->Begin(pass + 1 < case_.passes ? GradientSync::kAccumulate
                                                  : GradientSync::kReduce);
      for (int n = 0; n < kParameters && status.ok(); ++n) {
        // Mark the gradients in an order that differs between ranks and steps.
        const int i = (n * 3 + group_.rank() + step) % kParameters;
        const int times = Times(case_, group_.rank(), step, pass, i);
        for (int time = 0; time < times && status.ok(); ++time) {
          float* const gradient = static_cast<float*>(reducer_->gradient(i));
          for (size_t k = 0; k < own_[i].size(); ++k) {
            gradient[k] +=
                Value(group_.rank(), step, pass, i, static_cast<int64_t>(k));
          }
          status = reducer_->MarkReady(i);
        }
        const bool may_say_so = case_.use == ParameterUse::kMayVary;
        if (times == 0 && may_say_so && n % 2 == 0 && status.ok()) {
          status = reducer_->MarkUnused(i);
        }
      }
      if (status.ok()) status = reducer_->Finish();
    }
    return status;
  }

  // The average of the absolute values of the ranks' gradients, to which
  // rounding errors are proportional.
  double Magnitude(int step, int i, int64_t k) const {
    double sum = 0;
    for (int rank = 0; rank < group_.size(); ++rank) {
      sum += std::abs(Accumulated(case_, rank, step, i, k));
    }
    return sum / group_.size();
  }

  // The largest rounding error that an average may have.
  double Bound(int step, int i, int64_t k) const {
    if (case_.hook == Hook::kPowerSgd) {
      // PowerSGD's result is P P^T M, where M is the average gradient and P is
      // an orthonormal square matrix. So an element of the result is at most
      // the sum of the magnitudes in its column of M. The bound counts the
      // successive roundings of an element: one per rank in the sum; columns +
      // 2 in a product over the longer side of M; and columns + 2 for each of
      // the three columns of P that are made orthogonal.
      const int64_t columns = kShapes[i].columns;
      double magnitude = 0;
      for (int64_t row = 0; row < kShapes[i].rows; ++row) {
        magnitude += Magnitude(step, i, row * columns + k % columns);
      }
      return RoundingBound<float>(
          static_cast<double>(group_.size() + (3 + 1) * (columns + 2)),
          magnitude);
    }
    if (exactness_ == Exactness::kBits) return 0;
    // Both the reducer and this test add the ranks' values and divide the sum,
    // with roundings to the type that is sent. The factor 2 allows for the
    // rounding errors of both.
    return 2 * RoundingGrowth(group_.size() + 1, Roundoff()) *
           Magnitude(step, i, k);
  }

  double Roundoff() const { return EpsilonOf(Sent(case_)) / 2; }

  absl::Status Compare(int step) {
    FnvHash hash;
    // Whether this test is strict enough: whether the comparison would fail if
    // all averages were multiplied by `wrong_factor`.
    bool notices = false;
    const double wrong_factor = 1.001 + 32 * Roundoff();
    for (int i = 0; i < kParameters; ++i) {
      const TensorData average = reducer_->average(i);
      for (int64_t k = 0; k < static_cast<int64_t>(own_[i].size()); ++k) {
        const std::optional<float> expected =
            Average(case_, group_.size(), step, i, k);
        // Skip a parameter that no rank used, which has no expected average: in
        // a group of one rank, its gradient may keep any value.
        if (!expected) continue;
        const float value = AsFloat(average, k);
        const double bound = Bound(step, i, k);
        const double error = std::abs(double{value} - *expected);
        notices = notices || std::abs(value * wrong_factor - *expected) > bound;
        if (!(error <= bound)) {
          return absl::InternalError(absl::StrCat("step ", step, ", p", i, "[",
                                                  k, "] is ", value, ", not ",
                                                  *expected));
        }
        uint32_t bits;
        std::memcpy(&bits, &value, sizeof(bits));
        hash.AddWord(bits);
      }
    }
    if (!notices) {
      return absl::InternalError(
          absl::StrCat("step ", step, ": a planted factor is not noticed"));
    }
    const auto mine = static_cast<int64_t>(hash.value());
    std::vector<int64_t> all(static_cast<size_t>(group_.size()));
    absl::Status status =
        group_.Run(AllGather(&mine, all.data(), 1, DType::kInt64));
    if (!status.ok()) return status;
    return all == std::vector<int64_t>(all.size(), mine)
               ? absl::OkStatus()
               : absl::InternalError(
                     absl::StrCat("ranks differ after step ", step));
  }

  const Case case_;
  const Exactness exactness_;
  ProcessGroup& group_;
  std::vector<std::vector<float>> own_;
  std::unique_ptr<Reducer> reducer_;
};

struct Subject {
  const char* name;
  TransportFactory factory;
  Exactness exactness;
  // To save time, a test takes only every `stride`-th case. Its first case is
  // number (ranks % stride), so the tests with 1, 2, 3 and 4 ranks take
  // different cases.
  int stride;
};

class ReducerOptions : public testing::TestWithParam<std::tuple<Subject, int>> {
};

TEST_P(ReducerOptions, AveragesAreThePlainOnes) {
  const auto& [subject, world] = GetParam();
  const std::vector<Case> cases = AllCases();
  const absl::Status failure = FirstFailure(RunWorld(
      world,
      [&, &subject = subject](ProcessGroup& group) -> absl::Status {
        for (size_t i = static_cast<size_t>(group.size() % subject.stride);
             i < cases.size(); i += static_cast<size_t>(subject.stride)) {
          const absl::Status status =
              OneCase(cases[i], subject.exactness, group).Run();
          if (!status.ok()) {
            return absl::Status(
                status.code(),
                absl::StrCat(ToString(cases[i]), ": ", status.message()));
          }
        }
        return absl::OkStatus();
      },
      subject.factory));
  EXPECT_TRUE(failure.ok()) << failure;
}

INSTANTIATE_TEST_SUITE_P(
    All, ReducerOptions,
    testing::Combine(
        testing::Values(Subject{"shm",
                                [](GroupPlace place, Instant deadline) {
                                  return NewSharedMemoryTransport(place, {},
                                                                  deadline);
                                },
                                Exactness::kBits, 4},
                        Subject{"tcp",
                                [](GroupPlace place, Instant deadline) {
                                  return NewTcpTransport(place, {}, deadline);
                                },
                                Exactness::kRounding, 5},
                        Subject{"gloo",
                                [](GroupPlace place, Instant deadline) {
                                  return NewGlooTransport(place, {}, deadline);
                                },
                                Exactness::kRounding, 31}),
        testing::Values(1, 2, 3, 4)),
    [](const auto& tested) {
      return absl::StrCat(std::get<0>(tested.param).name, "_",
                          std::get<1>(tested.param));
    });

}  // namespace
}  // namespace muster
