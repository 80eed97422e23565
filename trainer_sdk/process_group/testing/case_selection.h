#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CASE_SELECTION_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CASE_SELECTION_H_

#include <cstddef>
#include <vector>

#include "trainer_sdk/process_group/testing/collective_case.h"

namespace muster {

// A stratum is a kind, type and reduction at one length: 0, 1, odd, some, large
// (40,000 elements among all ranks), or longest (600 KB among all ranks, more
// than any transport stages or sends at once). Each has its variants: placement
// x parts. The order of cases mixes the strata, with barriers between. Pure.

// Every variant of every stratum, but one only of each of the longest.
std::vector<CollectiveCase> EveryCase(int size);

// The same without the longest.
std::vector<CollectiveCase> ShortCases(int size);

// How the cases are dealt to several groups, so that no stratum is left out by
// all of them.
struct CaseSelection {
  // The groups' sizes. A stratum is tried in pairs of size and variant: in
  // every n-th of them, and at least in one.
  std::vector<int> sizes;
  int every_nth = 1;
  // Where subjects share the work: this one has every `shares`-th stratum.
  int share = 0;
  int shares = 1;
  // Of the longest, which are tried in one pair whatever `every_nth` is, only
  // every n-th stratum is tried at all.
  int longest_every_nth = 1;
};

// What of that falls to the groups of sizes[at].
std::vector<CollectiveCase> CasesOfSize(const CaseSelection& selection,
                                        size_t at);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CASE_SELECTION_H_
