#include "trainer_sdk/flight_recorder/flight_recorder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/monotonic_clock.h"
#include "base/owned_fd.h"
#include "trainer_sdk/flight_recorder/flight_files.h"

namespace muster {
namespace {

template <size_t n>
void PutText(const std::string& text, char (&field)[n]) {
  const size_t length = std::min(text.size(), n - 1);
  std::memcpy(field, text.data(), length);
  field[length] = 0;
}

absl::Status Failure(const std::string& what, const std::string& path,
                     int error) {
  return absl::UnavailableError(
      absl::StrCat(what, " ", path, ": ", std::strerror(error)));
}

std::string PathOf(const FlightRecorder::Options& options,
                   const std::string& ending) {
  return absl::StrCat(options.directory, "/rank_", options.rank, ending);
}

// Creates a file of `bytes` zeros and renames it to `path`. An old file at
// `path` is not truncated, because another process may have mapped it.
absl::StatusOr<OwnedFd> NewFile(const std::string& path, size_t bytes) {
  const std::string temporary = absl::StrCat(path, ".", getpid());
  OwnedFd fd(
      open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd.open()) return Failure("cannot create", temporary, errno);
  // The lock shows readers that this process is running. Not all file systems
  // support locks, so errors are ignored.
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  fcntl(fd.get(), F_OFD_SETLK, &lock);
  // Allocate the disk space now: on a full disk, a later access to the mapped
  // memory would raise SIGBUS.
  const int error = posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes));
  if (error != 0 || rename(temporary.c_str(), path.c_str()) != 0) {
    const int cause = error != 0 ? error : errno;
    unlink(temporary.c_str());
    return Failure("cannot write", path, cause);
  }
  return fd;
}

// Returns the memory for the ring. If options.directory is set, the memory is a
// mapped file, whose descriptor is moved to `kept`.
void* Mapped(const FlightRecorder::Options& options, OwnedFd& kept) {
  if (!options.directory.empty()) {
    mkdir(options.directory.c_str(), 0755);
    absl::StatusOr<OwnedFd> file =
        NewFile(PathOf(options, ".ring"), sizeof(RingImage));
    void* const memory =
        file.ok() ? mmap(nullptr, sizeof(RingImage), PROT_READ | PROT_WRITE,
                         MAP_SHARED, file->get(), 0)
                  : MAP_FAILED;
    if (memory != MAP_FAILED) {
      kept = *std::move(file);
      return memory;
    }
    std::fprintf(stderr, "muster: no flight recorder file: %s\n",
                 file.ok() ? std::strerror(errno)
                           : std::string(file.status().message()).c_str());
  }
  void* const memory = mmap(nullptr, sizeof(RingImage), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUSTER_CHECK(memory != MAP_FAILED) << std::strerror(errno);
  return memory;
}

int NumberFrom(const char* variable, int fallback) {
  const char* const text = std::getenv(variable);
  int number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) && number >= 0
             ? number
             : fallback;
}

uint64_t What(int group, const OperationSignature& signature) {
  return static_cast<uint64_t>(group) << 32 |
         static_cast<uint64_t>(signature.mixed) << 31 |
         static_cast<uint64_t>(signature.kind) << 24 |
         static_cast<uint64_t>(signature.dtype) << 16 |
         static_cast<uint64_t>(signature.reduce_op) << 8;
}

constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace

FlightRecorder& FlightRecorder::Process() {
  static FlightRecorder* const recorder = [] {
    Options options;
    options.rank = NumberFrom("RANK", 0);
    options.world_size =
        std::max(NumberFrom("WORLD_SIZE", 1), options.rank + 1);
    const char* const directory = std::getenv("MUSTER_FLIGHT_RECORDER_DIR");
    if (directory != nullptr) options.directory = directory;
    // This recorder is marked as closed at exit but never destroyed, because
    // threads may record until the process ends.
    auto* const made = new FlightRecorder(std::move(options));
    std::atexit([] { Process().image_->closed.store(1); });
    return made;
  }();
  return *recorder;
}

FlightRecorder::FlightRecorder(Options options)
    : options_(std::move(options)),
      image_(static_cast<RingImage*>(Mapped(options_, file_))) {
  image_->rank = options_.rank;
  image_->world_size = options_.world_size;
  image_->pid = getpid();
  image_->unix_offset = std::chrono::duration_cast<std::chrono::nanoseconds>(
                            std::chrono::system_clock::now().time_since_epoch())
                            .count() -
                        MonotonicNow().time_since_epoch().count();
  gethostname(image_->host, sizeof(image_->host) - 1);
  image_->next.store(1);
  // Write the magic string, which marks a file as a ring, after all other
  // fields: readers do not accept a file without it.
  std::memcpy(image_->magic, kRingMagic, sizeof(kRingMagic));
}

FlightRecorder::~FlightRecorder() {
  image_->closed.store(1);
  munmap(image_, sizeof(RingImage));
}

