// A fake of libcublasLt.so on host memory, with the functions that Muster
// calls: it computes column-major products by their definition. With this fake,
// tests check the calls without a GPU. The fake aborts the process if the real
// library would reject a call or compute a wrong result.

#include <cublasLt.h>

#include <cstdint>
#include <cstring>
#include <new>

#include "base/check.h"

namespace {

struct Layout {
  cudaDataType_t type;
  uint64_t rows;
  uint64_t columns;
  int64_t stride;
  int32_t batch;
  int64_t batch_stride;
};

struct Operation {
  cublasOperation_t a;
  cublasOperation_t b;
  cublasLtEpilogue_t epilogue;
  const void* bias;
  cudaDataType_t bias_type;
};

struct Preference {
  uint64_t workspace;
  // The alignment in bytes that an algorithm may assume of the matrices A, B, C
  // and D; initially the real library's default.
  uint32_t alignment[4];
};

// The content of a cublasLtMatmulAlgo_t of this fake: the conditions under
// which the algorithm is valid.
struct Choice {
  Preference preference;
  uint64_t bias_alignment;
};
static_assert(sizeof(Choice) <= sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(sizeof(Operation) <= sizeof(cublasLtMatmulDescOpaque_t));
static_assert(sizeof(Preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t));

int things = 0;

template <typename Thing, typename Handle>
Thing* In(Handle handle) {
  return reinterpret_cast<Thing*>(handle);
}

template <typename Thing, typename Handle>
cublasStatus_t Make(const Thing& thing, Handle* handle) {
  ++things;
  *handle = reinterpret_cast<Handle>(new Thing(thing));
  return CUBLAS_STATUS_SUCCESS;
}

template <typename Thing, typename Handle>
cublasStatus_t Destroy(Handle handle) {
  --things;
  delete In<Thing>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

template <typename Value>
cublasStatus_t Set(Value* value, const void* from, size_t size) {
  MUSTER_CHECK(size == sizeof(*value)) << size;
  std::memcpy(value, from, size);
  return CUBLAS_STATUS_SUCCESS;
}

uint64_t AlignmentOf(const void* data) {
  const auto bits = reinterpret_cast<uint64_t>(data) | 256;
  return bits & (~bits + 1);
}

float Read(cudaDataType_t type, const void* from, int64_t at) {
  if (type == CUDA_R_32F) return static_cast<const float*>(from)[at];
  MUSTER_CHECK(type == CUDA_R_16BF) << type;
  const uint32_t bits = uint32_t{static_cast<const uint16_t*>(from)[at]} << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

void Write(cudaDataType_t type, float value, void* to, int64_t at) {
  if (type == CUDA_R_32F) {
    static_cast<float*>(to)[at] = value;
    return;
  }
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  bits += 0x7fff + (bits >> 16 & 1);
  static_cast<uint16_t*>(to)[at] = static_cast<uint16_t>(bits >> 16);
}

int64_t At(const Layout& layout, int32_t product, uint64_t row,
           uint64_t column) {
  return product * layout.batch_stride +
         static_cast<int64_t>(column) * layout.stride +
         static_cast<int64_t>(row);
}

// Returns element (`row`, `column`) of a factor as the product uses it: plain
// or, depending on `form`, transposed.
float Factor(const Layout& layout, cublasOperation_t form, const void* data,
             int32_t product, uint64_t row, uint64_t column) {
  return form == CUBLAS_OP_N
             ? Read(layout.type, data, At(layout, product, row, column))
             : Read(layout.type, data, At(layout, product, column, row));
}

}  // namespace

extern "C" {

// The number of objects (handles, layouts, descriptors, preferences) that were
// created by this fake and not destroyed. Tests check it.
int FakeCublasLtThings() { return things; }

const char* cublasLtGetStatusString(cublasStatus_t) { return "a fake error"; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return Make(int{}, handle);
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return Destroy<int>(handle);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout,
                                          cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t stride) {
  MUSTER_CHECK(stride >= static_cast<int64_t>(rows)) << stride << " " << rows;
  return Make(Layout{type, rows, columns, stride, 1, 0}, layout);
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return Destroy<Layout>(layout);
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(
    cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute,
    const void* value, size_t size) {
  Layout* const in = In<Layout>(layout);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) {
    return Set(&in->batch, value, size);
  }
  MUSTER_CHECK(attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
  return Set(&in->batch_stride, value, size);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* operation,
                                        cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  MUSTER_CHECK(compute == CUBLAS_COMPUTE_32F && scale == CUDA_R_32F);
  return Make(Operation{CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_EPILOGUE_DEFAULT,
                        nullptr, CUDA_R_32F},
              operation);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  return Destroy<Operation>(operation);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(
    cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute,
    const void* value, size_t size) {
  Operation* const in = In<Operation>(operation);
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return Set(&in->a, value, size);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return Set(&in->b, value, size);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return Set(&in->epilogue, value, size);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return Set(&in->bias, value, size);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return Set(&in->bias_type, value, size);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(
    cublasLtMatmulPreference_t* preference) {
  return Make(Preference{0, {256, 256, 256, 256}}, preference);
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(
    cublasLtMatmulPreference_t preference) {
  return Destroy<Preference>(preference);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t preference,
    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
    size_t size) {
  Preference* const in = In<Preference>(preference);
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return Set(&in->workspace, value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return Set(&in->alignment[0], value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return Set(&in->alignment[1], value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return Set(&in->alignment[2], value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return Set(&in->alignment[3], value, size);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t preference, int,
    cublasLtMatmulHeuristicResult_t found[], int* count) {
  // As in the real library, no algorithm exists for factors of different types,
  // or for float32 factors with a bfloat16 result.
  *count = In<Layout>(a)->type == In<Layout>(b)->type &&
           !(In<Layout>(a)->type == CUDA_R_32F &&
             In<Layout>(d)->type == CUDA_R_16BF);
  if (*count == 0) return CUBLAS_STATUS_SUCCESS;
  found[0] = {};
  found[0].state = CUBLAS_STATUS_SUCCESS;
  ::new (&found[0].algo) Choice{*In<Preference>(preference),
                                AlignmentOf(In<Operation>(operation)->bias)};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation,
                              const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout,
                              void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm,
                              void* workspace, size_t workspace_bytes,
                              cudaStream_t) {
  const Operation& how = *In<Operation>(operation);
  const Layout& al = *In<Layout>(a_layout);
  const Layout& bl = *In<Layout>(b_layout);
  const Layout& cl = *In<Layout>(c_layout);
  const Layout& dl = *In<Layout>(d_layout);
  const Choice& choice = *reinterpret_cast<const Choice*>(algorithm);
  const void* const all[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i) {
    MUSTER_CHECK(AlignmentOf(all[i]) >= choice.preference.alignment[i]) << i;
  }
  MUSTER_CHECK(AlignmentOf(how.bias) >= choice.bias_alignment);
  MUSTER_CHECK(workspace != nullptr &&
               workspace_bytes >= choice.preference.workspace);
  const uint64_t inner = how.a == CUBLAS_OP_N ? al.columns : al.rows;
  MUSTER_CHECK((how.a == CUBLAS_OP_N ? al.rows : al.columns) == dl.rows &&
               (how.b == CUBLAS_OP_N ? bl.columns : bl.rows) == dl.columns &&
               (how.b == CUBLAS_OP_N ? bl.rows : bl.columns) == inner &&
               al.batch == dl.batch && bl.batch == dl.batch);
  const float factor = *static_cast<const float*>(alpha);
  const float keep = *static_cast<const float*>(beta);
  for (int32_t i = 0; i < dl.batch; ++i) {
    for (uint64_t column = 0; column < dl.columns; ++column) {
      for (uint64_t row = 0; row < dl.rows; ++row) {
        float sum = 0;
        for (uint64_t k = 0; k < inner; ++k) {
          sum += Factor(al, how.a, a, i, row, k) *
                 Factor(bl, how.b, b, i, k, column);
        }
        sum *= factor;
        // With beta 0, C is not read and may have any contents.
        if (keep != 0) sum += keep * Read(cl.type, c, At(cl, i, row, column));
        if (how.epilogue == CUBLASLT_EPILOGUE_BIAS) {
          sum += Read(how.bias_type, how.bias, static_cast<int64_t>(row));
        }
        Write(dl.type, sum, d, At(dl, i, row, column));
      }
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
