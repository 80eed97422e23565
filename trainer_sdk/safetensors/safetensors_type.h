#ifndef MUSTER_TRAINER_SDK_SAFETENSORS_SAFETENSORS_TYPE_H_
#define MUSTER_TRAINER_SDK_SAFETENSORS_SAFETENSORS_TYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "trainer_sdk/process_group/dtype.h"

namespace muster {

// All element types of the format (safetensors 0.8), narrow ones first. The
// reference library orders a file by this list in reverse, so that all tensors
// are aligned.
enum class SafetensorsType : uint8_t {
  kBool,
  kF4,
  kF6E2M3,
  kF6E3M2,
  kU8,
  kI8,
  kF8E5M2,
  kF8E4M3,
  kF8E8M0,
  kF8E4M3Fnuz,
  kF8E5M2Fnuz,
  kI16,
  kU16,
  kF16,
  kBF16,
  kI32,
  kU32,
  kF32,
  kC64,
  kF64,
  kI64,
  kU64,
};
inline constexpr int kSafetensorsTypes = 22;

// The name in the header: "F32".
const char* Name(SafetensorsType type);
std::optional<SafetensorsType> SafetensorsTypeOf(std::string_view name);

// Bits per element: 4 to 64. Elements narrower than a byte are packed, and a
// tensor of them must fill whole bytes.
int BitsOf(SafetensorsType type);

SafetensorsType SafetensorsTypeOf(DType dtype);
// Nothing for types that have no DType.
std::optional<DType> DTypeOf(SafetensorsType type);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SAFETENSORS_SAFETENSORS_TYPE_H_