int FlightRecorder::AddGroup(const std::string& name, int rank, int size,
                             const std::vector<int>& members, uint64_t birth,
                             Instant now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::string failed = image_->failed_group;
  if (failed == name || absl::StartsWith(failed, absl::StrCat(name, "/"))) {
    image_->failed.store(0, std::memory_order_release);
  }
  // Choose an entry of the group table for the new group: the first unused
  // entry. If there is none, take the entry of a removed group, the oldest. If
  // no group was removed, take the last entry, which several groups share.
  constexpr int kFurther = kRingGroups - 1;
  int chosen = kFurther;
  for (int i = 0; i < kFurther; i++) {
    const uint64_t id = image_->groups[i].id.load();
    if (id == 0) {
      chosen = i;
      break;
    }
    if (removed_[i] &&
        (chosen == kFurther || id < image_->groups[chosen].id.load())) {
      chosen = i;
    }
  }
  RingGroup& group = image_->groups[chosen];
  const bool shared = chosen == kFurther;
  if (shared && group.id.load() != 0) return static_cast<int>(group.id.load());
  group.id.store(0, std::memory_order_release);
  removed_[chosen] = false;
  std::string encoded = shared ? "" : EncodeMembers(members);
  if (encoded.size() >= sizeof(group.members)) encoded.clear();
  PutText(shared ? "(further groups)" : name, group.name);
  PutText(encoded, group.members);
  group.rank = rank;
  group.size = size;
  group.birth = shared ? 0 : birth;
  group.made = now.time_since_epoch().count();
  group.id.store(++groups_made_, std::memory_order_release);
  return static_cast<int>(groups_made_);
}

void FlightRecorder::RemoveGroup(int group) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (int i = 0; i + 1 < kRingGroups; i++) {
    if (image_->groups[i].id.load() == static_cast<uint64_t>(group)) {
      removed_[i] = true;
    }
  }
}

uint64_t FlightRecorder::Write(int group, const OperationSignature& signature,
                               int64_t bytes, Instant queued, Instant started,
                               const BatchPeers& peers) {
  const uint64_t number = image_->next.fetch_add(1, kRelaxed);
  RingSlot& slot = image_->slots[number % kRingSlots];
  // Drop the new record if another thread is still writing an older record into
  // this slot. This can happen only if that thread was so slow that the whole
  // ring was filled meanwhile.
  if (slot.number.exchange(kBeingWritten, std::memory_order_acquire) ==
      kBeingWritten) {
    return number;
  }
  // The fields of the slot are stored with release order. So a reader that sees
  // a new value of a field also sees that `number` has changed to
  // kBeingWritten.
  constexpr auto kRelease = std::memory_order_release;
  slot.sequence.store(signature.sequence, kRelease);
  slot.what.store(What(group, signature), kRelease);
  slot.root.store(signature.root, kRelease);
  slot.count.store(signature.count, kRelease);
  slot.counts_hash.store(signature.counts_hash, kRelease);
  slot.bytes.store(bytes, kRelease);
  slot.queued.store(queued.time_since_epoch().count(), kRelease);
  slot.started.store(started.time_since_epoch().count(), kRelease);
  slot.ended.store(0, kRelease);
  if (signature.kind == OperationKind::kBatch) {
    const auto at = [&peers](size_t i) {
      return i < static_cast<size_t>(peers.count)
                 ? static_cast<uint64_t>(peers.ranks[i]) + 1
                 : 0;
    };
    for (size_t i = 0; i < peers.ranks.size(); i += 2) {
      slot.peers[i / 2].store(at(i) | at(i + 1) << 32, kRelease);
    }
  }
  slot.number.store(number, kRelease);
  return number;
}

uint64_t FlightRecorder::Queue(int group, const OperationSignature& signature,
                               int64_t bytes, Instant now,
                               const BatchPeers& peers) {
  return Write(group, signature, bytes, now, Instant(), peers);
}

uint64_t FlightRecorder::QueueAndStart(int group,
                                       const OperationSignature& signature,
                                       int64_t bytes, Instant now,
                                       const BatchPeers& peers) {
  return Write(group, signature, bytes, now, now, peers);
}

RingSlot* FlightRecorder::SlotOf(uint64_t number) {
  RingSlot& slot = image_->slots[number % kRingSlots];
  return slot.number.load(kRelaxed) == number ? &slot : nullptr;
}

void FlightRecorder::Start(uint64_t number, Instant now) {
  RingSlot* const slot = SlotOf(number);
  if (slot == nullptr) return;
  slot->started.store(now.time_since_epoch().count(), kRelaxed);
}

void FlightRecorder::End(uint64_t number, Instant now,
                         absl::StatusCode status) {
  RingSlot* const slot = SlotOf(number);
  if (slot == nullptr) return;
  slot->what.store(
      slot->what.load(kRelaxed) | (static_cast<uint64_t>(status) & 0xff),
      kRelaxed);
  slot->ended.store(now.time_since_epoch().count(), std::memory_order_release);
}

FlightLog FlightRecorder::Snapshot() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ReadRing(*image_);
}

absl::Status FlightRecorder::Fail(const std::string& group,
                                  const std::string& reason) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (image_->failed.load() == 0) {
    PutText(reason, image_->reason);
    PutText(group, image_->failed_group);
    image_->failed.store(1, std::memory_order_release);
  }
  return WriteJson();
}

absl::Status FlightRecorder::Dump(const std::string& request) {
  const std::lock_guard<std::mutex> lock(mutex_);
  image_->asked.store(0, std::memory_order_release);
  PutText(request, image_->request);
  image_->asked.store(1, std::memory_order_release);
  return WriteJson();
}

absl::Status FlightRecorder::WriteJson() const {
  if (options_.directory.empty()) return absl::OkStatus();
  const std::string text = FlightJson(ReadRing(*image_));
  const std::string path = PathOf(options_, ".json");
  const std::string temporary = absl::StrCat(path, ".", getpid());
  std::FILE* const file = std::fopen(temporary.c_str(), "we");
  if (file == nullptr) return Failure("cannot create", temporary, errno);
  const bool written =
      std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !written ||
      rename(temporary.c_str(), path.c_str()) != 0) {
    const int cause = errno;
    unlink(temporary.c_str());
    return Failure("cannot write", path, cause);
  }
  return absl::OkStatus();
}

absl::Status DumpAll(const std::string& request) {
  return FlightRecorder::Process().Dump(request);
}

}  // namespace muster
