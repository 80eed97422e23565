#include "trainer_sdk/process_group/testing/collective_case.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/process_group/element.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/process_group/testing/element_values.h"

namespace muster {
namespace {

// Returns the number of elements that rank `from` sends to rank `to` in an
// all_to_all. If the parts are uneven, the number differs between pairs, and is
// 0 for some pairs.
int64_t Exchanged(const CollectiveCase& test, int from, int to) {
  if (test.parts == Parts::kEqual) return test.count;
  return (from + to) % 3 == 1 ? 0 : test.count + from + 2 * to;
}

int64_t PartLength(const CollectiveCase& test, int rank) {
  if (test.parts == Parts::kEqual) return test.count;
  return rank % 3 == 1 ? 0 : test.count + rank;
}

// The sum of the lengths of the parts that precede the part of `rank`.
int64_t Offset(const CollectiveCase& test, int rank) {
  int64_t offset = 0;
  for (int i = 0; i < rank; i++) offset += PartLength(test, i);
  return offset;
}

void FillCounts(const CollectiveCase& test, int rank, int size,
                Operation& operation) {
  if (!HasParts(test.kind) || test.parts == Parts::kEqual) {
    operation.count = test.count;
    return;
  }
  for (int i = 0; i < size; i++) {
    const bool exchange = test.kind == OperationKind::kAllToAll;
    operation.counts.push_back(exchange ? Exchanged(test, rank, i)
                                        : PartLength(test, i));
    if (exchange) operation.receive_counts.push_back(Exchanged(test, i, rank));
  }
}

}  // namespace

std::string Describe(const CollectiveCase& test) {
  return absl::StrCat(
      Name(test.kind), " of ", test.count, " ", Name(test.dtype), ", ",
      Name(test.op), ", root ", test.root,
      test.parts == Parts::kUneven ? ", uneven" : "",
      test.placement == Placement::kInPlace ? ", in place" : "");
}

RankPart PartOf(const CollectiveCase& test, int rank, int size) {
  RankPart part;
  part.operation.kind = test.kind;
  part.operation.dtype = test.dtype;
  part.operation.reduce_op = test.op;
  part.operation.root = test.root;
  FillCounts(test, rank, size, part.operation);
  const bool in_place = test.placement == Placement::kInPlace;
  const bool is_root = rank == test.root;
  const int64_t whole = Offset(test, size);
  const int64_t own = PartLength(test, rank);
  switch (test.kind) {
    case OperationKind::kAllReduce:
      part.input = part.output = test.count;
      if (in_place) part.in_place = 0;
      break;
    case OperationKind::kReduceScatter:
      part.input = whole;
      part.output = own;
      if (in_place) part.in_place = Offset(test, rank);
      break;
    case OperationKind::kAllGather:
      part.input = own;
      part.output = whole;
      if (in_place) part.in_place = Offset(test, rank);
      break;
    case OperationKind::kBroadcast:
      if (is_root || in_place) part.input = test.count;
      part.output = test.count;
      if (in_place) part.in_place = 0;
      break;
    case OperationKind::kReduce:
      part.input = test.count;
      if (is_root) part.output = test.count;
      if (is_root && in_place) part.in_place = 0;
      break;
    case OperationKind::kGather:
      part.input = own;
      if (is_root) part.output = whole;
      if (is_root && in_place) part.in_place = Offset(test, rank);
      break;
    case OperationKind::kScatter:
      if (is_root) part.input = whole;
      part.output = own;
      if (is_root && in_place) part.in_place = Offset(test, rank);
      break;
    case OperationKind::kAllToAll:
      part.input = part.output = 0;
      for (int i = 0; i < size; i++) {
        part.input += Exchanged(test, rank, i);
        part.output += Exchanged(test, i, rank);
      }
      break;
    default:
      break;
  }
  return part;
}

std::vector<double> ExpectedOutput(const CollectiveCase& test, int rank,
                                   int size) {
  std::vector<double> expected;
  const auto append = [&](int from, int64_t begin, int64_t length) {
    for (int64_t i = begin; i < begin + length; i++) {
      expected.push_back(TestValue(test.seed, from, i, test.op));
    }
  };
  const auto append_reduced = [&](int64_t begin, int64_t length) {
    std::vector<double> values(size);
    for (int64_t i = begin; i < begin + length; i++) {
      for (int from = 0; from < size; from++) {
        values[from] = TestValue(test.seed, from, i, test.op);
      }
      expected.push_back(ReferenceReduction(values, test.dtype, test.op));
    }
  };
  switch (test.kind) {
    case OperationKind::kAllReduce:
      append_reduced(0, test.count);
      break;
    case OperationKind::kReduce:
      if (rank == test.root) append_reduced(0, test.count);
      break;
    case OperationKind::kReduceScatter:
      append_reduced(Offset(test, rank), PartLength(test, rank));
      break;
    case OperationKind::kBroadcast:
      append(test.root, 0, test.count);
      break;
    case OperationKind::kScatter:
      append(test.root, Offset(test, rank), PartLength(test, rank));
      break;
    case OperationKind::kGather:
      if (rank != test.root) break;
      [[fallthrough]];
    case OperationKind::kAllGather:
      for (int i = 0; i < size; i++) append(i, 0, PartLength(test, i));
      break;
    case OperationKind::kAllToAll:
      for (int i = 0; i < size; i++) {
        int64_t begin = 0;
        for (int j = 0; j < rank; j++) begin += Exchanged(test, i, j);
        append(i, begin, Exchanged(test, i, rank));
      }
      break;
    default:
      break;
  }
  return expected;
}

double Tolerance(const CollectiveCase& test, int size) {
  // A bound for the rounding error of an average. NCCL multiplies each of the
  // `size` elements by 1/size and then adds the products, so it rounds fewer
  // than 2 * size times. All test values are between -15 and 15, so the error
  // of one rounding is at most 15 * epsilon / 2.
  return IsReduction(test.kind) && test.op == ReduceOp::kAvg
             ? size * 16 * EpsilonOf(test.dtype)
             : 0;
}

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

// The splitmix64 hash function.
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

// Returns the cases in another order, with barriers in between. The new order
// takes every `step`-th case of the list, cyclically. `step` is coprime to the
// number of cases, so each case occurs once. Similar cases are thus separated.
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
