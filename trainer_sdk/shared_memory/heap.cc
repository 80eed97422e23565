#include "trainer_sdk/shared_memory/heap.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "trainer_sdk/shared_memory/local_socket.h"

namespace muster {
namespace {

class HeapMemory final : public TransportMemory {
 public:
  explicit HeapMemory(std::shared_ptr<HeapSegment> segment)
      : segment_(std::move(segment)) {}
  ~HeapMemory() override { segment_->Free(); }
  void* data() const override { return segment_->own_part(); }
  int64_t bytes() const override { return segment_->bytes(); }

 private:
  const std::shared_ptr<HeapSegment> segment_;
};

}  // namespace

HeapSegment::HeapSegment(Mapping mapping, int rank, int size, int64_t bytes)
    : mapping_(std::move(mapping)), rank_(rank), size_(size), bytes_(bytes) {}

std::atomic<uint32_t>& HeapSegment::Frees() const {
  return *reinterpret_cast<std::atomic<uint32_t>*>(mapping_.data());
}

void HeapSegment::Free() {
  freed_here_ = true;
  Frees().fetch_add(1);
}

bool HeapSegment::freed_everywhere() const {
  return Frees().load() == static_cast<uint32_t>(size_);
}

LocalWaitLimits Heap::WaitLimitsOf(int rank, const Waiting& waiting) const {
  return {waiting.deadline,
          [this, rank, waiting] { return peers_->Look({rank}, waiting); }};
}

absl::StatusOr<OwnedFd> Heap::ShareFile(int64_t total, const Waiting& waiting) {
  if (peers_->rank() != 0) {
    absl::StatusOr<LocalMessage> message =
        ReceiveLocal(peers_->connection(0), 256, WaitLimitsOf(0, waiting));
    if (!message.ok()) {
      if (peers_->broken()) return peers_->cause();
      return peers_->Break(absl::Status(
          message.status().code(),
          absl::StrCat(
              "allocation of shared memory: ", peers_->Who(0),
              " did not send it: ", std::string(message.status().message()))));
    }
    if (message->descriptors.empty()) {
      return absl::ResourceExhaustedError(message->bytes);
    }
    return std::move(message->descriptors[0]);
  }
  absl::StatusOr<OwnedFd> file = CreateMemoryFile(total);
  if (file.ok()) {
    absl::Status reserved = ReservePages(file->get(), 0, kPageBytes);
    if (!reserved.ok()) file = reserved;
  }
  const std::string text =
      file.ok() ? "file" : std::string(file.status().message()).substr(0, 256);
  const std::vector<int> descriptors =
      file.ok() ? std::vector<int>{file->get()} : std::vector<int>{};
  for (int rank = 1; rank < peers_->size(); ++rank) {
    absl::Status sent = SendLocal(peers_->connection(rank), text, descriptors,
                                  WaitLimitsOf(rank, waiting));
    if (!sent.ok()) {
      if (peers_->broken()) return peers_->cause();
      return peers_->Break(absl::Status(
          sent.code(),
          absl::StrCat("allocation of shared memory: ", peers_->Who(rank),
                       " did not take it: ", std::string(sent.message()))));
    }
  }
  return file;
}

absl::StatusOr<std::shared_ptr<HeapSegment>> Heap::Create(
    int64_t bytes, const Waiting& waiting) {
  Purge();
  ++last_number_;
  const int64_t total = HeapSegment::TotalBytes(peers_->size(), bytes);
  absl::StatusOr<OwnedFd> file = ShareFile(total, waiting);
  if (!file.ok()) return file.status();
  absl::StatusOr<Mapping> mapping = Mapping::Of(file->get(), total);
  if (!mapping.ok()) return mapping.status();
  mapping->AdviseHugePages();
  absl::Status reserved =
      ReservePages(file->get(), HeapSegment::Offset(peers_->rank(), bytes),
                   HeapSegment::Stride(bytes));
  if (!reserved.ok()) return reserved;
  return std::make_shared<HeapSegment>(*std::move(mapping), peers_->rank(),
                                       peers_->size(), bytes);
}

std::unique_ptr<TransportMemory> Heap::Add(
    std::shared_ptr<HeapSegment> segment) {
  entries_.push_back({last_number_, segment});
  return std::make_unique<HeapMemory>(std::move(segment));
}

HeapPlace Heap::Find(const void* data, int64_t bytes) const {
  const std::less_equal<> before;
  const char* const begin = static_cast<const char*>(data);
  for (const Entry& one : entries_) {
    const char* const part = one.segment->own_part();
    if (before(part, begin) &&
        before(begin + bytes, part + one.segment->bytes()) &&
        !one.segment->freed_here()) {
      return {one.number, begin - part};
    }
  }
  return {};
}

char* Heap::At(int rank, const HeapPlace& place) const {
  for (const Entry& one : entries_) {
    if (one.number == place.segment) {
      return one.segment->part(rank) + place.offset;
    }
  }
  MUSTER_CHECK(false) << "rank " << rank << " uses heap segment "
                      << place.segment << ", which is gone here";
  return nullptr;
}

void Heap::Purge() {
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(),
                                [](const Entry& one) {
                                  return one.segment->freed_everywhere();
                                }),
                 entries_.end());
}

}  // namespace muster
