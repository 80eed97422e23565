#include "base/processor_kind.h"

#include "gtest/gtest.h"

namespace muster {
namespace {

constexpr ProcessorKind kBaseline = ProcessorKind::kBaseline;
constexpr ProcessorKind kAvx2 = ProcessorKind::kAvx2;
constexpr ProcessorKind kAvx512 = ProcessorKind::kAvx512;

TEST(ProcessorKind, WithoutANameTheWidestIsChosen) {
  EXPECT_EQ(ChooseProcessorKind({kBaseline, kAvx2, kAvx512}, ""), kAvx512);
  EXPECT_EQ(ChooseProcessorKind({kBaseline}, ""), kBaseline);
}

TEST(ProcessorKind, ANameNarrowsTheChoice) {
  EXPECT_EQ(ChooseProcessorKind({kBaseline, kAvx2, kAvx512}, "avx2"), kAvx2);
  EXPECT_EQ(ChooseProcessorKind({kBaseline, kAvx2, kAvx512}, "baseline"),
            kBaseline);
}

TEST(ProcessorKind, ANameThatTheProcessorIsNotNarrowsNothing) {
  EXPECT_EQ(ChooseProcessorKind({kBaseline, kAvx2}, "avx512"), kAvx2);
  EXPECT_EQ(ChooseProcessorKind({kBaseline, kAvx2}, "neon"), kAvx2);
}

TEST(ProcessorKind, EveryProcessorIsTheBaseline) {
  EXPECT_EQ(ProcessorKinds().front(), kBaseline);
}

}  // namespace
}  // namespace muster
