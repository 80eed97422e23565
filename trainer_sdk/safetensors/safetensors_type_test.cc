#include "trainer_sdk/safetensors/safetensors_type.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace muster {
namespace {

TEST(SafetensorsTypeTest, EveryTypeIsFoundByItsName) {
  std::set<std::string> names;
  for (int i = 0; i < kSafetensorsTypes; ++i) {
    const auto type = static_cast<SafetensorsType>(i);
    EXPECT_TRUE(names.insert(Name(type)).second) << Name(type);
    EXPECT_EQ(SafetensorsTypeOf(std::string_view(Name(type))), type);
  }
  EXPECT_EQ(SafetensorsTypeOf(std::string_view("F128")), std::nullopt);
  EXPECT_EQ(SafetensorsTypeOf(std::string_view("")), std::nullopt);
  EXPECT_EQ(SafetensorsTypeOf(std::string_view("f32")), std::nullopt);
}

TEST(SafetensorsTypeTest, TheNameTellsTheBits) {
  for (int i = 0; i < kSafetensorsTypes; ++i) {
    const auto type = static_cast<SafetensorsType>(i);
    const std::string name = Name(type);
    if (name == "BOOL") {
      EXPECT_EQ(BitsOf(type), 8);
      continue;
    }
    const size_t digit = name.find_first_of("0123456789");
    EXPECT_EQ(BitsOf(type), std::stoi(name.substr(digit))) << name;
  }
}

TEST(SafetensorsTypeTest, OurTypesGoThereAndBackWithTheirSize) {
  std::set<SafetensorsType> types;
  for (int i = 0; i < kDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    const SafetensorsType type = SafetensorsTypeOf(dtype);
    EXPECT_EQ(BitsOf(type), SizeOf(dtype) * 8) << Name(dtype);
    EXPECT_EQ(DTypeOf(type), dtype);
    types.insert(type);
  }
  EXPECT_EQ(types.size(), static_cast<size_t>(kDTypes));
  EXPECT_EQ(SafetensorsTypeOf(DType::kBFloat16), SafetensorsType::kBF16);
  EXPECT_EQ(DTypeOf(SafetensorsType::kU16), std::nullopt);
}

}  // namespace
}  // namespace muster
