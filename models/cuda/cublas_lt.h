#ifndef MUSTER_MODELS_CUDA_CUBLAS_LT_H_
#define MUSTER_MODELS_CUDA_CUBLAS_LT_H_

#include <cublasLt.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::cuda {

// NVIDIA's cuBLASLt, loaded at run time: a program starts without it. Its
// functions under the ends of their names. Immutable, hence thread-safe.
class CublasLt {
 public:
  // libcublasLt.so of the versions that have this interface, the newest first.
  static std::vector<std::string> DefaultNames();

  // The first of `names` that is there. NotFound: none is, or it lacks
  // something; in the loader's words.
  static absl::StatusOr<std::shared_ptr<const CublasLt>> Load(
      const std::vector<std::string>& names = DefaultNames());

  // OK for success, else what `call` said.
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

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_CUBLAS_LT_H_
