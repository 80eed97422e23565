#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CONFORMANCE_SUBJECT_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CONFORMANCE_SUBJECT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer_sdk/process_group/transport.h"

namespace muster {

// The memory that a transport works on; host memory in this class. A test of a
// CUDA transport derives a class for device memory, whose Read waits for
// pending operations. Thread-safe.
class ConformanceMemory {
 public:
  virtual ~ConformanceMemory() = default;
  virtual std::shared_ptr<void> Allocate(int64_t bytes);
  virtual void Write(void* to, const void* from, int64_t bytes);
  virtual void Read(void* to, const void* from, int64_t bytes);
};

// Fewer cases run under sanitizers: ThreadSanitizer makes a case about 20 times
// slower, AddressSanitizer about two times. A defect that a sanitizer can find
// shows in several cases, so it is still found if some cases are left out.
#if defined(__SANITIZE_THREAD__)
inline constexpr int kUsualNth = 23;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr int kUsualNth = 5;
#else
inline constexpr int kUsualNth = 1;
#endif

// A transport under test, and the properties that the suite may expect of it.
struct ConformanceSubject {
  std::string name;  // name of the test instance: letters and digits
  TransportFactory factory;

  // `sizes`: the group sizes in which cases are tried. Each stratum (kind,
  // type, reduction and length) has variants, which differ in placement (in
  // place or not) and parts (equal or uneven). Only every `every_nth`-th pair
  // of a size and a variant is tried, but at least one pair of each stratum. A
  // larger `every_nth` saves time for a slow transport.
  std::vector<int> sizes = {1, 2, 3, 4, 5, 6, 7, 8};
  int every_nth = kUsualNth;
  // With the longest length (a buffer of 600 KB), only about one in
  // longest_every_nth combinations of kind, type and reduction is tried.
  int longest_every_nth = kUsualNth;
  // Several ConformanceSubjects may divide the cases of one transport among
  // themselves, for example to run in parallel. `shares`: the number of these
  // subjects. `share`: the number of this one, from 0. A hash of a case's kind,
  // type, reduction and length decides which subject runs the case.
  int share = 0;
  int shares = 1;

  enum class Mismatch {
    // if the ranks' calls differ, every rank gets FailedPrecondition, which
    // names the difference
    kExplained,
    // the transport does not detect that the ranks' calls differ: its behaviour
    // is then undefined, and the suite does not test it
    kNotSeen,
  };
  Mismatch mismatch = Mismatch::kExplained;

  enum class Absent {
    // If a rank is absent, the errors of all other ranks name it.
    kNamedToAll,
    // If a rank is absent, at least one other rank gets an error that names it.
    kNamedToSome,
  };
  Absent absent = Absent::kNamedToAll;

  enum class Tags {
    kMatch,    // a receive takes the first message with its tag
    kInOrder,  // messages arrive in sending order, whatever their tags
  };
  Tags tags = Tags::kMatch;

  // The operations that must fail at once if another rank calls them late, that
  // is, after one rank has given up and broken the group.
  enum class Late {
    // In a broken group every operation fails at once.
    kOfEverything,
    // In a broken group only a barrier fails at once. Any other operation is
    // enqueued without an error, and fails later.
    kOfBarriers,
  };
  Late late = Late::kOfEverything;

  std::shared_ptr<ConformanceMemory> memory =
      std::make_shared<ConformanceMemory>();
};

// If `grid` is "whole", returns `subject` changed so that it runs the suite's
// complete selection of test cases, in groups of 1 to 8 ranks. This can take
// very long, and the subject's factory must support these sizes. For any other
// `grid`, returns `subject` unchanged. `grid` is the value of
// MUSTER_CONFORMANCE_GRID; null if this variable is not set.
ConformanceSubject AtGrid(ConformanceSubject subject, const char* grid);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CONFORMANCE_SUBJECT_H_
