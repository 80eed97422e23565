// Compares PowerSgdHook with the algorithm of Vogels et al., which the test
// computes in double for all ranks at once.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/testing/rounding.h"
#include "gtest/gtest.h"
#include "trainer_sdk/ddp/power_sgd_hook.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster {
namespace {

constexpr int kSteps = 6;
constexpr int64_t kVector = 5;

struct Shape {
  int64_t rows = 0;
  int64_t columns = 0;
};
// The sizes (rows, columns) of the matrices in the bucket. A vector precedes
// the matrices.
constexpr Shape kShapes[] = {{12, 20}, {9, 31}};

float Gradient(int rank, int step, size_t i) {
  return static_cast<float>(
      std::sin(0.7 * static_cast<double>(i * i % 997) + 1.3 * rank) +
      0.3 * std::cos(static_cast<double>(i) + step));
}

std::vector<float> BucketOf(int rank, int step) {
  int64_t count = kVector;
  for (const Shape& shape : kShapes) count += shape.rows * shape.columns;
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = Gradient(rank, step, i);
  }
  return values;
}

using Matrix = std::vector<std::vector<double>>;

Matrix Zeros(size_t rows, size_t columns) {
  return Matrix(rows, std::vector<double>(columns, 0.0));
}

Matrix Transposed(const Matrix& m) {
  Matrix turned = Zeros(m[0].size(), m.size());
  for (size_t i = 0; i < m.size(); ++i) {
    for (size_t j = 0; j < m[0].size(); ++j) turned[j][i] = m[i][j];
  }
  return turned;
}

Matrix Product(const Matrix& a, const Matrix& b) {
  Matrix product = Zeros(a.size(), b[0].size());
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b[0].size(); ++j) {
      for (size_t k = 0; k < b.size(); ++k) product[i][j] += a[i][k] * b[k][j];
    }
  }
  return product;
}

Matrix Mean(const std::vector<Matrix>& of) {
  Matrix mean = Zeros(of[0].size(), of[0][0].size());
  for (const Matrix& m : of) {
    for (size_t i = 0; i < m.size(); ++i) {
      for (size_t j = 0; j < m[i].size(); ++j) {
        mean[i][j] += m[i][j] / static_cast<double>(of.size());
      }
    }
  }
  return mean;
}

// Returns the matrix with its columns made orthonormal by Gram-Schmidt. The
// columns of `m` must be far from linearly dependent, as they are in this test.
Matrix Orthonormal(const Matrix& m) {
  Matrix columns = Transposed(m);
  for (size_t k = 0; k < columns.size(); ++k) {
    for (size_t before = 0; before < k; ++before) {
      double along = 0;
      for (size_t i = 0; i < m.size(); ++i) {
        along += columns[before][i] * columns[k][i];
      }
      for (size_t i = 0; i < m.size(); ++i) {
        columns[k][i] -= along * columns[before][i];
      }
    }
    double square = 0;
    for (const double value : columns[k]) square += value * value;
    for (double& value : columns[k]) value /= std::sqrt(square);
  }
  return Transposed(columns);
}

// A defect planted in the reference, which the test must detect.
enum class Planted { kNone, kNoErrorFeedback, kWrongFactor };

// The reference algorithm for one matrix, with the state of all ranks.
// `disturb` adds small random relative errors to each matrix that the algorithm
// computes, to measure how rounding errors grow.
class PlainPowerSgd {
 public:
  PlainPowerSgd(int world, const Shape& shape, const Matrix& q,
                Disturbance* disturb, Planted planted)
      : disturb_(disturb),
        planted_(planted),
        q_(q),
        errors_(world, Zeros(static_cast<size_t>(shape.rows),
                             static_cast<size_t>(shape.columns))) {}

