#include "models/cuda/cublas_products.h"

#include <dlfcn.h>

#include <cstdint>
#include <utility>

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
    // The library is never closed, because work that it has started may outlive
    // all objects of this program.
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

namespace {

constexpr size_t kMaxCachedProducts = 1024;

cudaDataType_t CudaTypeOf(ElementType type) {
  return type == ElementType::kFloat32 ? CUDA_R_32F : CUDA_R_16BF;
}

cublasOperation_t OperationOf(MatrixForm form) {
  return form == MatrixForm::kPlain ? CUBLAS_OP_N : CUBLAS_OP_T;
}

std::string Describe(const ColumnMajorMatrix& matrix) {
  return absl::StrCat(
      matrix.columns, " x ", matrix.rows,
      matrix.type == ElementType::kFloat32 ? " of float32" : " of bfloat16");
}

}  // namespace

// A cached algorithm with its cuBLASLt descriptors. The library must outlive
// this object, whose destructor calls the library to destroy the descriptors.
struct CublasProducts::CachedProduct {
  explicit CachedProduct(const CublasLt& library) : lt(library) {}
  ~CachedProduct() {
    for (const cublasLtMatrixLayout_t layout : {a, b, result}) {
      if (layout != nullptr) lt.MatrixLayoutDestroy(layout);
    }
    if (operation != nullptr) lt.MatmulDescDestroy(operation);
  }
  CachedProduct(const CachedProduct&) = delete;
  CachedProduct& operator=(const CachedProduct&) = delete;

  const CublasLt& lt;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr;
  cublasLtMatrixLayout_t b = nullptr;
  cublasLtMatrixLayout_t result = nullptr;
  cublasLtMatmulAlgo_t algorithm;
};

CublasProducts::CublasProducts(std::shared_ptr<const CublasLt> lt,
                               std::shared_ptr<void> workspace)
    : lt_(std::move(lt)), workspace_(std::move(workspace)) {}

CublasProducts::~CublasProducts() {
  products_.clear();
  if (handle_ != nullptr) lt_->Destroy(handle_);
}

absl::StatusOr<std::unique_ptr<CublasProducts>> CublasProducts::Create(
    std::shared_ptr<const CublasLt> lt, std::shared_ptr<void> workspace) {
  std::unique_ptr<CublasProducts> made(
      new CublasProducts(std::move(lt), std::move(workspace)));
  absl::Status status =
      made->lt_->StatusOf("cublasLtCreate", made->lt_->Create(&made->handle_));
  if (!status.ok()) return status;
  return made;
}

absl::Status CublasProducts::MakeLayout(const ColumnMajorMatrix& matrix,
                                        int64_t batch,
                                        cublasLtMatrixLayout_t* layout) {
  absl::Status status = lt_->StatusOf(
      "cublasLtMatrixLayoutCreate",
      lt_->MatrixLayoutCreate(
          layout, CudaTypeOf(matrix.type), static_cast<uint64_t>(matrix.rows),
          static_cast<uint64_t>(matrix.columns), matrix.stride));
  const auto set = [&](cublasLtMatrixLayoutAttribute_t attribute,
                       const auto& value) {
    if (!status.ok()) return;
    status = lt_->StatusOf("cublasLtMatrixLayoutSetAttribute",
                           lt_->MatrixLayoutSetAttribute(
                               *layout, attribute, &value, sizeof(value)));
  };
  if (batch > 1) {
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(batch));
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, matrix.batch_stride);
  }
  return status;
}

absl::Status CublasProducts::Prepare(const ColumnMajorPlan& plan,
                                     const void* bias, CachedProduct* cached) {
  absl::Status status =
      lt_->StatusOf("cublasLtMatmulDescCreate",
                    lt_->MatmulDescCreate(&cached->operation,
                                          CUBLAS_COMPUTE_32F, CUDA_R_32F));
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute,
                       const auto& value) {
    if (!status.ok()) return;
    status =
        lt_->StatusOf("cublasLtMatmulDescSetAttribute",
                      lt_->MatmulDescSetAttribute(cached->operation, attribute,
                                                  &value, sizeof(value)));
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, OperationOf(plan.a_form));
  set(CUBLASLT_MATMUL_DESC_TRANSB, OperationOf(plan.b_form));
  if (plan.bias_alignment > 0) {
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CudaTypeOf(plan.result.type));
    // The bias pointer must be set before the search for an algorithm, which
    // takes the alignment of the bias into account.
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  }
  if (status.ok()) status = MakeLayout(plan.a, plan.batch, &cached->a);
  if (status.ok()) status = MakeLayout(plan.b, plan.batch, &cached->b);
  if (status.ok()) {
    status = MakeLayout(plan.result, plan.batch, &cached->result);
  }
  return status.ok() ? Choose(plan, cached) : status;
}

