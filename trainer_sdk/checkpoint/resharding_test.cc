// Tests that checkpoints written by some number of ranks are read by another
// number of ranks, in every sharding, bit for bit.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/checkpoint/checkpoint_reader.h"
#include "trainer_sdk/checkpoint/checkpoint_writer.h"
#include "trainer_sdk/checkpoint/testing/sharded_state.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"
#include "trainer_sdk/safetensors/safetensors_file.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

// Returns the path of a folder, unique to the calling test, that does not exist
// yet.
std::string NewFolder() {
  std::string path = testing::TempDir() + "/checkpoint-XXXXXX";
  EXPECT_NE(mkdtemp(path.data()), nullptr);
  return path + "/new/folders";
}

absl::Status OnRanks(int ranks,
                     const std::function<absl::Status(ProcessGroup&)>& body) {
  return FirstFailure(RunWorld(ranks, body));
}

absl::Status SaveOnce(const std::string& folder, Sharding sharding, int ranks,
                      int64_t step) {
  return OnRanks(ranks, [&](ProcessGroup& group) -> absl::Status {
    auto writer = CheckpointWriter::Create(group, {.directory = folder});
    if (!writer.ok()) return writer.status();
    ShardedState state(sharding, group.rank(), ranks);
    state.Fill(step);
    absl::Status status = (*writer)->Save(
        step, state.slices(), absl::StrCat("of rank ", group.rank()));
    if (!status.ok()) return status;
    // Save has returned, so changes of the rank's data from here on must not
    // reach the checkpoint.
    state.Fill(step + 1);
    return (*writer)->Wait();
  });
}

absl::Status LoadOnce(const std::string& folder, Sharding sharding, int ranks,
                      int64_t step) {
  return OnRanks(ranks, [&](ProcessGroup& group) -> absl::Status {
    auto reader = OpenNewestTogether(group, folder);
    if (!reader.ok()) return reader.status();
    if ((*reader)->step() != step || (*reader)->state() != "of rank 0") {
      return absl::InternalError((*reader)->state());
    }
    ShardedState state(sharding, group.rank(), ranks);
    absl::Status status = ReadTogether(group, **reader, state.slices());
    return status.ok() ? state.Check(step) : status;
  });
}

class AnySharding : public testing::TestWithParam<std::tuple<Sharding, int>> {};

