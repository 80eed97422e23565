#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_COLLECTIVE_CASE_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_COLLECTIVE_CASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer_sdk/process_group/operation.h"

namespace muster {

enum class Placement { kOutOfPlace, kInPlace };
enum class Parts { kEqual, kUneven };

// One collective that a suite asks of a transport; equal on every rank.
struct CollectiveCase {
  OperationKind kind = OperationKind::kAllReduce;
  DType dtype = DType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  int root = 0;
  int64_t count = 0;
  Placement placement = Placement::kOutOfPlace;
  Parts parts = Parts::kEqual;
  uint64_t seed = 0;  // of the inputs
};

std::string Describe(const CollectiveCase& test);

// Whether the kind's longer buffer has a part for each rank, so that `count` is
// a part's length and the parts may be uneven.
bool HasParts(OperationKind kind);

// What one rank has to do with it, by the table in operation.h; lengths and
// offsets are elements.
struct RankPart {
  Operation operation;    // without its buffers
  int64_t input = -1;     // length; -1: this rank has none
  int64_t output = -1;    // the same
  int64_t in_place = -1;  // where the shorter buffer lies in the longer one;
                          // -1: they are two
};
RankPart PartOf(const CollectiveCase& test, int rank, int size);

// What `rank` must find in its output. Pure.
std::vector<double> ExpectedOutput(const CollectiveCase& test, int rank,
                                   int size);

// How far an element may be from that: 0 except for averages of floats.
double Tolerance(const CollectiveCase& test, int size);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_COLLECTIVE_CASE_H_
