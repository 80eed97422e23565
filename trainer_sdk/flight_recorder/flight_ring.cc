#include "trainer_sdk/flight_recorder/flight_ring.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "trainer_sdk/process_group/operation.h"

namespace muster {
namespace {

constexpr size_t kMaxMembers = 1000000;

// Returns the text in `field` up to the first 0 byte, with unprintable
// characters replaced by '?'.
template <size_t n>
std::string TextOf(const char (&field)[n]) {
  std::string text(field, strnlen(field, n));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  }
  return text;
}

double Seconds(int64_t monotonic, int64_t unix_offset) {
  if (monotonic == 0) return 0;
  // Unsigned arithmetic, because values in a malicious file could make a signed
  // sum overflow.
  const auto sum = static_cast<int64_t>(static_cast<uint64_t>(monotonic) +
                                        static_cast<uint64_t>(unix_offset));
  return static_cast<double>(sum) * 1e-9;
}

struct Fields {
  uint64_t number, sequence, what, counts_hash;
  int64_t root, count, bytes, queued, started, ended;
  std::array<uint64_t, 4> peers;
};

// Returns a copy of a slot; nullopt if the slot is unused or being written.
std::optional<Fields> Taken(const RingSlot& slot) {
  Fields fields;
  fields.number = slot.number.load(std::memory_order_acquire);
  if (fields.number == 0 || fields.number == kBeingWritten) {
    return std::nullopt;
  }
  fields.sequence = slot.sequence.load(std::memory_order_acquire);
  fields.what = slot.what.load(std::memory_order_acquire);
  fields.root = slot.root.load(std::memory_order_acquire);
  fields.count = slot.count.load(std::memory_order_acquire);
  fields.counts_hash = slot.counts_hash.load(std::memory_order_acquire);
  fields.bytes = slot.bytes.load(std::memory_order_acquire);
  fields.queued = slot.queued.load(std::memory_order_acquire);
  fields.started = slot.started.load(std::memory_order_acquire);
  fields.ended = slot.ended.load(std::memory_order_acquire);
  for (size_t i = 0; i < fields.peers.size(); i++) {
    fields.peers[i] = slot.peers[i].load(std::memory_order_acquire);
  }
  // Check that no writer reused the slot while it was copied. A writer changes
  // `number` first, and then stores the other fields with release order. The
  // loads above have acquire order. So if one of them returned a new value, the
  // load of `number` below returns the changed number.
  if (slot.number.load(std::memory_order_relaxed) != fields.number) {
    return std::nullopt;
  }
  return fields;
}

std::vector<int> PeersIn(const Fields& fields) {
  std::vector<int> peers;
  for (const uint64_t two : fields.peers) {
    for (const uint64_t one : {two & 0xffffffff, two >> 32}) {
      if (one != 0 && one <= kMaxMembers) {
        peers.push_back(static_cast<int>(one) - 1);
      }
    }
  }
  return peers;
}

}  // namespace

