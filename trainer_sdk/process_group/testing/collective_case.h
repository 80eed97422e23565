#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_COLLECTIVE_CASE_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_COLLECTIVE_CASE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trainer_sdk/process_group/argument_check.h"
#include "trainer_sdk/process_group/operation.h"

// The collectives that the conformance suite runs.
// - Stratum: a combination of kind, type, reduction and length.
// - Length: 0, 1, 7 or 257 elements, large, or longest. Large: about 40,000
//   elements in all parts together. Longest: a buffer of about 600 KB, more
//   than any transport stages or sends at once.
// - Variant of a stratum: its placement (in place or not) and its parts (equal
//   or uneven).
//
// The functions below return lists of cases with barriers in between, in a
// random order that depends only on their arguments.

namespace muster {

enum class Placement { kOutOfPlace, kInPlace };
enum class Parts { kEqual, kUneven };

// One collective that the conformance suite runs on a transport; equal on all
// ranks.
struct CollectiveCase {
  OperationKind kind = OperationKind::kAllReduce;
  DType dtype = DType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  int root = 0;
  // The length in elements of the buffers or, if HasParts(kind), of each part.
  // With Parts::kUneven, the lengths of the parts are computed from `count`.
  int64_t count = 0;
  Placement placement = Placement::kOutOfPlace;
  Parts parts = Parts::kEqual;
  uint64_t seed = 0;  // determines the elements of all ranks' inputs
};

std::string Describe(const CollectiveCase& test);

// One rank's role in a CollectiveCase: its operation and its buffers, as the
// table in process_group/operation.h defines them. Lengths and offsets are in
// elements.
struct RankPart {
  Operation operation;  // the operation, with null buffers
  int64_t input = -1;   // length of the input; -1: no input on this rank
  int64_t output = -1;  // length of the output; -1: no output on this rank
  // offset of the shorter buffer in the longer one; -1: two separate buffers
  int64_t in_place = -1;
};
RankPart PartOf(const CollectiveCase& test, int rank, int size);

// The elements that `rank` must find in its output. Pure.
std::vector<double> ExpectedOutput(const CollectiveCase& test, int rank,
                                   int size);

// The largest allowed difference between an element and its expected value: 0
// except for averages of floats.
double Tolerance(const CollectiveCase& test, int size);

// Returns every variant (placement and parts) of every stratum (kind, type,
// reduction and length). Strata with the longest length have only one variant.
std::vector<CollectiveCase> EveryCase(int size);

// Returns the same cases as EveryCase, except the strata with the longest
// length.
std::vector<CollectiveCase> ShortCases(int size);

// Selects cases and distributes them over groups of several sizes.
struct CaseSelection {
  std::vector<int> sizes;  // the numbers of ranks with which cases are tried
  // Only every `every_nth`-th of the cases is tried, but of each stratum (the
  // cases of one kind, type, reduction and length) at least one.
  int every_nth = 1;
  // The strata (kind, type, reduction and length) may be divided among `shares`
  // tests of one transport, by a hash. This selection has the strata of part
  // number `share`, counted from 0.
  int share = 0;
  int shares = 1;
  // A special rule for the strata (kind, type, reduction and length) whose
  // length is the longest, a buffer of 600 KB. Only one stratum in
  // longest_every_nth is tried, in one variant and in groups of one size.
  // `every_nth` does not apply to these strata.
  int longest_every_nth = 1;
};

// Returns the cases that `selection` selects for groups of selection.sizes[at]
// ranks.
std::vector<CollectiveCase> CasesOfSize(const CaseSelection& selection,
                                        size_t at);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_COLLECTIVE_CASE_H_
