#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_DTYPE_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_DTYPE_H_

#include <cstdint>
#include <optional>
#include <type_traits>

namespace muster {

// The type of the elements of a buffer.
enum class DType : uint8_t {
  kFloat32,
  kFloat64,
  kBFloat16,
  kFloat16,
  kInt8,
  kInt32,
  kInt64,
};
inline constexpr int kDTypes = 7;

// The reduction of the ranks' elements. AVG is SUM divided by the size of the
// group; integer quotients are truncated towards zero.
enum class ReduceOp : uint8_t { kSum, kAvg, kMin, kMax, kProd };
inline constexpr int kReduceOps = 5;

constexpr int64_t SizeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
    case DType::kInt64:
      return 8;
    case DType::kFloat32:
    case DType::kInt32:
      return 4;
    case DType::kBFloat16:
    case DType::kFloat16:
      return 2;
    case DType::kInt8:
      return 1;
  }
  return 0;
}

// The DType of a C++ type: DTypeOf<float>(). nullopt for a type without a
// DType, such as the uint16_t that holds a bfloat16.
template <typename T>
constexpr std::optional<DType> DTypeOf() {
  if (std::is_same_v<T, float>) return DType::kFloat32;
  if (std::is_same_v<T, double>) return DType::kFloat64;
  if (std::is_same_v<T, int8_t>) return DType::kInt8;
  if (std::is_same_v<T, int32_t>) return DType::kInt32;
  if (std::is_same_v<T, int64_t>) return DType::kInt64;
  return std::nullopt;
}

// The name of a type as in nccl-tests and PyTorch: "float32".
constexpr const char* Name(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "float32";
    case DType::kFloat64:
      return "float64";
    case DType::kBFloat16:
      return "bfloat16";
    case DType::kFloat16:
      return "float16";
    case DType::kInt8:
      return "int8";
    case DType::kInt32:
      return "int32";
    case DType::kInt64:
      return "int64";
  }
  return "?";
}

constexpr const char* Name(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return "sum";
    case ReduceOp::kAvg:
      return "avg";
    case ReduceOp::kMin:
      return "min";
    case ReduceOp::kMax:
      return "max";
    case ReduceOp::kProd:
      return "prod";
  }
  return "?";
}

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_DTYPE_H_
