// Compares the averages of the hooks that compress gradients with averages that
// are computed in a simple way.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/testing/rounding.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/ddp/comm_hook.h"
#include "trainer_sdk/ddp/low_rank.h"
#include "trainer_sdk/ddp/power_sgd_hook.h"
#include "trainer_sdk/process_group/element.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster {
namespace {

// A bucket that contains `values`, as matrices of the given sizes (rows,
// columns).
GradientBucket BucketOf(std::vector<float>& values,
                        const std::vector<std::pair<int64_t, int64_t>>& parts) {
  GradientBucket bucket;
  bucket.data = values.data();
  for (const auto& [rows, columns] : parts) {
    bucket.parts.push_back({static_cast<int>(bucket.parts.size()), bucket.count,
                            rows * columns, rows});
    bucket.count += rows * columns;
  }
  EXPECT_EQ(bucket.count, static_cast<int64_t>(values.size()));
  return bucket;
}

// Passes the parameters of `bucket` to the hook, as a reducer does.
void Introduce(const GradientBucket& bucket, const ProcessGroup& group,
               CommHook& hook) {
  std::vector<Tensor> parameters;
  for (const GradientBucket::Part& part : bucket.parts) {
    parameters.push_back({.name = absl::StrCat("p", part.parameter),
                          .shape = {part.rows, part.count / part.rows}});
  }
  hook.OnParameters(parameters, group);
}

float Rounded(float value, DType type) {
  uint16_t bits = 0;
  EncodeElement(value, type, &bits);
  return static_cast<float>(DecodeElement(type, &bits));
}

float Local(int rank, int step, size_t i) {
  return std::sin(static_cast<float>(i) * 0.7f + static_cast<float>(rank) +
                  0.3f * static_cast<float>(step));
}

absl::Status Differ(size_t i, float got, float expected) {
  return absl::InternalError(
      absl::StrCat("[", i, "] is ", got, ", not ", expected));
}

class Compress : public testing::TestWithParam<DType> {};

TEST_P(Compress, IsTheAverageOfWhatWasRounded) {
  constexpr int kWorld = 3;
  const DType type = GetParam();
  const auto statuses =
      RunWorld(kWorld, [&](ProcessGroup& group) -> absl::Status {
        std::vector<float> values(1000);
        for (size_t i = 0; i < values.size(); ++i) {
          values[i] = Local(group.rank(), 0, i);
        }
        GradientBucket bucket = BucketOf(values, {{1000, 1}});
        absl::Status status = CompressHook(type).Reduce(bucket, group);
        if (!status.ok()) return status;
        for (size_t i = 0; i < values.size(); ++i) {
          float sum = 0;
          for (int rank = 0; rank < kWorld; ++rank) {
            sum += Rounded(Local(rank, 0, i), type);
          }
          const float expected = Rounded(sum / kWorld, type);
          if (values[i] != expected) return Differ(i, values[i], expected);
        }
        return absl::OkStatus();
      });
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
}

INSTANTIATE_TEST_SUITE_P(Types, Compress,
                         testing::Values(DType::kBFloat16, DType::kFloat16));

TEST(CompressTest, OtherTypesAreAveragedAsTheyAre) {
  const auto statuses = RunWorld(2, [](ProcessGroup& group) -> absl::Status {
    double value = 1.0 + 1e-12 * (group.rank() + 1);
    GradientBucket bucket;
    bucket.dtype = DType::kFloat64;
    bucket.count = 1;
    bucket.data = &value;
    absl::Status status = CompressHook(DType::kBFloat16).Reduce(bucket, group);
    if (status.ok() && value != (1.0 + 1e-12 + 1.0 + 2e-12) / 2) {
      return absl::InternalError("rounded");
    }
    return status;
  });
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
}

// How far the columns of p are from orthonormal. The inner product of two
// different columns should be 0, and that of a column with itself 1. Returns
// the largest deviation from these values.
double Defect(const std::vector<float>& p, int64_t rank) {
  double most = 0;
  for (int64_t a = 0; a < rank; ++a) {
    for (int64_t b = 0; b < rank; ++b) {
      double product = 0;
      for (size_t i = 0; i < p.size(); i += rank) {
        product += double{p[i + a]} * p[i + b];
      }
      most = std::max(most, std::abs(product - (a == b ? 1 : 0)));
    }
  }
  return most;
}

void ExpectOrthonormal(std::vector<float> p, int64_t rank) {
  // An inner product of two columns may differ from its ideal value (0 or 1) by
  // this bound. The bound counts the roundings of a column: one when the column
  // is scaled, and three for each other column (converting an inner product to
  // float, a multiplication, a subtraction).
  const double bound =
      RoundingBound<float>(static_cast<double>(3 * rank - 2), 1);
  EXPECT_LE(Defect(p, rank), bound);
  for (size_t i = 0; i < p.size(); i += rank) p[i] *= 1.001f;
  EXPECT_GT(Defect(p, rank), bound) << "planted";
}

TEST(LowRankTest, ColumnsBecomeOrthonormal) {
  std::vector<float> p(7 * 3);
  for (size_t i = 0; i < p.size(); ++i) p[i] = Local(0, 0, i * i);
  Orthogonalize(p.data(), 7, 3);
  ExpectOrthonormal(p, 3);
}

TEST(LowRankTest, ColumnsThatDependOnOthersAreReplaced) {
  // The columns of the matrix are linearly dependent: they span only two
  // dimensions, are multiples of one unit vector, or are zeros. Orthogonalize
  // must still return orthonormal columns, even for tiny values (`scale`).
  for (const float scale : {1.0f, 1e-20f}) {
    for (const int dependent : {0, 1, 2}) {
      std::vector<float> p(9 * 4);
      for (int i = 0; i < 9; ++i) {
        for (int k = 0; k < 4; ++k) {
          const auto row = static_cast<float>(i);
          const auto column = static_cast<float>(k);
          p[i * 4 + k] =
              dependent == 0   ? scale * (0.1f * row * (column + 1) + column)
              : dependent == 1 ? (i == 1 ? scale * (column + 1) : 0.0f)
                               : 0.0f;
        }
      }
      Orthogonalize(p.data(), 9, 4);
      ExpectOrthonormal(p, 4);
    }
  }
}

TEST(LowRankTest, MoreColumnsThanRowsLeaveZeros) {
  std::vector<float> p = {3, 1, 5, 4, 2, 6};
  Orthogonalize(p.data(), 2, 3);
  EXPECT_EQ(p[0], 0.6f);
  EXPECT_EQ(p[2], 0);
  EXPECT_EQ(p[5], 0);
}

TEST(LowRankTest, ProductsAreProducts) {
  // The three matrices to multiply. With rows separated by semicolons: m = [1 2
  // 3; 4 5 6], q = [1; 10; 100], p = [7; 8].
  const std::vector<float> m = {1, 2, 3, 4, 5, 6};
  const std::vector<float> q = {1, 10, 100};
  const std::vector<float> p = {7, 8};
  std::vector<float> thin(2);
  TimesThin(m.data(), q.data(), 2, 3, 1, thin.data());
  EXPECT_THAT(thin, testing::ElementsAre(321, 654));
  std::vector<float> transposed(3);
  TransposedTimesThin(m.data(), p.data(), 2, 3, 1, transposed.data());
  EXPECT_THAT(transposed, testing::ElementsAre(39, 54, 69));
  std::vector<float> outer(6);
  TimesTransposed(p.data(), q.data(), 2, 3, 1, outer.data());
  EXPECT_THAT(outer, testing::ElementsAre(7, 70, 700, 8, 80, 800));
}

constexpr int64_t kRows = 12;
constexpr int64_t kColumns = 20;

PowerSgdOptions FromTheStart(int rank) {
  return {.rank = rank, .exact_steps = 0, .least_rate = 1, .seed = 5};
}

// The gradients of two processes. Each gradient is a matrix of rank 1 (one
// linearly independent column), so their average is a matrix of rank 2.
std::vector<std::vector<float>> GradientsOfRank1(Disturbance& disturb) {
  std::vector<std::vector<float>> gradients(2);
  for (int rank = 0; rank < 2; ++rank) {
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t j = 0; j < kColumns; ++j) {
        gradients[rank].push_back(static_cast<float>(
            disturb(Local(rank, 1, static_cast<size_t>(i)) *
                    Local(rank, 2, static_cast<size_t>(j * (rank + 3))))));
      }
    }
  }
  return gradients;
}

