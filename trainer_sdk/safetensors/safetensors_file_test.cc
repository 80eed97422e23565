#include "trainer_sdk/safetensors/safetensors_file.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/files/testing/memory_disk.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kPath[] = "/models/model.safetensors";

class SafetensorsFileTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(disk_.CreateFolders("/models").ok()); }

  absl::Status Write(float first) {
    const std::vector<float> matrix = {first, 1, 2, 3, 4, 5};
    const int64_t number = -7;
    return WriteSafetensorsFile(
        kPath,
        {{"matrix", SafetensorsType::kF32, {2, 3}, matrix.data()},
         {"none", SafetensorsType::kF32, {0}, nullptr},
         {"number", SafetensorsType::kI64, {}, &number}},
        {{"format", "pt"}}, &disk_);
  }
  // Opens the file, checks that the matrix in it is complete, and returns the
  // matrix's first element.
  static float First(MemoryDisk& disk) {
    const auto file = SafetensorsFile::Open(kPath, &disk);
    EXPECT_TRUE(file.ok()) << file.status();
    if (!file.ok()) return -1;
    float values[6] = {};
    const SafetensorsTensor* matrix = (*file)->header().Find("matrix");
    EXPECT_TRUE((*file)->Read(*matrix, values).ok());
    EXPECT_EQ(values[5], 5);
    return values[0];
  }

  MemoryDisk disk_;
};

TEST_F(SafetensorsFileTest, ComesBackAsItWas) {
  ASSERT_TRUE(Write(0.5).ok());
  const auto file = SafetensorsFile::Open(kPath, &disk_);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->header().metadata.at("format"), "pt");
  ASSERT_EQ((*file)->header().tensors.size(), 3u);
  EXPECT_EQ(First(disk_), 0.5);
  int64_t number = 0;
  const SafetensorsTensor* tensor = (*file)->header().Find("number");
  ASSERT_NE(tensor, nullptr);
  ASSERT_TRUE((*file)->Read(*tensor, &number).ok());
  EXPECT_EQ(number, -7);
  float part[2] = {};
  const SafetensorsTensor* matrix = (*file)->header().Find("matrix");
  ASSERT_TRUE((*file)->ReadAt(*matrix, 8, 8, part).ok());
  EXPECT_EQ(part[0], 2);
  EXPECT_EQ(part[1], 3);
}

TEST_F(SafetensorsFileTest, AFileThatEndsEarlyIsRefused) {
  ASSERT_TRUE(Write(0.5).ok());
  const std::string whole = disk_.Contents()[kPath];
  for (size_t length = 0; length < whole.size(); ++length) {
    disk_.Overwrite(kPath, whole.substr(0, length));
    const absl::Status status = SafetensorsFile::Open(kPath, &disk_).status();
    ASSERT_TRUE(absl::IsDataLoss(status)) << length << status;
    ASSERT_THAT(status.message(), HasSubstr(kPath));
  }
  disk_.Overwrite(kPath, whole + "x");
  EXPECT_TRUE(absl::IsDataLoss(SafetensorsFile::Open(kPath, &disk_).status()));
  EXPECT_TRUE(
      absl::IsNotFound(SafetensorsFile::Open("/none", &disk_).status()));
}

TEST_F(SafetensorsFileTest, TheOldOneStaysUntilTheNewOneIsWhole) {
  ASSERT_TRUE(Write(1).ok());
  for (int64_t at = 0;; ++at) {
    disk_.StopAt(disk_.operations() + at);
    const absl::Status status = Write(2);
    for (uint64_t seed = 0; seed < 4; ++seed) {
      const float first = First(*disk_.AfterPowerLoss(seed));
      EXPECT_TRUE(first == 2 || (first == 1 && !status.ok())) << at;
    }
    disk_.StopAt(-1);
    if (status.ok()) break;
    ASSERT_LT(at, 1000);
    ASSERT_TRUE(Write(1).ok());
  }
  EXPECT_EQ(disk_.Contents().size(), 1u);
}

TEST_F(SafetensorsFileTest, AFullDiskLeavesNothing) {
  ASSERT_TRUE(Write(1).ok());
  disk_.FillUp(disk_.operations() + 20, 1000);
  const absl::Status status = Write(2);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr(kPath), HasSubstr("No space left")));
  EXPECT_EQ(First(disk_), 1);
  EXPECT_EQ(disk_.Contents().size(), 1u);
}

TEST_F(SafetensorsFileTest, InvalidTensorsAreRefusedWithThePath) {
  const float value = 1;
  const absl::Status status =
      WriteSafetensorsFile(kPath,
                           {{"a", SafetensorsType::kF32, {}, &value},
                            {"a", SafetensorsType::kF32, {}, &value}},
                           {}, &disk_);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), AllOf(HasSubstr(kPath), HasSubstr("'a'")));
  EXPECT_TRUE(disk_.Contents().empty());
}

}  // namespace
}  // namespace muster
