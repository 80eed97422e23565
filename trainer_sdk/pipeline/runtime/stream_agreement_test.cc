#include "trainer_sdk/pipeline/runtime/stream_agreement.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/pipeline/schedule/generators.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int64_t> Together(std::vector<int64_t> first,
                              const std::vector<int64_t>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::string Complaint(const absl::Status& status) {
  return std::string(status.message());
}

TEST(StreamAgreementTest, EqualSchedulesAgree) {
  const auto numbers =
      EncodeSchedule(*MakeSchedule(ScheduleKind::kGPipe, {2, 1, 4}));
  EXPECT_EQ(numbers.size(), static_cast<size_t>(kScheduleNumbers));
  EXPECT_TRUE(CheckSameSchedule(Together(numbers, numbers)).ok());
}

TEST(StreamAgreementTest, AnotherScheduleIsNamed) {
  const auto gpipe =
      EncodeSchedule(*MakeSchedule(ScheduleKind::kGPipe, {2, 1, 4}));
  EXPECT_THAT(
      Complaint(CheckSameSchedule(Together(
          gpipe,
          EncodeSchedule(*MakeSchedule(ScheduleKind::k1F1B, {2, 1, 4}))))),
      HasSubstr("rank 1 has another schedule than rank 0, of the same size"));
  EXPECT_THAT(
      Complaint(CheckSameSchedule(Together(
          gpipe,
          EncodeSchedule(*MakeSchedule(ScheduleKind::kGPipe, {2, 1, 5}))))),
      HasSubstr("rank 1 has a pipeline of 2 ranks with 1 stages each and 5 "
                "micro-batches, rank 0 one of 2 ranks with 1 stages each and "
                "4 micro-batches"));
}

const StreamShape kWide{.dtype = DType::kFloat32, .sizes = {2, 6, 16}};
const StreamShape kNarrow{.dtype = DType::kBFloat16, .sizes = {4, 3}};

TEST(StreamAgreementTest, InputsAreByStageWhateverRankHasThem) {
  // The encoded shapes in the order of the ranks: rank 0 has stages 0 and 2,
  // rank 1 has stages 1 and 3.
  const std::vector<int64_t> numbers = Together(
      Together(EncodeStreams({{}, kWide}), EncodeStreams({kNarrow, kWide})),
      Together(EncodeStreams({kWide, kNarrow}), EncodeStreams({kWide, {}})));
  const auto inputs = AgreedInputs(numbers, {2, 2, 4});
  ASSERT_TRUE(inputs.ok()) << inputs.status();
  EXPECT_THAT(*inputs, ElementsAre(StreamShape{}, kWide, kNarrow, kWide));
}

TEST(StreamAgreementTest, MismatchOfStagesIsNamed) {
  const auto numbers =
      Together(EncodeStreams({{}, kWide}), EncodeStreams({kNarrow, {}}));
  EXPECT_EQ(Complaint(AgreedInputs(numbers, {2, 1, 4}).status()),
            "stage 0 (rank 0) gives float32[2, 6, 16], but stage 1 (rank 1) "
            "takes bfloat16[4, 3]");
}

TEST(StreamAgreementTest, InvalidShapeIsNamed) {
  const auto complaint = [](const StreamShape& shape) {
    return Complaint(AgreedInputs(Together(EncodeStreams({{}, shape}),
                                           EncodeStreams({shape, {}})),
                                  {2, 1, 4})
                         .status());
  };
  EXPECT_THAT(complaint({.sizes = {1, 1, 1, 1, 1, 1, 1, 1, 1}}),
              HasSubstr("stage 0 (rank 0) has a stream of type 0 with 9 "
                        "dimensions; at most 8"));
  EXPECT_THAT(complaint({.sizes = {4, 0}}),
              HasSubstr("has a stream of float32[4, 0]"));
  EXPECT_THAT(complaint({.sizes = {int64_t{1} << 39, 4}}),
              HasSubstr("has a stream of float32["));
  EXPECT_EQ(complaint({.sizes = {}}), "");
}

}  // namespace
}  // namespace muster