std::vector<double> Arrived(int approximation, Disturbance disturb) {
  std::vector<std::vector<float>> gradients = GradientsOfRank1(disturb);
  const auto statuses = RunWorld(2, [&](ProcessGroup& group) {
    GradientBucket bucket =
        BucketOf(gradients[group.rank()], {{kRows, kColumns}});
    PowerSgdHook hook(FromTheStart(approximation));
    Introduce(bucket, group, hook);
    return hook.Reduce(bucket, group);
  });
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  return {gradients[0].begin(), gradients[0].end()};
}

TEST(PowerSgdTest, AnAverageOfLowRankArrivesWhole) {
  Disturbance none;
  const auto gradients = GradientsOfRank1(none);
  std::vector<double> average;
  for (size_t i = 0; i < gradients[0].size(); ++i) {
    average.push_back((double{gradients[0][i]} + gradients[1][i]) / 2);
  }
  const std::vector<double> conditions = Condition([](Disturbance disturb) {
    return std::vector<std::vector<double>>{Arrived(2, disturb)};
  });
  // The largest allowed difference between the hook's average and the exact
  // average. It allows for the successive roundings of one element: 2 in the
  // sum over the ranks, kColumns + 2 in a matrix product, and kColumns + 2 for
  // each of the 2 columns that are made orthogonal.
  const double bound =
      RoundingBound<float>(2 + (2 + 1) * (kColumns + 2), conditions[0]);
  std::vector<double> arrived = Arrived(2, none);
  EXPECT_LE(Distance(arrived, average), bound);
  EXPECT_GT(Distance(Arrived(1, none), average), bound);
  for (double& value : arrived) value *= 1.001;
  EXPECT_GT(Distance(arrived, average), bound) << "planted";
}

