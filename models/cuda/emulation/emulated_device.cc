#include "models/cuda/emulation/emulated_device.h"

#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "base/monotonic_clock.h"
#include "models/kernels/matrix_product.h"
#include "trainer_sdk/reduce/reduce.h"

namespace muster::models::cuda {
namespace {

const char* At(const Matrix& matrix, int64_t product, int64_t row) {
  return static_cast<const char*>(matrix.data) +
         (product * matrix.batch_stride + row * matrix.stride) *
             SizeOf(matrix.type);
}

void Read(ElementType type, const void* from, int64_t count, float* to) {
  if (type == ElementType::kFloat32) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
  } else {
    Widen(DType::kBFloat16, from, to, count);
  }
}

void Write(ElementType type, const float* from, int64_t count, void* to) {
  if (type == ElementType::kFloat32) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
  } else {
    Narrow(from, DType::kBFloat16, to, count);
  }
}

// One product's matrix, dense and in float32.
std::vector<float> Dense(const Matrix& matrix, int64_t product) {
  std::vector<float> all(static_cast<size_t>(matrix.rows * matrix.columns));
  for (int64_t row = 0; row < matrix.rows; ++row) {
    Read(matrix.type, At(matrix, product, row), matrix.columns,
         all.data() + row * matrix.columns);
  }
  return all;
}

MatrixView<const float> View(const std::vector<float>& dense,
                             const Matrix& matrix) {
  return MatrixView<const float>::Dense(dense.data(), matrix.rows,
                                        matrix.columns);
}

Form FormOf(MatrixForm form) {
  return form == MatrixForm::kPlain ? Form::kPlain : Form::kTransposed;
}

}  // namespace

absl::StatusOr<std::shared_ptr<void>> EmulatedDevice::Allocate(int64_t bytes) {
  if (bytes > left_) {
    return absl::ResourceExhaustedError("the emulated device's memory is full");
  }
  left_ -= bytes;
  // malloc, so that AddressSanitizer detects accesses beyond the end.
  std::shared_ptr<void> memory(std::malloc(static_cast<size_t>(bytes)),
                               &std::free);
  std::memset(memory.get(), 0xff, static_cast<size_t>(bytes));
  return memory;
}

void EmulatedDevice::CopyIn(void* to, const void* from, int64_t bytes) {
  HostDevice().CopyIn(to, from, bytes);
}

void EmulatedDevice::CopyOut(void* to, const void* from, int64_t bytes) {
  HostDevice().CopyOut(to, from, bytes);
}

void EmulatedDevice::Copy(Stream stream, void* to, const void* from,
                          int64_t bytes) {
  HostDevice().Copy(stream, to, from, bytes);
}

void EmulatedDevice::Zero(Stream stream, void* at, int64_t bytes) {
  HostDevice().Zero(stream, at, bytes);
}

int EmulatedDevice::Mark(Stream) {
  marks_.push_back(MonotonicNow());
  return static_cast<int>(marks_.size()) - 1;
}

std::vector<Duration> EmulatedDevice::ReadMarks() {
  std::vector<Duration> times;
  for (const Instant mark : marks_) times.push_back(mark - marks_[0]);
  marks_.clear();
  return times;
}

void EmulatedDevice::Multiply(const Product& product) {
  MUSTER_CHECK(product.a.type == product.b.type) << "factors of two types";
  const Matrix& result = product.result;
  std::vector<float> bias(static_cast<size_t>(result.columns));
  if (product.bias != nullptr) {
    Read(result.type, product.bias, result.columns, bias.data());
  }
  for (int64_t i = 0; i < product.batch; ++i) {
    std::vector<float> sums(static_cast<size_t>(result.rows * result.columns));
    if (product.addend != nullptr) {
      Matrix addend = result;
      addend.data = product.addend;
      sums = Dense(addend, i);
    }
    for (size_t j = 0; j < sums.size(); ++j) sums[j] += bias[j % bias.size()];
    MatrixProduct(
        FormOf(product.a_form), View(Dense(product.a, i), product.a),
        FormOf(product.b_form), View(Dense(product.b, i), product.b),
        product.factor, 1,
        MatrixView<float>::Dense(sums.data(), result.rows, result.columns));
    for (int64_t row = 0; row < result.rows; ++row) {
      Write(result.type, sums.data() + row * result.columns, result.columns,
            const_cast<char*>(At(result, i, row)));
    }
  }
}

}  // namespace muster::models::cuda
