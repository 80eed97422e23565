#include "trainer_sdk/safetensors/safetensors_type.h"

#include <array>

namespace muster {
namespace {

struct TypeFacts {
  const char* name;
  int bits;
};

// Indexed by SafetensorsType.
constexpr std::array<TypeFacts, kSafetensorsTypes> kFacts = {{
    {"BOOL", 8},    {"F4", 4},          {"F6_E2M3", 6},     {"F6_E3M2", 6},
    {"U8", 8},      {"I8", 8},          {"F8_E5M2", 8},     {"F8_E4M3", 8},
    {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
    {"U16", 16},    {"F16", 16},        {"BF16", 16},       {"I32", 32},
    {"U32", 32},    {"F32", 32},        {"C64", 64},        {"F64", 64},
    {"I64", 64},    {"U64", 64},
}};

// Indexed by DType.
constexpr std::array<SafetensorsType, kDTypes> kOfDType = {
    SafetensorsType::kF32, SafetensorsType::kF64, SafetensorsType::kBF16,
    SafetensorsType::kF16, SafetensorsType::kI8,  SafetensorsType::kI32,
    SafetensorsType::kI64,
};

const TypeFacts& FactsOf(SafetensorsType type) {
  return kFacts[static_cast<size_t>(type)];
}

}  // namespace

const char* Name(SafetensorsType type) { return FactsOf(type).name; }

int BitsOf(SafetensorsType type) { return FactsOf(type).bits; }

std::optional<SafetensorsType> SafetensorsTypeOf(std::string_view name) {
  for (size_t i = 0; i < kFacts.size(); ++i) {
    if (name == kFacts[i].name) return static_cast<SafetensorsType>(i);
  }
  return std::nullopt;
}

SafetensorsType SafetensorsTypeOf(DType dtype) {
  return kOfDType[static_cast<size_t>(dtype)];
}

std::optional<DType> DTypeOf(SafetensorsType type) {
  for (size_t i = 0; i < kOfDType.size(); ++i) {
    if (kOfDType[i] == type) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace muster
