#include "trainer_sdk/cuda/emulation/shared_array.h"

namespace muster::emulation {
namespace {

// The head of the linked list of this thread's shared arrays. An array lives
// until its thread ends.
thread_local SharedMemory* first = nullptr;

}  // namespace

SharedMemory::SharedMemory(void* data, size_t bytes)
    : data_(data), bytes_(bytes), next_(first) {
  // Fill the new array with 0xff bytes, which are NaNs, so that a kernel that
  // reads an element before it has written it gets a NaN. Spoil does the same
  // before each thread block but the first.
  std::memset(data_, 0xff, bytes_);
  first = this;
}

// A thread's arrays are destroyed in reverse order of construction, so this
// array is the head of the list.
SharedMemory::~SharedMemory() { first = next_; }

void SharedMemory::Spoil() {
  for (const SharedMemory* at = first; at != nullptr; at = at->next_) {
    std::memset(at->data_, 0xff, at->bytes_);
  }
}

}  // namespace muster::emulation
