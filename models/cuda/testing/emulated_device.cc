#include "models/cuda/testing/emulated_device.h"

#include <cstring>
#include <vector>

#include "base/check.h"
#include "models/kernels/matrix_product.h"
#include "trainer_sdk/cuda/emulation/emulated_cuda.h"
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

// Copies one matrix into a dense array of float32: the matrix for
// multiplication number `product` (from 0) of a batch.
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

class BlasProducts final : public Products {
 public:
  absl::Status Multiply(const Product& product, CudaStream) override {
    MUSTER_CHECK(product.a.type == product.b.type) << "factors of two types";
    const Matrix& result = product.result;
    std::vector<float> bias(static_cast<size_t>(result.columns));
    if (product.bias != nullptr) {
      Read(result.type, product.bias, result.columns, bias.data());
    }
    for (int64_t i = 0; i < product.batch; ++i) {
      std::vector<float> sums(
          static_cast<size_t>(result.rows * result.columns));
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
    return absl::OkStatus();
  }
};

}  // namespace

EmulatedDevice::EmulatedDevice(int64_t max_bytes)
    : Device(EmulatedCuda()), left_(max_bytes) {
  const absl::Status prepared = Prepare(0);
  MUSTER_CHECK(prepared.ok()) << prepared;
  SetProducts(std::make_unique<BlasProducts>());
}

absl::StatusOr<std::shared_ptr<void>> EmulatedDevice::Allocate(int64_t bytes) {
  if (bytes > left_) {
    return absl::ResourceExhaustedError("the emulated device's memory is full");
  }
  left_ -= bytes;
  return Device::Allocate(bytes);
}

}  // namespace muster::models::cuda
