#include "trainer_sdk/process_group/testing/collective_case.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/process_group/element.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/process_group/testing/element_values.h"

namespace muster {
namespace {

// The number of elements that `from` sends to `to` in an all_to_all; 0 for some
// pairs.
int64_t Exchanged(const CollectiveCase& test, int from, int to) {
  if (test.parts == Parts::kEqual) return test.count;
  return (from + to) % 3 == 1 ? 0 : test.count + from + 2 * to;
}

int64_t PartLength(const CollectiveCase& test, int rank) {
  if (test.parts == Parts::kEqual) return test.count;
  return rank % 3 == 1 ? 0 : test.count + rank;
}

// The sum of the lengths of the parts before that of `rank`.
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

bool HasParts(OperationKind kind) {
  return kind == OperationKind::kReduceScatter ||
         kind == OperationKind::kAllGather || kind == OperationKind::kGather ||
         kind == OperationKind::kScatter || kind == OperationKind::kAllToAll;
}

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
  // NCCL multiplies by 1/size before it adds: each summand and each sum may
  // have a rounding error of half a unit of the largest value, 15.
  return IsReduction(test.kind) && test.op == ReduceOp::kAvg
             ? size * 16 * EpsilonOf(test.dtype)
             : 0;
}

}  // namespace muster
