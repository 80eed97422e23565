#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CONFORMANCE_SUBJECT_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CONFORMANCE_SUBJECT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer_sdk/process_group/transport.h"

namespace muster {

// The memory that a transport works on. Thread-safe. This one is the host's; a
// CUDA transport brings its own, whose Read waits for what is under way.
class ConformanceMemory {
 public:
  virtual ~ConformanceMemory() = default;
  virtual std::shared_ptr<void> Allocate(int64_t bytes);
  virtual void Write(void* to, const void* from, int64_t bytes);
  virtual void Read(void* to, const void* from, int64_t bytes);
};

// ThreadSanitizer makes a case some 20 times as slow, AddressSanitizer twice;
// what they look for is not in one case only.
#if defined(__SANITIZE_THREAD__)
inline constexpr int kUsualNth = 23;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr int kUsualNth = 5;
#else
inline constexpr int kUsualNth = 1;
#endif

// A transport as the conformance suite judges it.
struct ConformanceSubject {
  std::string name;  // letters and digits
  TransportFactory factory;

  // Which group sizes are tried, and, for a transport that is slow with threads
  // as ranks, of the pairs of size and variant that a collective is tried in
  // only every n-th, and at least one (case_selection.h).
  std::vector<int> sizes = {1, 2, 3, 4, 5, 6, 7, 8};
  int every_nth = kUsualNth;
  // Every n-th of the longest collectives (600 KB among all ranks) is tried.
  int longest_every_nth = kUsualNth;
  // Subjects of one transport may share the collectives: this one is tried with
  // every `shares`-th.
  int share = 0;
  int shares = 1;

  enum class Mismatch {
    kExplained,  // every rank gets FailedPrecondition, naming what differs
    kNotSeen,    // undefined behaviour: not tried
  };
  Mismatch mismatch = Mismatch::kExplained;

  enum class Absent {
    kNamedToAll,   // everyone who waits, or is told, names the absent
    kNamedToSome,  // at least one rank does
  };
  Absent absent = Absent::kNamedToAll;

  enum class Tags {
    kMatch,    // a receive takes the first message with its tag
    kInOrder,  // messages come in the order they were sent
  };
  Tags tags = Tags::kMatch;

  // What a rank is told that comes after another has given the group up.
  enum class Late {
    kOfEverything,  // every operation fails
    kOfBarriers,    // other operations are only launched, and fail later
  };
  Late late = Late::kOfEverything;

  std::shared_ptr<ConformanceMemory> memory =
      std::make_shared<ConformanceMemory>();
};

// `subject` as its collectives are tried: as it is, or with `grid` "whole" on
// 1 to 8 ranks in every pair of size and variant, whatever it takes. Its
// factory must know all these sizes then. `grid` is MUSTER_CONFORMANCE_GRID's
// value, null where it is not set.
ConformanceSubject AtGrid(ConformanceSubject subject, const char* grid);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CONFORMANCE_SUBJECT_H_
