#include "trainer_sdk/tensor/tensor.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(TensorDataTest, KnowsTypeAndCountOfWhatItIsMadeOf) {
  std::vector<float> floats(6);
  std::array<double, 3> doubles{};
  int64_t numbers[2] = {};
  uint16_t halves[4] = {};
  const TensorData from_vector = floats;
  EXPECT_EQ(from_vector.data, floats.data());
  EXPECT_EQ(from_vector.count, 6);
  EXPECT_EQ(from_vector.dtype, DType::kFloat32);
  EXPECT_EQ(TensorData(doubles).dtype, DType::kFloat64);
  EXPECT_EQ(TensorData(numbers).count, 2);
  EXPECT_EQ(TensorData(std::span(floats).subspan(4)).data, floats.data() + 4);
  EXPECT_EQ(TensorData(floats.data(), 5).count, 5);
  EXPECT_EQ(TensorData(halves, 4, DType::kFloat16).dtype, DType::kFloat16);
}

TEST(TensorDataTest, ConstOrUntypedDataDoesNotCompile) {
  EXPECT_FALSE(
      (std::is_constructible_v<TensorData, const std::vector<float>&>));
  EXPECT_FALSE((std::is_constructible_v<TensorData, std::vector<uint16_t>&>));
  EXPECT_TRUE((std::is_constructible_v<TensorData, std::vector<float>&>));
}

TEST(TensorTest, RowsAreTheFirstOfSeveralDimensions) {
  EXPECT_EQ((Tensor{.shape = {4, 3, 2}}.rows()), 4);
  EXPECT_EQ((Tensor{.shape = {4}}.rows()), 1);
  EXPECT_EQ((Tensor{.shape = {0, 3}}.rows()), 1);
  EXPECT_EQ(Tensor{}.rows(), 1);
  EXPECT_EQ(Tensor{}.count(), 1);
  EXPECT_EQ((Tensor{.shape = {4, -1}}.count()), -1);
}

TEST(CheckTensorsTest, ShapesMustMatchTheirMemory) {
  std::vector<float> six(6), three(3);
  const auto complaint = [](const std::vector<Tensor>& tensors) {
    const absl::Status status = CheckTensors(tensors);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  };
  EXPECT_TRUE(CheckTensors({{"w", {2, 3}, six, six}}).ok());
  EXPECT_TRUE(CheckTensors({{.name = "none", .shape = {0}}}).ok());
  EXPECT_THAT(
      complaint({{"w", {2, 4}, six, six}}),
      HasSubstr("tensor 'w' of shape [2,4] has 8 elements, its value 6"));
  EXPECT_THAT(complaint({{"w", {2, 3}, six, three}}),
              HasSubstr("has 6 elements, its gradient 3"));
  EXPECT_THAT(complaint({{"w", {2, 3}, six}}), HasSubstr("its gradient 0"));
  EXPECT_THAT(complaint({{"w", {2, -3}, six, six}}),
              HasSubstr("tensor 'w' of shape [2,-3] cannot be"));
  EXPECT_THAT(complaint({{"w", {6}, six, six}, {"w", {3}, three, three}}),
              AllOf(HasSubstr("a name of its own"), HasSubstr("'w'")));
}

}  // namespace
}  // namespace muster
