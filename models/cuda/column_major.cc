#include "models/cuda/column_major.h"

namespace muster::models::cuda {
namespace {

constexpr uint64_t kMaxAlignment = 256;

// Returns the largest power of two, at most kMaxAlignment, that divides a
// matrix's address, its stride and its batch stride, all in bytes.
int64_t AlignmentOf(uint64_t address, int64_t stride_bytes,
                    int64_t batch_stride_bytes) {
  const uint64_t bits = address | static_cast<uint64_t>(stride_bytes) |
                        static_cast<uint64_t>(batch_stride_bytes) |
                        kMaxAlignment;
  return static_cast<int64_t>(bits & (~bits + 1));
}

ColumnMajorMatrix Transposed(const Matrix& matrix, const void* other,
                             int64_t batch) {
  const int64_t size = SizeOf(matrix.type);
  // The batch stride does not matter if there is only one product.
  const int64_t batch_stride = batch > 1 ? matrix.batch_stride : 0;
  return {.type = matrix.type,
          .rows = matrix.columns,
          .columns = matrix.rows,
          .stride = matrix.stride,
          .batch_stride = batch_stride,
          .alignment = AlignmentOf(reinterpret_cast<uint64_t>(matrix.data) |
                                       reinterpret_cast<uint64_t>(other),
                                   matrix.stride * size, batch_stride * size)};
}

}  // namespace

ColumnMajorPlan InColumnMajor(const Product& product) {
  using Addend = ColumnMajorPlan::Addend;
  Addend addend = Addend::kNone;
  if (product.addend != nullptr) {
    addend = product.addend == product.result.data ? Addend::kSame
                                                   : Addend::kElsewhere;
  }
  return {.a_form = product.b_form,
          .b_form = product.a_form,
          .a = Transposed(product.b, nullptr, product.batch),
          .b = Transposed(product.a, nullptr, product.batch),
          .result = Transposed(product.result, product.addend, product.batch),
          .addend = addend,
          .bias_alignment =
              product.bias == nullptr
                  ? 0
                  : AlignmentOf(reinterpret_cast<uint64_t>(product.bias), 0, 0),
          .batch = product.batch};
}

}  // namespace muster::models::cuda
