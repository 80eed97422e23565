#ifndef MUSTER_MODELS_CUDA_CUBLAS_PRODUCTS_H_
#define MUSTER_MODELS_CUDA_CUBLAS_PRODUCTS_H_

#include <cublasLt.h>

#include <cstddef>
#include <map>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/cuda/column_major.h"
#include "models/cuda/cublas_lt.h"
#include "models/cuda/device.h"

namespace muster::models::cuda {

// Matrix products by cuBLASLt, on the device that is current at construction.
// The algorithm is looked up once per shape: a model has a few dozen shapes,
// and at most 1024 are remembered. Not thread-safe.
class CublasProducts final : public Products {
 public:
  // NVIDIA's recommendation for Hopper.
  static constexpr size_t kWorkspaceBytes = size_t{32} << 20;

  static absl::StatusOr<std::unique_ptr<CublasProducts>> Create(
      std::shared_ptr<const CublasLt> lt, std::shared_ptr<void> workspace);
  ~CublasProducts() override;
  CublasProducts(const CublasProducts&) = delete;
  CublasProducts& operator=(const CublasProducts&) = delete;

  // Enqueues the product on the stream. Unimplemented: cuBLASLt has no
  // algorithm for it. Unavailable: gives cuBLASLt's message.
  absl::Status Multiply(const Product& product, CudaStream stream) override;

 private:
  // The library's description of a shape, with the chosen algorithm.
  struct Way;

  CublasProducts(std::shared_ptr<const CublasLt> lt,
                 std::shared_ptr<void> workspace);
  absl::StatusOr<Way*> Find(const Product& product);
  absl::Status Prepare(const ColumnMajorPlan& plan, const void* bias, Way* way);
  absl::Status MakeLayout(const ColumnMajorMatrix& matrix, int64_t batch,
                          cublasLtMatrixLayout_t* layout);
  absl::Status Choose(const ColumnMajorPlan& plan, Way* way);

  const std::shared_ptr<const CublasLt> lt_;
  const std::shared_ptr<void> workspace_;
  cublasLtHandle_t handle_ = nullptr;
  std::map<ColumnMajorPlan, std::unique_ptr<Way>> ways_;
};

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_CUBLAS_PRODUCTS_H_