  // Performs one step. `gradients` is indexed by rank. Returns the averaged
  // gradient, which is equal on all ranks.
  Matrix Step(std::vector<Matrix> gradients) {
    for (size_t rank = 0; rank < gradients.size(); ++rank) {
      if (planted_ != Planted::kNoErrorFeedback) {
        Add(1, errors_[rank], gradients[rank]);
      }
      gradients[rank] = Disturbed(gradients[rank]);
    }
    const Matrix basis = Disturbed(Orthonormal(q_));
    std::vector<Matrix> products;
    products.reserve(gradients.size());
    for (const Matrix& m : gradients) {
      products.push_back(Disturbed(Product(m, basis)));
    }
    const Matrix p = Disturbed(Orthonormal(Disturbed(Mean(products))));
    products.clear();
    for (const Matrix& m : gradients) {
      products.push_back(Disturbed(Product(Transposed(m), p)));
    }
    q_ = Disturbed(Mean(products));
    Matrix arrived = Disturbed(Product(p, Transposed(q_)));
    if (planted_ == Planted::kWrongFactor) Add(0.001, arrived, arrived);
    for (size_t rank = 0; rank < gradients.size(); ++rank) {
      errors_[rank] = gradients[rank];
      Add(-1, arrived, errors_[rank]);
    }
    return arrived;
  }

  const Matrix& q() const { return q_; }
  const Matrix& error(int rank) const {
    return errors_[static_cast<size_t>(rank)];
  }

 private:
  Matrix Disturbed(Matrix m) {
    for (std::vector<double>& row : m) (*disturb_)(row);
    return m;
  }

  static void Add(double factor, const Matrix& from, Matrix& to) {
    for (size_t i = 0; i < to.size(); ++i) {
      for (size_t j = 0; j < to[i].size(); ++j) {
        to[i][j] += factor * from[i][j];
      }
    }
  }

  Disturbance* const disturb_;
  const Planted planted_;
  Matrix q_;
  std::vector<Matrix> errors_;  // approximation errors, indexed by rank
};

Matrix MatrixAt(const float* data, int64_t rows, int64_t columns) {
  Matrix m = Zeros(static_cast<size_t>(rows), static_cast<size_t>(columns));
  for (std::vector<double>& row : m) {
    for (double& value : row) value = *data++;
  }
  return m;
}

std::vector<double> Flat(const Matrix& m) {
  std::vector<double> flat;
  for (const std::vector<double>& row : m) {
    flat.insert(flat.end(), row.begin(), row.end());
  }
  return flat;
}

// Returns the tensors of the hook's state. Key: a tensor's name in a
// checkpoint; value: the tensor's data.
std::map<std::string, const float*> StateOf(PowerSgdHook& hook) {
  std::map<std::string, const float*> state;
  for (const CheckpointSlice& slice : hook.State()) {
    state[slice.tensor.name] = static_cast<const float*>(slice.data);
  }
  return state;
}

// One rank's results. `lists` has three entries per step and matrix: the
// averaged gradient, Q, and the approximation error.
struct TrainingResult {
  std::vector<std::vector<float>> lists;
  // The factor Q of the approximation P Q^T of each gradient matrix, before the
  // first step.
  std::vector<Matrix> q;
};

absl::Status TakeSteps(int approximation, ProcessGroup& group,
                       TrainingResult* result) {
  PowerSgdHook hook(
      {.rank = approximation, .exact_steps = 0, .least_rate = 1, .seed = 11});
  std::vector<Tensor> parameters = {{.name = "v", .shape = {kVector}}};
  GradientBucket bucket;
  bucket.parts = {{0, 0, kVector, 1}};
  bucket.count = kVector;
  for (const Shape& shape : kShapes) {
    const int64_t count = shape.rows * shape.columns;
    const auto index = static_cast<int>(parameters.size());
    parameters.push_back({.name = absl::StrCat("m", index),
                          .shape = {shape.rows, shape.columns}});
    bucket.parts.push_back({index, bucket.count, count, shape.rows});
    bucket.count += count;
  }
  hook.OnParameters(parameters, group);
  for (size_t m = 0; m < std::size(kShapes); ++m) {
    const float* const q =
        StateOf(hook).at(absl::StrCat("power_sgd/q/m", m + 1));
    result->q.push_back(MatrixAt(q, kShapes[m].columns, approximation));
  }
  for (int step = 0; step < kSteps; ++step) {
    std::vector<float> values = BucketOf(group.rank(), step);
    bucket.data = values.data();
    const absl::Status status = hook.Reduce(bucket, group);
    if (!status.ok()) return status;
    auto state = StateOf(hook);
    for (size_t m = 0; m < std::size(kShapes); ++m) {
      const GradientBucket::Part& part = bucket.parts[m + 1];
      const std::string& name = parameters[m + 1].name;
      const float* const q = state.at("power_sgd/q/" + name);
      const float* const error = state.at("power_sgd/error/" + name);
      const float* const arrived = values.data() + part.offset;
      result->lists.emplace_back(arrived, arrived + part.count);
      result->lists.emplace_back(q, q + kShapes[m].columns * approximation);
      result->lists.emplace_back(error, error + part.count);
    }
  }
  return absl::OkStatus();
}

