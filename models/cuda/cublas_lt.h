#ifndef MUSTER_MODELS_CUDA_CUBLAS_LT_H_
#define MUSTER_MODELS_CUDA_CUBLAS_LT_H_

#include <cublasLt.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::models::cuda {

// NVIDIA's cuBLASLt, loaded at run time, so that a program starts without it.
// The functions have their names without the prefix. Immutable, so thread-safe.
class CublasLt {
 public:
  // The file names of libcublasLt.so in the versions with this interface,
  // newest first.
  static std::vector<std::string> DefaultNames();

  // Loads the first of `names` that exists. NotFound: none exists or a function
  // is missing; gives the loader's message.
  static absl::StatusOr<std::shared_ptr<const CublasLt>> Load(
      const std::vector<std::string>& names = DefaultNames());

  // OK for success; otherwise an error with the name of `call` and cuBLASLt's
  // message.
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

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_CUBLAS_LT_H_
