#include "trainer_sdk/checkpoint/shard_layout.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

const CheckpointTensor kA = {"a", DType::kInt8, {4, 2}};
const CheckpointTensor kB = {"b", DType::kFloat64, {3}};

TEST(ShardEntryNameTest, NoTwoRangesHaveOneName) {
  EXPECT_EQ(ShardEntryName({kA, 0, 8}), "a");
  EXPECT_EQ(ShardEntryName({kA, 0, 3}), "a[0:3]");
  EXPECT_EQ(ShardEntryName({kA, 3, 8}), "a[3:8]");
  const CheckpointTensor odd = {"a[0:3]", DType::kInt8, {3}};
  EXPECT_EQ(ShardEntryName({odd, 0, 3}), "a[0:3][0:3]");
  EXPECT_EQ(ShardEntryName({odd, 0, 2}), "a[0:3][0:2]");
}

TEST(ShardFileNameTest, IsSortedByRank) {
  EXPECT_EQ(ShardFileName(7), "rank-00007.safetensors");
  EXPECT_EQ(ShardFileName(123456), "rank-123456.safetensors");
}

TEST(LayOutShardTest, WholeTensorsKeepTheirShapeAndPartsAreFlat) {
  const std::vector<SliceRange> own = {{kA, 0, 8}, {kB, 1, 3}};
  const auto layout = LayOutShard(own, {{kA, 0, 8}, {kB, 2, 3}});
  ASSERT_TRUE(layout.ok()) << layout.status();
  // Wide elements first, so that all tensors are aligned.
  EXPECT_THAT(
      layout->header.tensors,
      ElementsAre(SafetensorsTensor{"b[2:3]", SafetensorsType::kF64, {1}, 0, 8},
                  SafetensorsTensor{"a", SafetensorsType::kI8, {4, 2}, 8, 16}));
  ASSERT_EQ(layout->copies.size(), 2u);
  EXPECT_EQ(layout->copies[0].slice, 1u);
  EXPECT_EQ(layout->copies[0].from, 8);
  EXPECT_EQ(layout->copies[0].to, 0);
  EXPECT_EQ(layout->copies[0].bytes, 8);
  EXPECT_EQ(layout->copies[1].slice, 0u);
  EXPECT_EQ(layout->copies[1].to, 8);
}

TEST(LayOutShardTest, ARangeMayComeFromSeveralSlices) {
  const std::vector<SliceRange> own = {{kA, 5, 8}, {kA, 0, 4}, {kA, 2, 6}};
  const auto layout = LayOutShard(own, {{kA, 1, 8}});
  ASSERT_TRUE(layout.ok()) << layout.status();
  std::string target(7, '.');
  const std::string source = "01234567";
  for (const ShardCopy& copy : layout->copies) {
    const int64_t begin = own[copy.slice].begin + copy.from;
    target.replace(static_cast<size_t>(copy.to),
                   static_cast<size_t>(copy.bytes),
                   source.substr(static_cast<size_t>(begin),
                                 static_cast<size_t>(copy.bytes)));
  }
  EXPECT_EQ(target, "1234567");
}

}  // namespace
}  // namespace muster
