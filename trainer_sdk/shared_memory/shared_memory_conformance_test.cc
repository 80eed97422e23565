// Runs the conformance suite on the shared memory transport, with threads as
// ranks.
#include <utility>

#include "trainer_sdk/process_group/testing/transport_conformance.h"
#include "trainer_sdk/shared_memory/shared_memory_transport.h"

namespace muster {
namespace {

TransportFactory With(const SharedMemoryOptions& options) {
  return [options](const GroupPlace& place, Instant deadline) {
    return NewSharedMemoryTransport(place, options, deadline);
  };
}

ConformanceSubject Shm() {
  ConformanceSubject subject;
  subject.name = "Shm";
  subject.factory = With({});
  subject.tags = ConformanceSubject::Tags::kInOrder;
  return subject;
}

// A conformance subject with the smallest staging slots and ring buffers. Most
// operations must move their data through these in many rounds.
ConformanceSubject ShmInSmallRounds() {
  SharedMemoryOptions options;
  options.staging_bytes = 0;
  options.channel_bytes = 0;
  ConformanceSubject subject = Shm();
  subject.name = "ShmInSmallRounds";
  subject.factory = With(options);
  subject.sizes = {2, 3, 8};
  subject.every_nth = 3 * kUsualNth;
  return subject;
}

INSTANTIATE_TEST_SUITE_P(SharedMemory, TransportConformance,
                         testing::Values(Shm(), ShmInSmallRounds()));

}  // namespace
}  // namespace muster
