#include "trainer_sdk/process_group/testing/collective_case.h"

#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/process_group/element.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/process_group/testing/element_values.h"

namespace muster {
namespace {

// Elements that `from` sends to `to` in an all_to_all. Some are 0.
int64_t Exchanged(const CollectiveCase& test, int from, int to) {
  if (test.parts == Parts::kEqual) return test.count;
  return (from + to) % 3 == 1 ? 0 : test.count + from + 2 * to;
}

int64_t PartLength(const CollectiveCase& test, int rank) {
  if (test.parts == Parts::kEqual) return test.count;
  return rank % 3 == 1 ? 0 : test.count + rank;
}

bool HasParts(OperationKind kind) {
  return kind == OperationKind::kReduceScatter ||
         kind == OperationKind::kAllGather || kind == OperationKind::kGather ||
         kind == OperationKind::kScatter || kind == OperationKind::kAllToAll;
}

// The sum of the parts of ranks before `rank`.
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

double Reduced(const CollectiveCase& test, int64_t index, int size) {
  std::vector<double> values;
  for (int rank = 0; rank < size; rank++) {
    values.push_back(TestValue(test.seed, rank, index, test.op));
  }
  return ReferenceReduction(values, test.dtype, test.op);
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
    for (int64_t i = begin; i < begin + length; i++) {
      expected.push_back(Reduced(test, i, size));
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
  // NCCL multiplies by 1/size before it adds: each summand and each sum may be
  // off by half a unit of the largest value, 15.
  return IsReduction(test.kind) && test.op == ReduceOp::kAvg
             ? size * 16 * EpsilonOf(test.dtype)
             : 0;
}

std::vector<CollectiveCase> EveryCase(int size) {
  std::vector<CollectiveCase> cases;
  const auto add = [&](OperationKind kind, int dtype, int op, int64_t count) {
    CollectiveCase test;
    test.kind = kind;
    test.dtype = static_cast<DType>(dtype);
    test.op = static_cast<ReduceOp>(op);
    test.count = count;
    for (const Parts parts : {Parts::kEqual, Parts::kUneven}) {
      if (parts == Parts::kUneven && !HasParts(kind)) continue;
      for (const Placement placement :
           {Placement::kOutOfPlace, Placement::kInPlace}) {
        if (placement == Placement::kInPlace &&
            kind == OperationKind::kAllToAll) {
          continue;
        }
        test.parts = parts;
        test.placement = placement;
        test.seed = cases.size();
        test.root = static_cast<int>(cases.size()) % size;
        cases.push_back(test);
      }
    }
  };
  for (int k = 0; k < kOperationKinds; k++) {
    const auto kind = static_cast<OperationKind>(k);
    if (IsPointToPoint(kind) || kind == OperationKind::kBarrier) continue;
    for (int dtype = 0; dtype < kDTypes; dtype++) {
      for (int op = 0; op < (IsReduction(kind) ? kReduceOps : 1); op++) {
        for (const int64_t count : {0, 1, 7, 257}) add(kind, dtype, op, count);
      }
      add(kind, dtype, 0, 40001 / size);
    }
  }
  // A step coprime to the number of cases visits each once, far from its like.
  std::vector<CollectiveCase> mixed;
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

}  // namespace muster