// The results that the reference algorithm gives for `rank`, in the order of
// TrainingResult::lists.
std::vector<std::vector<double>> PlainLists(int world, int rank,
                                            const std::vector<Matrix>& q,
                                            Disturbance disturb,
                                            Planted planted = Planted::kNone) {
  std::vector<PlainPowerSgd> plain;
  for (size_t m = 0; m < q.size(); ++m) {
    plain.emplace_back(world, kShapes[m], q[m], &disturb, planted);
  }
  std::vector<std::vector<double>> lists;
  for (int step = 0; step < kSteps; ++step) {
    int64_t offset = kVector;
    for (size_t m = 0; m < q.size(); ++m) {
      const Shape& shape = kShapes[m];
      std::vector<Matrix> gradients;
      gradients.reserve(static_cast<size_t>(world));
      for (int each = 0; each < world; ++each) {
        gradients.push_back(MatrixAt(BucketOf(each, step).data() + offset,
                                     shape.rows, shape.columns));
      }
      offset += shape.rows * shape.columns;
      lists.push_back(Flat(plain[m].Step(gradients)));
      lists.push_back(Flat(plain[m].q()));
      lists.push_back(Flat(plain[m].error(rank)));
    }
  }
  return lists;
}

TEST(PowerSgdReferenceTest, IsTheAlgorithmWrittenOut) {
  for (const int world : {1, 2, 3}) {
    for (const int approximation : {1, 2, 3}) {
      std::vector<TrainingResult> results(static_cast<size_t>(world));
      const absl::Status status =
          FirstFailure(RunWorld(world, [&](ProcessGroup& group) {
            return TakeSteps(approximation, group, &results[group.rank()]);
          }));
      ASSERT_TRUE(status.ok()) << status;
      // The largest number of successive roundings of one element. The gradient
      // is approximated by P Q^T. The sum over the ranks has one rounding per
      // rank. Let n be the longest side of a matrix. A matrix product has n + 2
      // roundings. Making P orthogonal has n + 2 roundings for each of P's
      // columns, of which there are `approximation`.
      const double operations =
          world +
          (approximation + 1) * static_cast<double>(kShapes[1].columns + 2);
      for (int rank = 0; rank < world; ++rank) {
        SCOPED_TRACE(absl::StrCat("rank ", rank, " of ", world,
                                  ", r = ", approximation));
        const TrainingResult& result = results[rank];
        const RoundingReference plain([&](Disturbance disturb) {
          return PlainLists(world, rank, result.q, disturb);
        });
        EXPECT_EQ(plain.WrongList<float>(operations, result.lists), -1);
        for (const Planted planted :
             {Planted::kNoErrorFeedback, Planted::kWrongFactor}) {
          EXPECT_NE(plain.WrongList<float>(operations,
                                           PlainLists(world, rank, result.q,
                                                      Disturbance(), planted)),
                    -1)
              << "planted";
        }
        // Every third list holds approximation errors. Some of them must be
        // large, above 0.1 for gradients of about 1. Otherwise this test would
        // not show that errors are added to the next gradient.
        for (size_t i = 2; i < result.lists.size(); i += 3) {
          const std::vector<float>& error = result.lists[i];
          EXPECT_GT(*std::max_element(error.begin(), error.end()), 0.1f);
        }
      }
    }
  }
}

}  // namespace
}  // namespace muster
