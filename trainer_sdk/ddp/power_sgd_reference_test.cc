// Checks PowerSgdHook, with an approximation that loses much, against the
// algorithm of Vogels et al. computed in double for all ranks in one place.

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
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
// The bucket consists of a vector and these matrices.
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

// Gram-Schmidt over the columns, which are far from linearly dependent here.
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

// The reference's state of one matrix, for all ranks.
class PlainPowerSgd {
 public:
  PlainPowerSgd(int world, const Shape& shape, const Matrix& q)
      : q_(q),
        errors_(world, Zeros(static_cast<size_t>(shape.rows),
                             static_cast<size_t>(shape.columns))) {}

  // Takes the gradients by rank; returns the result of all ranks.
  Matrix Step(std::vector<Matrix> gradients) {
    for (size_t rank = 0; rank < gradients.size(); ++rank) {
      Add(1, errors_[rank], gradients[rank]);
    }
    const Matrix basis = Orthonormal(q_);
    std::vector<Matrix> products;
    products.reserve(gradients.size());
    for (const Matrix& m : gradients) products.push_back(Product(m, basis));
    const Matrix p = Orthonormal(Mean(products));
    products.clear();
    for (const Matrix& m : gradients) {
      products.push_back(Product(Transposed(m), p));
    }
    q_ = Mean(products);
    Matrix arrived = Product(p, Transposed(q_));
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
  static void Add(double factor, const Matrix& from, Matrix& to) {
    for (size_t i = 0; i < to.size(); ++i) {
      for (size_t j = 0; j < to[i].size(); ++j) {
        to[i][j] += factor * from[i][j];
      }
    }
  }

  Matrix q_;
  std::vector<Matrix> errors_;  // by rank
};

Matrix MatrixAt(const float* data, int64_t rows, int64_t columns) {
  Matrix m = Zeros(static_cast<size_t>(rows), static_cast<size_t>(columns));
  for (std::vector<double>& row : m) {
    for (double& value : row) value = *data++;
  }
  return m;
}

absl::Status Same(const std::string& what, const float* data,
                  const Matrix& expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    for (size_t j = 0; j < expected[i].size(); ++j, ++data) {
      if (std::abs(*data - expected[i][j]) < 1e-4) continue;
      return absl::InternalError(absl::StrCat(what, " [", i, "][", j, "] is ",
                                              *data, ", not ", expected[i][j]));
    }
  }
  return absl::OkStatus();
}

// The hook's state, by name in a checkpoint.
std::map<std::string, const float*> StateOf(PowerSgdHook& hook) {
  std::map<std::string, const float*> state;
  for (const CheckpointSlice& slice : hook.State()) {
    state[slice.tensor.name] = static_cast<const float*>(slice.data);
  }
  return state;
}

absl::Status CompareWithPlain(int approximation, ProcessGroup& group) {
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
  std::vector<PlainPowerSgd> plain;
  for (size_t m = 0; m < std::size(kShapes); ++m) {
    const float* const q =
        StateOf(hook).at(absl::StrCat("power_sgd/q/m", m + 1));
    plain.emplace_back(group.size(), kShapes[m],
                       MatrixAt(q, kShapes[m].columns, approximation));
  }
  for (int step = 0; step < kSteps; ++step) {
    std::vector<float> values = BucketOf(group.rank(), step);
    bucket.data = values.data();
    absl::Status status = hook.Reduce(bucket, group);
    for (size_t m = 0; m < std::size(kShapes) && status.ok(); ++m) {
      const Shape& shape = kShapes[m];
      const int64_t offset = bucket.parts[m + 1].offset;
      std::vector<Matrix> gradients;
      gradients.reserve(static_cast<size_t>(group.size()));
      for (int rank = 0; rank < group.size(); ++rank) {
        gradients.push_back(MatrixAt(BucketOf(rank, step).data() + offset,
                                     shape.rows, shape.columns));
      }
      const Matrix arrived = plain[m].Step(gradients);
      const std::string at = absl::StrCat("step ", step, ", matrix ", m + 1);
      if (Same("", BucketOf(group.rank(), step).data() + offset, arrived)
              .ok()) {
        return absl::InternalError(absl::StrCat(at, ": nothing was lost"));
      }
      auto state = StateOf(hook);
      const std::string name = parameters[m + 1].name;
      for (const absl::Status& same :
           {Same(at, values.data() + offset, arrived),
            Same(at + ", q", state.at("power_sgd/q/" + name), plain[m].q()),
            Same(at + ", error", state.at("power_sgd/error/" + name),
                 plain[m].error(group.rank()))}) {
        status.Update(same);
      }
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

TEST(PowerSgdReferenceTest, IsTheAlgorithmWrittenOut) {
  for (const int world : {1, 2, 3}) {
    for (const int approximation : {1, 2, 3}) {
      SCOPED_TRACE(absl::StrCat(world, " ranks, r = ", approximation));
      const absl::Status status =
          FirstFailure(RunWorld(world, [&](ProcessGroup& group) {
            return CompareWithPlain(approximation, group);
          }));
      EXPECT_TRUE(status.ok()) << status;
    }
  }
}

}  // namespace
}  // namespace muster