absl::Status CublasProducts::Choose(const ColumnMajorPlan& plan,
                                    CachedProduct* cached) {
  cublasLtMatmulPreference_t preference = nullptr;
  absl::Status status = lt_->StatusOf("cublasLtMatmulPreferenceCreate",
                                      lt_->MatmulPreferenceCreate(&preference));
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute,
                       const auto& value) {
    if (!status.ok()) return;
    status = lt_->StatusOf("cublasLtMatmulPreferenceSetAttribute",
                           lt_->MatmulPreferenceSetAttribute(
                               preference, attribute, &value, sizeof(value)));
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{kWorkspaceBytes});
  // By default cuBLASLt assumes an alignment of 256 bytes, but the matrices of
  // attention heads have a smaller one.
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
      static_cast<uint32_t>(plan.a.alignment));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
      static_cast<uint32_t>(plan.b.alignment));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
      static_cast<uint32_t>(plan.result.alignment));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
      static_cast<uint32_t>(plan.result.alignment));
  cublasLtMatmulHeuristicResult_t found = {};
  int count = 0;
  if (status.ok()) {
    status = lt_->StatusOf(
        "cublasLtMatmulAlgoGetHeuristic",
        lt_->MatmulAlgoGetHeuristic(handle_, cached->operation, cached->a,
                                    cached->b, cached->result, cached->result,
                                    preference, 1, &found, &count));
  }
  if (preference != nullptr) lt_->MatmulPreferenceDestroy(preference);
  if (!status.ok()) return status;
  if (count == 0 || found.state != CUBLAS_STATUS_SUCCESS) {
    return absl::UnimplementedError(absl::StrCat(
        "cuBLASLt knows no way to multiply ", Describe(plan.b), " by ",
        Describe(plan.a), " into ", Describe(plan.result)));
  }
  cached->algorithm = found.algo;
  return absl::OkStatus();
}

absl::StatusOr<CublasProducts::CachedProduct*> CublasProducts::Find(
    const Product& product) {
  const ColumnMajorPlan plan = InColumnMajor(product);
  const auto known = products_.find(plan);
  if (known != products_.end()) return known->second.get();
  auto cached = std::make_unique<CachedProduct>(*lt_);
  if (absl::Status status = Prepare(plan, product.bias, cached.get());
      !status.ok()) {
    return status;
  }
  // The cache is cleared when it is full, so that its memory is bounded if
  // products always have new shapes.
  if (products_.size() == kMaxCachedProducts) products_.clear();
  return products_.emplace(plan, std::move(cached)).first->second.get();
}

absl::Status CublasProducts::Multiply(const Product& product,
                                      CudaStream stream) {
  const absl::StatusOr<CachedProduct*> cached = Find(product);
  if (!cached.ok()) return cached.status();
  if (product.bias != nullptr) {
    absl::Status status = lt_->StatusOf(
        "cublasLtMatmulDescSetAttribute",
        lt_->MatmulDescSetAttribute((*cached)->operation,
                                    CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                    &product.bias, sizeof(product.bias)));
    if (!status.ok()) return status;
  }
  const float factor = product.factor;
  const float keep = product.addend == nullptr ? 0 : 1;
  void* const result = const_cast<void*>(product.result.data);
  const void* const addend =
      product.addend == nullptr ? result : product.addend;
  return lt_->StatusOf(
      "cublasLtMatmul",
      lt_->Matmul(handle_, (*cached)->operation, &factor, product.b.data,
                  (*cached)->a, product.a.data, (*cached)->b, &keep, addend,
                  (*cached)->result, result, (*cached)->result,
                  &(*cached)->algorithm, workspace_.get(), kWorkspaceBytes,
                  stream));
}

}  // namespace muster::models::cuda
