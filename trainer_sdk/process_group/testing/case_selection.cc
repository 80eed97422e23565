#include "trainer_sdk/process_group/testing/case_selection.h"

#include <algorithm>
#include <numeric>

#include "trainer_sdk/process_group/signature.h"

namespace muster {
namespace {

enum class Length { kNone, kOne, kOdd, kSome, kLarge, kLongest };
constexpr Length kLengths[] = {Length::kNone, Length::kOne,   Length::kOdd,
                               Length::kSome, Length::kLarge, Length::kLongest};

struct Stratum {
  OperationKind kind;
  DType dtype;
  ReduceOp op;
  Length length;
};

struct Variant {
  Placement placement;
  Parts parts;
};

std::vector<Stratum> Strata() {
  std::vector<Stratum> strata;
  for (int k = 0; k < kOperationKinds; k++) {
    const auto kind = static_cast<OperationKind>(k);
    if (IsPointToPoint(kind) || kind == OperationKind::kBarrier) continue;
    for (int dtype = 0; dtype < kDTypes; dtype++) {
      for (int op = 0; op < (IsReduction(kind) ? kReduceOps : 1); op++) {
        for (const Length length : kLengths) {
          strata.push_back({kind, static_cast<DType>(dtype),
                            static_cast<ReduceOp>(op), length});
        }
      }
    }
  }
  return strata;
}

std::vector<Variant> VariantsOf(OperationKind kind) {
  std::vector<Variant> variants;
  for (const Parts parts : {Parts::kEqual, Parts::kUneven}) {
    if (parts == Parts::kUneven && !HasParts(kind)) continue;
    for (const Placement placement :
         {Placement::kOutOfPlace, Placement::kInPlace}) {
      if (placement == Placement::kOutOfPlace ||
          kind != OperationKind::kAllToAll) {
        variants.push_back({placement, parts});
      }
    }
  }
  return variants;
}

int64_t CountOf(Length length, const CollectiveCase& test, int size) {
  switch (length) {
    case Length::kNone:
      return 0;
    case Length::kOne:
      return 1;
    case Length::kOdd:
      return 7;
    case Length::kSome:
      return 257;
    case Length::kLarge:
      return 40'001 / size;
    case Length::kLongest:
      break;
  }
  return 600'011 / SizeOf(test.dtype) / (HasParts(test.kind) ? size : 1);
}

// splitmix64.
uint64_t Mixed(uint64_t x) {
  x = (x + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

CollectiveCase CaseOf(const Stratum& stratum, const Variant& variant, int size,
                      uint64_t seed) {
  CollectiveCase test;
  test.kind = stratum.kind;
  test.dtype = stratum.dtype;
  test.op = stratum.op;
  test.count = CountOf(stratum.length, test, size);
  test.placement = variant.placement;
  test.parts = variant.parts;
  test.seed = seed;
  test.root = static_cast<int>(Mixed(seed) % static_cast<uint64_t>(size));
  return test;
}

// A step that is coprime to the number of cases visits each case once and
// separates similar cases.
std::vector<CollectiveCase> Shuffled(const std::vector<CollectiveCase>& cases) {
  std::vector<CollectiveCase> mixed;
  if (cases.empty()) return mixed;
  size_t step = 619;
  while (std::gcd(step, cases.size()) != 1) step++;
  for (size_t i = 0; i < cases.size(); i++) {
    mixed.push_back(cases[i * step % cases.size()]);
    if (i % 50 == 0) {
      CollectiveCase barrier;
      barrier.kind = OperationKind::kBarrier;
      mixed.push_back(barrier);
    }
  }
  return mixed;
}

}  // namespace

std::vector<CollectiveCase> EveryCase(int size) {
  return CasesOfSize({.sizes = {size}}, 0);
}

std::vector<CollectiveCase> ShortCases(int size) {
  std::vector<CollectiveCase> cases = EveryCase(size);
  std::erase_if(cases, [&](const CollectiveCase& test) {
    return test.count > CountOf(Length::kLarge, test, size);
  });
  return cases;
}

std::vector<CollectiveCase> CasesOfSize(const CaseSelection& selection,
                                        size_t at) {
  const std::vector<int>& sizes = selection.sizes;
  std::vector<CollectiveCase> cases;
  const std::vector<Stratum> strata = Strata();
  for (size_t s = 0; s < strata.size(); s++) {
    const uint64_t draw = Mixed(s);
    if (draw % selection.shares != static_cast<uint64_t>(selection.share)) {
      continue;
    }
    const Stratum& stratum = strata[s];
    const std::vector<Variant> variants = VariantsOf(stratum.kind);
    const size_t pairs = sizes.size() * variants.size();
    size_t chosen = std::max<size_t>(1, pairs / selection.every_nth);
    if (stratum.length == Length::kLongest) {
      chosen = Mixed(draw) % selection.longest_every_nth == 0 ? 1 : 0;
    }
    for (size_t i = 0; i < chosen; i++) {
      const size_t pair = (Mixed(draw + 1) + i * pairs / chosen) % pairs;
      if (pair % sizes.size() != at) continue;
      const size_t variant = pair / sizes.size();
      cases.push_back(CaseOf(stratum, variants[variant], sizes[at],
                             s * variants.size() + variant));
    }
  }
  return Shuffled(cases);
}

}  // namespace muster
