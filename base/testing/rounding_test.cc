#include "base/testing/rounding.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace muster {
namespace {

TEST(RoundingTest, GrowthIsTheWorstCaseOrTheProbableOne) {
  EXPECT_EQ(RoundingGrowth<float>(1), 0x1p-24);
  EXPECT_EQ(RoundingGrowth<double>(20), 20 * 0x1p-53);
  EXPECT_EQ(RoundingGrowth<double>(300), 80 * 0x1p-53);
}

TEST(RoundingTest, DistanceOfWhatIsNoNumberIsNone) {
  EXPECT_EQ(Distance(std::vector<double>{1, 2}, std::vector<float>{1, 4}), 2);
  EXPECT_TRUE(std::isnan(
      Distance(std::vector<double>{1, 2}, std::vector<double>{1, NAN})));
  EXPECT_TRUE(std::isnan(
      Distance(std::vector<double>{NAN, 2}, std::vector<double>{1, 4})));
  EXPECT_TRUE(
      std::isnan(Distance(std::vector<double>{1}, std::vector<double>{})));
}

TEST(RoundingTest, ConditionOfADifferenceIsThatOfItsTerms) {
  const auto conditions = Condition([](Disturbance disturb) {
    std::vector<double> terms = {1000, 999};
    disturb(terms);
    return std::vector<std::vector<double>>{{terms[0] - terms[1]}, {terms[0]}};
  });
  EXPECT_GT(conditions[0], 1998);
  EXPECT_LT(conditions[0], 2000);
  // The second output is a single term, 1000, so its exact condition number is
  // 1000. conditions[1] may differ slightly, because two operations round: the
  // disturbance of the term, and the division by the size of the disturbance.
  EXPECT_NEAR(conditions[1], 1000,
              RoundingBound<double>(2, 1000 / Disturbance::kSize));
}

TEST(RoundingTest, TheFirstListThatRoundingDoesNotExplainIsNamed) {
  const RoundingReference reference([](Disturbance disturb) {
    return std::vector<std::vector<double>>{{0.5}, {disturb(1.0), 0.25}};
  });
  using Lists = std::vector<std::vector<double>>;
  EXPECT_EQ(reference.WrongList<float>(4, Lists{{0.5}, {1, 0.25}}), -1);
  EXPECT_EQ(reference.WrongList<float>(4, Lists{{0.5}, {1 + 0x1p-22, 0.25}}),
            -1);
  EXPECT_EQ(reference.WrongList<float>(4, Lists{{0.5}, {1 + 0x1p-20, 0.25}}),
            1);
  EXPECT_EQ(reference.WrongList<float>(4, Lists{{0.5 + 0x1p-50}, {1, 0.25}}),
            0);
  EXPECT_EQ(reference.WrongList<float>(4, Lists{{0.5}, {1}}), 1);
  EXPECT_EQ(reference.WrongList<float>(4, Lists{{0.5}, {1, NAN}}), 1);
  EXPECT_EQ(reference.WrongList<float>(4, Lists{{0.5}}), 0);
}

}  // namespace
}  // namespace muster
