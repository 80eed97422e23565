#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CASE_SELECTION_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CASE_SELECTION_H_

#include <cstddef>
#include <vector>

#include "trainer_sdk/process_group/testing/collective_case.h"

namespace muster {

// Selects the collectives that the conformance suite runs. A stratum is a kind,
// a type, a reduction and a length: 0, 1, 7 or 257 elements, large (about
// 40,000 elements among all ranks), or longest (about 600 KB among all ranks,
// more than any transport stages or sends at once). The variants of a stratum
// differ in placement (out of place or in place) and parts (equal or uneven).
// The cases are shuffled, with barriers in between. Pure.

// Every variant of every stratum, except that each longest stratum has one
// variant.
std::vector<CollectiveCase> EveryCase(int size);

// The same without the longest strata.
std::vector<CollectiveCase> ShortCases(int size);

// How the cases are distributed over groups of several sizes, so that every
// stratum is tried in at least one of them.
struct CaseSelection {
  // The groups' sizes. Each stratum is tried in every `every_nth`-th of its
  // pairs (size, variant), and in at least one pair.
  std::vector<int> sizes;
  int every_nth = 1;
  // Subjects may share the work: this one runs every `shares`-th stratum,
  // beginning with index `share`.
  int share = 0;
  int shares = 1;
  // Only every n-th of the longest strata is tried, each in one pair, whatever
  // `every_nth` is.
  int longest_every_nth = 1;
};

// The selected cases for groups of sizes[at] ranks.
std::vector<CollectiveCase> CasesOfSize(const CaseSelection& selection,
                                        size_t at);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CASE_SELECTION_H_
