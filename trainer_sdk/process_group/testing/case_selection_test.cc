#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/process_group/testing/collective_case.h"

namespace muster {
namespace {

// A stratum of the test cases: a combination of kind, type, reduction and
// length in elements. A length above 257 is replaced by kLarge. If the longer
// one of the input and the output exceeds kLongestBytes, the length is replaced
// by kLongestBytes.
using Stratum = std::tuple<OperationKind, DType, ReduceOp, int64_t>;

constexpr int64_t kLarge = 40'000;
// The buffer size in bytes above which the length of a case is called
// "longest": the size of a staging slot of the shared memory transport.
constexpr int64_t kLongestBytes = 512 << 10;

Stratum StratumOf(const CollectiveCase& test, int size) {
  const int64_t whole = test.count * (HasParts(test.kind) ? size : 1);
  int64_t length = test.count;
  if (length > 257) length = kLarge;
  if (whole * SizeOf(test.dtype) > kLongestBytes) length = kLongestBytes;
  return {test.kind, test.dtype, test.op, length};
}

std::set<Stratum> AllStrata() {
  std::set<Stratum> all;
  for (int k = 0; k < kOperationKinds; k++) {
    const auto kind = static_cast<OperationKind>(k);
    if (IsPointToPoint(kind) || kind == OperationKind::kBarrier) continue;
    for (int dtype = 0; dtype < kDTypes; dtype++) {
      for (int op = 0; op < (IsReduction(kind) ? kReduceOps : 1); op++) {
        for (const int64_t length : {int64_t{0}, int64_t{1}, int64_t{7},
                                     int64_t{257}, kLarge, kLongestBytes}) {
          all.insert({kind, static_cast<DType>(dtype),
                      static_cast<ReduceOp>(op), length});
        }
      }
    }
  }
  return all;
}

// Returns the strata (kind, type, reduction and length) of all selected cases,
// over all group sizes. Adds the number of cases to `cases`.
std::set<Stratum> StrataOf(const CaseSelection& selection, size_t* cases) {
  std::set<Stratum> found;
  for (size_t at = 0; at < selection.sizes.size(); at++) {
    const int size = selection.sizes[at];
    for (const CollectiveCase& test : CasesOfSize(selection, at)) {
      EXPECT_LT(test.root, size);
      if (test.kind == OperationKind::kBarrier) continue;
      found.insert(StratumOf(test, size));
      ++*cases;
    }
  }
  return found;
}

const std::vector<int> kOneToEight = {1, 2, 3, 4, 5, 6, 7, 8};

TEST(CaseSelectionTest, NoStratumIsLeftOutHoweverFewAreTaken) {
  const std::set<Stratum> all = AllStrata();
  EXPECT_EQ(all.size(), (3u * 5 + 5) * 7 * 6);
  for (const std::vector<int>& sizes : {kOneToEight, {1, 2, 3}, {6}}) {
    for (const int every_nth : {1, 5, 17}) {
      size_t cases = 0;
      EXPECT_EQ(StrataOf({.sizes = sizes, .every_nth = every_nth}, &cases),
                all);
    }
    size_t cases = 0;
    EXPECT_EQ(StrataOf({.sizes = sizes, .every_nth = 1000}, &cases), all);
    EXPECT_EQ(cases, all.size());
  }
}

TEST(CaseSelectionTest, SubjectsShareTheStrata) {
  std::set<Stratum> found;
  size_t cases = 0;
  for (int share = 0; share < 5; share++) {
    found.merge(StrataOf({.sizes = {share + 1, share + 2},
                          .every_nth = 1000,
                          .share = share,
                          .shares = 5},
                         &cases));
  }
  EXPECT_EQ(found, AllStrata());
  EXPECT_EQ(cases, AllStrata().size());
}

TEST(CaseSelectionTest, TheStrataAreSpreadOverTheSizes) {
  for (size_t at = 0; at < kOneToEight.size(); at++) {
    EXPECT_GT(CasesOfSize({.sizes = kOneToEight, .every_nth = 1000}, at).size(),
              AllStrata().size() / 16);
  }
}

TEST(CaseSelectionTest, EveryVariantIsTakenWhereAllAre) {
  // The expected number of cases, computed by hand. kLengths: 5 lengths (all
  // but the longest) times 7 types. kShort: the cases of these lengths,
  // kLengths times the number of variants of each kind and reduction. Most
  // kinds have 2 variants: in place or not. Kinds with one part per rank have
  // 4, because the parts may also be equal or uneven. An all_to_all is never in
  // place, so it has 2. With the longest length, there is only 1 variant.
  constexpr size_t kLengths = 5 * 7;
  constexpr size_t kShort = kLengths * (5 * (2 + 2 + 4) + 4 + 4 + 4 + 2 + 2);
  size_t cases = 0;
  StrataOf({.sizes = {3}}, &cases);
  EXPECT_EQ(cases, kShort + 20 * 7);
  size_t barriers = 0;
  for (const CollectiveCase& test : ShortCases(3)) {
    if (test.kind == OperationKind::kBarrier) barriers++;
  }
  EXPECT_EQ(ShortCases(3).size(), kShort + barriers);
  EXPECT_EQ(EveryCase(3).size(), cases + barriers);
}

TEST(CaseSelectionTest, FewOfTheLongestMayDo) {
  size_t all = 0, some = 0;
  StrataOf({.sizes = {3}}, &all);
  StrataOf({.sizes = {3}, .longest_every_nth = 10}, &some);
  EXPECT_LT(some, all - 100);
  EXPECT_GT(some, all - 140);
}

}  // namespace
}  // namespace muster
