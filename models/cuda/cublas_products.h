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
#include "models/cuda/kernels/cuda_stream.h"
#include "models/cuda/product.h"

namespace muster::cuda {

// Products by cuBLASLt, on the device that is current when it is made. How each
// is best computed is asked for once for each shape: a model has a few dozen,
// and 1024 are the most that are remembered. One thread at a time.
class CublasProducts {
 public:
  // What NVIDIA recommends for Hopper.
  static constexpr size_t kWorkspaceBytes = size_t{32} << 20;

  // `workspace`, in device memory, must outlive it.
  static absl::StatusOr<std::unique_ptr<CublasProducts>> Create(
      std::shared_ptr<const CublasLt> lt, void* workspace);
  ~CublasProducts();
  CublasProducts(const CublasProducts&) = delete;
  CublasProducts& operator=(const CublasProducts&) = delete;

  // Puts it on the stream. Unimplemented: cuBLASLt knows no way to do it;
  // Unavailable: its words.
  absl::Status Multiply(const Product& product, CudaStream stream);

 private:
  // A shape as the library wants to know it.
  struct Way;

  CublasProducts(std::shared_ptr<const CublasLt> lt, void* workspace);
  absl::StatusOr<Way*> Find(const Product& product);
  absl::Status Prepare(const ColumnMajorPlan& plan, const void* bias, Way* way);
  absl::Status MakeLayout(const ColumnMajorMatrix& matrix, int64_t batch,
                          cublasLtMatrixLayout_t* layout);
  absl::Status Choose(const ColumnMajorPlan& plan, Way* way);

  const std::shared_ptr<const CublasLt> lt_;
  void* const workspace_;
  cublasLtHandle_t handle_ = nullptr;
  std::map<ColumnMajorPlan, std::unique_ptr<Way>> ways_;
};

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_CUBLAS_PRODUCTS_H_
