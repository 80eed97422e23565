#ifndef MUSTER_MODELS_CUDA_CUBLAS_PRODUCTS_H_
#define MUSTER_MODELS_CUDA_CUBLAS_PRODUCTS_H_

#include <cublasLt.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/cuda/column_major.h"
#include "models/cuda/device.h"

namespace muster::models::cuda {

// NVIDIA's cuBLASLt, loaded at run time, so that a program also starts without
// the library. The members are cuBLASLt's functions, named without the prefix.
// Immutable, so thread-safe.
class CublasLt {
 public:
  // The file names of libcublasLt.so in all versions that this class supports,
  // newest first.
  static std::vector<std::string> DefaultNames();

  // Loads the first of the files `names` that exists. NotFound: no file exists
  // or a function is missing; the message is the dynamic loader's.
  static absl::StatusOr<std::shared_ptr<const CublasLt>> Load(
      const std::vector<std::string>& names = DefaultNames());

  // Returns OK if `result` is success; otherwise an error with the name of
  // `call` and cuBLASLt's message.
  absl::Status StatusOf(const char* call, cublasStatus_t result) const;

  decltype(&cublasLtGetStatusString) GetStatusString = nullptr;
  decltype(&cublasLtCreate) Create = nullptr;
  decltype(&cublasLtDestroy) Destroy = nullptr;
  decltype(&cublasLtMatmul) Matmul = nullptr;
  decltype(&cublasLtMatmulDescCreate) MatmulDescCreate = nullptr;
  decltype(&cublasLtMatmulDescDestroy) MatmulDescDestroy = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) MatmulDescSetAttribute = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) MatrixLayoutCreate = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) MatrixLayoutDestroy = nullptr;
  decltype(&cublasLtMatrixLayoutSetAttribute) MatrixLayoutSetAttribute =
      nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) MatmulPreferenceCreate = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) MatmulPreferenceDestroy = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) MatmulPreferenceSetAttribute =
      nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) MatmulAlgoGetHeuristic = nullptr;

 private:
  CublasLt() = default;
};

// Matrix products by cuBLASLt, on the device that is current at construction.
// Asks cuBLASLt for an algorithm once per shape of a product, and caches the
// algorithms of at most 1024 shapes; a model has a few dozen shapes. Not
// thread-safe.
class CublasProducts final : public Products {
 public:
  // Size of cuBLASLt's workspace in bytes: NVIDIA's recommendation for Hopper.
  static constexpr size_t kWorkspaceBytes = size_t{32} << 20;

  static absl::StatusOr<std::unique_ptr<CublasProducts>> Create(
      std::shared_ptr<const CublasLt> lt, std::shared_ptr<void> workspace);
  ~CublasProducts() override;
  CublasProducts(const CublasProducts&) = delete;
  CublasProducts& operator=(const CublasProducts&) = delete;

  // Enqueues the product on the stream. Unimplemented: cuBLASLt has no
  // algorithm for the product. Unavailable: cuBLASLt failed; the error has its
  // message.
  absl::Status Multiply(const Product& product, CudaStream stream) override;

 private:
  // cuBLASLt's descriptors of a product's shape, with the chosen algorithm.
  struct CachedProduct;

  CublasProducts(std::shared_ptr<const CublasLt> lt,
                 std::shared_ptr<void> workspace);
  absl::StatusOr<CachedProduct*> Find(const Product& product);
  absl::Status Prepare(const ColumnMajorPlan& plan, const void* bias,
                       CachedProduct* cached);
  absl::Status MakeLayout(const ColumnMajorMatrix& matrix, int64_t batch,
                          cublasLtMatrixLayout_t* layout);
  absl::Status Choose(const ColumnMajorPlan& plan, CachedProduct* cached);

  const std::shared_ptr<const CublasLt> lt_;
  const std::shared_ptr<void> workspace_;
  cublasLtHandle_t handle_ = nullptr;
  std::map<ColumnMajorPlan, std::unique_ptr<CachedProduct>> products_;
};

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_CUBLAS_PRODUCTS_H_