// Each step sends only a part of its gradient. The rest (the error) is added to
// the next step's gradient. So the sum of all sent gradients must lack only the
// error of the last step.
TEST(PowerSgdTest, ErrorIsSentInLaterSteps) {
  constexpr int kWorld = 2;
  constexpr int kSteps = 60;
  const auto statuses =
      RunWorld(kWorld, [](ProcessGroup& group) -> absl::Status {
        PowerSgdHook hook(FromTheStart(2));
        std::vector<double> arrived(kRows * kColumns, 0.0);
        double first_gap = 0;
        double gap = 0;
        for (int step = 1; step <= kSteps; ++step) {
          std::vector<float> values(kRows * kColumns);
          for (size_t i = 0; i < values.size(); ++i) {
            values[i] = Local(group.rank(), 0, i * i);
          }
          GradientBucket bucket = BucketOf(values, {{kRows, kColumns}});
          if (step == 1) Introduce(bucket, group, hook);
          absl::Status status = hook.Reduce(bucket, group);
          if (!status.ok()) return status;
          gap = 0;
          for (size_t i = 0; i < values.size(); ++i) {
            arrived[i] += values[i];
            const double mean = (Local(0, 0, i * i) + Local(1, 0, i * i)) / 2.0;
            gap = std::max(gap, std::abs(arrived[i] / step - mean));
          }
          if (step == 1) first_gap = gap;
        }
        // `first_gap`: the largest error of the first step's average. This
        // error must be large, so that later steps have an error to send.
        //
        // `gap`: the largest error of the mean of all steps' averages. This
        // error must be small: only the error of the last step is not sent, and
        // the mean divides it by the number of steps.
        if (first_gap < 0.1) return absl::InternalError("nothing was lost");
        if (gap > first_gap / 4) {
          return absl::InternalError(absl::StrCat(first_gap, " to ", gap));
        }
        return absl::OkStatus();
      });
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
}

TEST(PowerSgdTest, VectorsAndTheFirstStepsAreExact) {
  constexpr int kWorld = 2;
  const auto statuses =
      RunWorld(kWorld, [](ProcessGroup& group) -> absl::Status {
        PowerSgdHook hook(
            {.rank = 1, .exact_steps = 2, .least_rate = 2, .seed = 0});
        for (int step = 0; step < 3; ++step) {
          // The parts of the bucket: a bias, a matrix, and a matrix that is too
          // small to compress.
          const std::vector<std::pair<int64_t, int64_t>> parts = {
              {5, 1}, {kRows, kColumns}, {2, 2}};
          std::vector<float> values(5 + kRows * kColumns + 4);
          for (size_t i = 0; i < values.size(); ++i) {
            values[i] = Local(group.rank(), step, i * i);
          }
          GradientBucket bucket = BucketOf(values, parts);
          if (step == 0) Introduce(bucket, group, hook);
          absl::Status status = hook.Reduce(bucket, group);
          if (!status.ok()) return status;
          bool matrix_is_exact = true;
          for (size_t i = 0; i < values.size(); ++i) {
            const float expected =
                (Local(0, step, i * i) + Local(1, step, i * i)) / kWorld;
            const bool in_matrix = i >= 5 && i < 5 + kRows * kColumns;
            if (values[i] == expected) continue;
            if (!in_matrix) return Differ(i, values[i], expected);
            matrix_is_exact = false;
          }
          if (matrix_is_exact != (step < 2)) {
            return absl::InternalError(absl::StrCat("in step ", step));
          }
        }
        return absl::OkStatus();
      });
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
}

TEST(PowerSgdTest, AllRanksHaveTheSameBits) {
  std::vector<std::vector<float>> results(3);
  const auto statuses = RunWorld(3, [&](ProcessGroup& group) -> absl::Status {
    PowerSgdHook hook(FromTheStart(2));
    std::vector<float> values(kRows * kColumns);
    for (int step = 0; step < 3; ++step) {
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = Local(group.rank(), step, i * i);
      }
      GradientBucket bucket = BucketOf(values, {{kRows, kColumns}});
      if (step == 0) Introduce(bucket, group, hook);
      absl::Status status = hook.Reduce(bucket, group);
      if (!status.ok()) return status;
    }
    results[static_cast<size_t>(group.rank())] = values;
    return absl::OkStatus();
  });
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  for (const std::vector<float>& result : results) {
    ASSERT_EQ(result.size(), results[0].size());
    EXPECT_EQ(std::memcmp(result.data(), results[0].data(),
                          result.size() * sizeof(float)),
              0);
  }
}

}  // namespace
}  // namespace muster
