#include "models/cuda/cublas_lt.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"

namespace muster::models::cuda {

std::vector<std::string> CublasLt::DefaultNames() {
  return {"libcublasLt.so.13", "libcublasLt.so.12"};
}

absl::StatusOr<std::shared_ptr<const CublasLt>> CublasLt::Load(
    const std::vector<std::string>& names) {
  void* file = nullptr;
  std::string why;
  for (const std::string& name : names) {
    // Never closed, because what the library has started may outlive all of our
    // objects.
    file = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (file != nullptr) break;
    absl::StrAppend(&why, why.empty() ? "" : "; ", dlerror());
  }
  if (file == nullptr) {
    return absl::NotFoundError(absl::StrCat(
        "there is no cuBLASLt here: ", why,
        "; it is part of the CUDA toolkit and of pip's nvidia-cublas, whose "
        "folder LD_LIBRARY_PATH must name"));
  }
  std::shared_ptr<CublasLt> lt(new CublasLt);
  std::string missing;
  const auto need = [&](const char* symbol, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(
        dlsym(file, symbol));
    if (*function == nullptr && missing.empty()) missing = symbol;
  };
  need("cublasLtGetStatusString", &lt->GetStatusString);
  need("cublasLtCreate", &lt->Create);
  need("cublasLtDestroy", &lt->Destroy);
  need("cublasLtMatmul", &lt->Matmul);
  need("cublasLtMatmulDescCreate", &lt->MatmulDescCreate);
  need("cublasLtMatmulDescDestroy", &lt->MatmulDescDestroy);
  need("cublasLtMatmulDescSetAttribute", &lt->MatmulDescSetAttribute);
  need("cublasLtMatrixLayoutCreate", &lt->MatrixLayoutCreate);
  need("cublasLtMatrixLayoutDestroy", &lt->MatrixLayoutDestroy);
  need("cublasLtMatrixLayoutSetAttribute", &lt->MatrixLayoutSetAttribute);
  need("cublasLtMatmulPreferenceCreate", &lt->MatmulPreferenceCreate);
  need("cublasLtMatmulPreferenceDestroy", &lt->MatmulPreferenceDestroy);
  need("cublasLtMatmulPreferenceSetAttribute",
       &lt->MatmulPreferenceSetAttribute);
  need("cublasLtMatmulAlgoGetHeuristic", &lt->MatmulAlgoGetHeuristic);
  if (!missing.empty()) {
    return absl::NotFoundError(absl::StrCat("this cuBLASLt has no ", missing));
  }
  return std::shared_ptr<const CublasLt>(std::move(lt));
}

absl::Status CublasLt::StatusOf(const char* call, cublasStatus_t result) const {
  if (result == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(call, " says: ", GetStatusString(result)));
}

}  // namespace muster::models::cuda