FlightLog ReadRing(const RingImage& image) {
  FlightLog log;
  log.rank = image.rank;
  log.world_size = image.world_size;
  log.host = TextOf(image.host);
  log.pid = image.pid;
  if (image.failed.load(std::memory_order_acquire) != 0) {
    log.reason = TextOf(image.reason);
  }
  if (image.asked.load(std::memory_order_acquire) != 0) {
    log.request = TextOf(image.request);
  }
  log.closed = image.closed.load(std::memory_order_acquire) != 0;
  std::map<uint64_t, const RingGroup*> groups;
  for (const RingGroup& group : image.groups) {
    const uint64_t id = group.id.load(std::memory_order_acquire);
    if (id != 0) groups[id] = &group;
  }
  // Key: a group's id; value: the group's index in log.groups.
  std::map<uint64_t, int> group_at;
  for (const auto& [id, group] : groups) {
    group_at[id] = static_cast<int>(log.groups.size());
    log.groups.push_back({TextOf(group->name), group->rank, group->size,
                          DecodeMembers(TextOf(group->members)), group->birth,
                          Seconds(group->made, image.unix_offset)});
    log.written = std::max(log.written, log.groups.back().made);
  }
  for (const RingSlot& slot : image.slots) {
    const std::optional<Fields> fields = Taken(slot);
    if (!fields) continue;
    const auto group = group_at.find(fields->what >> 32);
    const uint64_t kind = fields->what >> 24 & 0x7f;
    const uint64_t dtype = fields->what >> 16 & 0xff;
    const uint64_t op = fields->what >> 8 & 0xff;
    if (group == group_at.end() || kind >= kSignatureKinds ||
        dtype >= kDTypes || op >= kReduceOps) {
      continue;
    }
    FlightRecord record;
    record.number = fields->number;
    record.group = group->second;
    record.signature.sequence = fields->sequence;
    record.signature.kind = static_cast<OperationKind>(kind);
    record.signature.dtype = static_cast<DType>(dtype);
    record.signature.reduce_op = static_cast<ReduceOp>(op);
    record.signature.mixed = (fields->what >> 31 & 1) != 0;
    record.signature.root = static_cast<int32_t>(fields->root);
    record.signature.count = fields->count;
    record.signature.counts_hash = fields->counts_hash;
    if (record.signature.kind == OperationKind::kBatch) {
      record.peers = PeersIn(*fields);
    }
    record.bytes = fields->bytes;
    record.queued = Seconds(fields->queued, image.unix_offset);
    record.started = Seconds(fields->started, image.unix_offset);
    record.ended = Seconds(fields->ended, image.unix_offset);
    record.status = static_cast<absl::StatusCode>(fields->what & 0xff);
    log.written =
        std::max({log.written, record.queued, record.started, record.ended});
    log.records.push_back(record);
  }
  std::sort(log.records.begin(), log.records.end(),
            [](const FlightRecord& a, const FlightRecord& b) {
              return a.number < b.number;
            });
  return log;
}

absl::StatusOr<FlightLog> ParseRing(const std::string& bytes) {
  if (bytes.size() != sizeof(RingImage) ||
      std::memcmp(bytes.data(), kRingMagic, sizeof(kRingMagic)) != 0) {
    return absl::InvalidArgumentError("not a ring of the flight recorder");
  }
  // Copy the bytes to memory that is aligned for the atomic fields.
  std::unique_ptr<RingImage, decltype(&std::free)> image(
      static_cast<RingImage*>(std::aligned_alloc(
          alignof(std::max_align_t),
          (sizeof(RingImage) + alignof(std::max_align_t) - 1) /
              alignof(std::max_align_t) * alignof(std::max_align_t))),
      std::free);
  std::memcpy(static_cast<void*>(image.get()), bytes.data(), sizeof(RingImage));
  FlightLog log = ReadRing(*image);
  if (log.rank < 0 || log.world_size < 1 || log.rank >= log.world_size) {
    return absl::InvalidArgumentError(
        absl::StrCat("a ring of rank ", log.rank, " of ", log.world_size));
  }
  return log;
}

std::string EncodeMembers(const std::vector<int>& members) {
  std::string text;
  for (size_t i = 0; i < members.size();) {
    size_t end = i + 1;
    while (end < members.size() && members[end] == members[end - 1] + 1) end++;
    absl::StrAppend(&text, i == 0 ? "" : ",", members[i]);
    if (end - i > 1) absl::StrAppend(&text, "-", members[end - 1]);
    i = end;
  }
  return text;
}

std::vector<int> DecodeMembers(const std::string& text) {
  std::vector<int> members;
  if (text.empty()) return members;
  const std::vector<std::string> ranges = absl::StrSplit(text, ',');
  for (const std::string& range : ranges) {
    const std::vector<std::string> ends = absl::StrSplit(range, '-');
    int first = 0, last = 0;
    if (ends.size() > 2 || !absl::SimpleAtoi(ends.front(), &first) ||
        !absl::SimpleAtoi(ends.back(), &last) || first < 0 || last < first ||
        static_cast<size_t>(last - first) + members.size() >= kMaxMembers) {
      return {};
    }
    for (int rank = first; rank <= last; rank++) members.push_back(rank);
  }
  return members;
}

}  // namespace muster