TEST_P(AnySharding, IsReadByAnyNumberOfRanksInAnySharding) {
  const auto [saved, ranks] = GetParam();
  const std::string folder = NewFolder();
  const absl::Status status = SaveOnce(folder, saved, ranks, 100);
  ASSERT_TRUE(status.ok()) << status;
  for (const int readers : {4, 2, 1, 3, 8}) {
    for (const Sharding sharding : kShardings) {
      const absl::Status read = LoadOnce(folder, sharding, readers, 100);
      EXPECT_TRUE(read.ok())
          << Name(sharding) << " on " << readers << ": " << read;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Grid, AnySharding,
                         testing::Combine(testing::ValuesIn(kShardings),
                                          testing::Values(1, 3, 4)),
                         [](const auto& param) {
                           return absl::StrCat(Name(std::get<0>(param.param)),
                                               "Of", std::get<1>(param.param));
                         });

TEST(ReshardingTest, EveryElementIsWrittenOnce) {
  const std::string folder = NewFolder();
  ASSERT_TRUE(SaveOnce(folder, Sharding::kReplicated, 4, 5).ok());
  int64_t bytes = 0;
  for (const CheckpointTensor& tensor : ShardedState::Tensors()) {
    bytes += tensor.count() * SizeOf(tensor.dtype);
  }
  int64_t written = 0;
  int64_t most = 0;
  int files = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(folder + "/step-00000005")) {
    if (file.path().extension() != ".safetensors") continue;
    const auto shard = SafetensorsFile::Open(file.path());
    ASSERT_TRUE(shard.ok()) << shard.status();
    written += (*shard)->header().data_bytes();
    most = std::max(most, (*shard)->header().data_bytes());
    ++files;
  }
  EXPECT_EQ(files, 4);
  EXPECT_EQ(written, bytes);
  EXPECT_LE(most, bytes / 4 + 8);
}

TEST(ReshardingTest, SingleProcessReadsAll) {
  const std::string folder = NewFolder();
  ASSERT_TRUE(SaveOnce(folder, Sharding::kFlat, 3, 7).ok());
  const auto reader = CheckpointReader::OpenNewest(folder);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->step(), 7);
  EXPECT_TRUE((*reader)->skipped().empty());
  EXPECT_EQ((*reader)->folder(), folder + "/step-00000007");
  std::vector<CheckpointTensor> tensors = ShardedState::Tensors();
  std::sort(tensors.begin(), tensors.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  EXPECT_EQ((*reader)->tensors(), tensors);
  ShardedState state(Sharding::kReplicated, 0, 1);
  ASSERT_TRUE((*reader)->Read(state.slices()).ok());
  EXPECT_TRUE(state.Check(7).ok());
  const auto open = CheckpointReader::Open(folder, 7);
  EXPECT_TRUE(open.ok()) << open.status();
  EXPECT_TRUE(absl::IsNotFound(CheckpointReader::Open(folder, 8).status()));
}

TEST(ReshardingTest, MismatchedTensorIsNamed) {
  const std::string folder = NewFolder();
  ASSERT_TRUE(SaveOnce(folder, Sharding::kFlat, 2, 7).ok());
  const auto reader = CheckpointReader::OpenNewest(folder);
  ASSERT_TRUE(reader.ok()) << reader.status();
  std::vector<float> memory(100);
  const auto read = [&](CheckpointTensor tensor, int64_t begin, int64_t end) {
    return (*reader)->Read({{std::move(tensor), begin, end, memory.data()}});
  };
  const DType f32 = DType::kFloat32;
  EXPECT_TRUE(read({"w.vector", f32, {7}}, 2, 5).ok());
  absl::Status status = read({"w.scalar", f32, {}}, 0, 1);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("has no tensor 'w.scalar'"));
  status = read({"w.vector", f32, {7, 1}}, 0, 7);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(),
              HasSubstr("has tensor 'w.vector' (float32 [7]), not tensor "
                        "'w.vector' (float32 [7,1])"));
  status = read({"w.vector", DType::kInt32, {7}}, 0, 7);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  status = read({"w.vector", f32, {7}}, 5, 8);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("no elements 5 to 8 of 7"));
}

TEST(ReshardingTest, UnreadTensorIsNamed) {
  const std::string folder = NewFolder();
  ASSERT_TRUE(SaveOnce(folder, Sharding::kFlat, 2, 7).ok());
  // The ranks read every tensor completely, except "mean.double". If `whole`,
  // they read nothing of "mean.double", otherwise all of its elements but the
  // last. In both cases ReadTogether must name "mean.double" in its error.
  for (const bool whole : {true, false}) {
    const auto statuses = RunWorld(2, [&](ProcessGroup& group) {
      auto reader = OpenNewestTogether(group, folder);
      if (!reader.ok()) return reader.status();
      ShardedState state(Sharding::kReplicated, 0, 1);
      std::vector<CheckpointSlice> slices = state.slices();
      for (size_t i = 0; i < slices.size(); ++i) {
        if (slices[i].tensor.name != "mean.double") continue;
        slices[i].end = 10;
        if (whole) slices.erase(slices.begin() + static_cast<ptrdiff_t>(i));
        break;
      }
      return ReadTogether(group, **reader, slices);
    });
    for (const absl::Status& status : statuses) {
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
      EXPECT_THAT(status.message(), HasSubstr("'mean.double'")) << status;
    }
  }
}

TEST(ReshardingTest, ThereMayBeNothing) {
  EXPECT_TRUE(
      absl::IsNotFound(CheckpointReader::OpenNewest(NewFolder()).status()));
  EXPECT_TRUE(absl::IsNotFound(OnRanks(2, [](ProcessGroup& group) {
    return OpenNewestTogether(group, "/nowhere/at/all").status();
  })));
}

}  // namespace
}  // namespace muster
