#ifndef MUSTER_MODELS_CUDA_DEVICE_H_
#define MUSTER_MODELS_CUDA_DEVICE_H_

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/cuda/cuda_device.h"
#include "trainer_sdk/cuda/cuda_types.h"

namespace muster::models::cuda {

using ::muster::Bfloat16;

enum class ElementType { kFloat32, kBfloat16 };

template <typename T>
constexpr ElementType kElementType =
    std::is_same_v<T, float> ? ElementType::kFloat32 : ElementType::kBfloat16;

constexpr int64_t SizeOf(ElementType type) {
  return type == ElementType::kFloat32 ? 4 : 2;
}

// A row-major matrix in device memory or, for a batch of products, one matrix
// per product. Strides are in elements.
struct Matrix {
  ElementType type = ElementType::kFloat32;
  const void* data = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  // Distance between the starts of adjacent rows, in elements.
  int64_t stride = 0;
  // Distance between the matrices of two successive products of a batch, in
  // elements.
  int64_t batch_stride = 0;

  template <typename T>
  static Matrix Dense(const T* data, int64_t rows, int64_t columns) {
    return {kElementType<T>, data, rows, columns, columns, 0};
  }
};

enum class MatrixForm { kPlain, kTransposed };

// For each of `batch` products: result = factor * a * b + addend + bias. The
// matrices `a` and `b` are used as they are or transposed (MatrixForm). Sums
// are computed in float32 and rounded once to the result's type.
struct Product {
  MatrixForm a_form = MatrixForm::kPlain;
  Matrix a;
  MatrixForm b_form = MatrixForm::kPlain;
  // The second factor. Its element type must be that of `a`.
  Matrix b;
  // The matrix that receives the product.
  Matrix result;
  float factor = 1;
  // A matrix that is added to the product, with the layout of the result; may
  // be the result's memory; null: none.
  const void* addend = nullptr;
  // A vector that is added to each row of the product. It has one element per
  // column, of the result's type. Null: none.
  const void* bias = nullptr;
  int64_t batch = 1;
};

// The matrix products of a device: cuBLASLt, or OpenBLAS in tests.
class Products {
 public:
  virtual ~Products() = default;
  // Enqueues the product on the stream.
  virtual absl::Status Multiply(const Product& product, CudaStream stream) = 0;
};

// A GPU for the models: the SDK's CudaDevice, plus matrix products. Methods
// without a Stream parameter enqueue their work on the compute stream, which
// stream() returns. The models' kernels use the same stream.
class Device : public CudaDevice {
 public:
  // Makes a device. Prepare and SetProducts must be called before other
  // methods.
  explicit Device(const CudaPlugin& plugin) : CudaDevice(plugin) {}
  void SetProducts(std::unique_ptr<Products> products) {
    products_ = std::move(products);
  }

  using CudaDevice::Copy;
  using CudaDevice::Zero;
  void Copy(void* to, const void* from, int64_t bytes) {
    Copy(Stream::kCompute, to, from, bytes);
  }
  void Zero(void* at, int64_t bytes) { Zero(Stream::kCompute, at, bytes); }
  virtual void Multiply(const Product& product) {
    Note(products_->Multiply(product, stream()));
  }

 private:
  std::unique_ptr<Products> products_;
};

// Arrays in device memory, which the destructor frees. Movable; the device must
// outlive this object.
class DeviceArrays {
 public:
  explicit DeviceArrays(Device& device) : device_(&device) {}

  // Allocates an uninitialised array of `count` elements. Returns null if this
  // or an earlier allocation has failed.
  template <typename T>
  T* Add(int64_t count) {
    return static_cast<T*>(AddBytes(count * static_cast<int64_t>(sizeof(T))));
  }

  // OK if all allocations succeeded, otherwise the error of the first one that
  // failed. Must be checked before the arrays are used.
  const absl::Status& status() const { return status_; }
  int64_t bytes() const { return bytes_; }

 private:
  void* AddBytes(int64_t bytes) {
    if (!status_.ok()) return nullptr;
    absl::StatusOr<std::shared_ptr<void>> memory = device_->Allocate(bytes);
    status_ = memory.status();
    if (!memory.ok()) return nullptr;
    bytes_ += bytes;
    arrays_.push_back(*std::move(memory));
    return arrays_.back().get();
  }

  Device* device_;
  absl::Status status_;
  int64_t bytes_ = 0;
  std::vector<std::shared_ptr<void>> arrays_;
};

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_DEVICE_H_
