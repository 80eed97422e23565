#include "trainer_sdk/cuda/emulation/shared_array.h"

namespace muster::emulation {
namespace {

// The head of the linked list of this thread's shared arrays. An array lives
// until its thread ends.
thread_local SharedMemory* first = nullptr;

}  // namespace

SharedMemory::SharedMemory(void* data, size_t bytes)
    : data_(data), bytes_(bytes), next_(first) {
  // Fill the new array with NaNs (0xff bytes). A kernel that reads an element
  // before it writes the element then gets a NaN. Spoil fills the array again
  // before each later thread block.
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
