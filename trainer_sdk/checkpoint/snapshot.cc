#include "trainer_sdk/checkpoint/snapshot.h"

#include <cstring>
#include <new>

#include "absl/strings/str_cat.h"

namespace muster {

absl::Status Snapshot::Take(const ShardLayout& layout,
                            const std::vector<CheckpointSlice>& slices) {
  size_ = static_cast<size_t>(layout.header.data_bytes());
  if (size_ > room_) {
    data_.reset();
    room_ = 0;
    // Not initialised, because all of it is overwritten at once.
    data_.reset(new (std::nothrow) char[size_]);
    if (data_ == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory for a snapshot of ", size_, " bytes"));
    }
    room_ = size_;
  }
  for (const ShardCopy& copy : layout.copies) {
    std::memcpy(data_.get() + copy.to,
                static_cast<const char*>(slices[copy.slice].data) + copy.from,
                static_cast<size_t>(copy.bytes));
  }
  return absl::OkStatus();
}

}  // namespace muster
