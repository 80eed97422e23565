#include "trainer_sdk/gloo/gloo_slot.h"

#include <initializer_list>

namespace muster {
namespace {

// The use of a slot; the first number in its hash.
enum Purpose : uint64_t {
  kAnnouncement = 1,
  kPart,
  kPartNote,
  kLabel,
  kMessage
};

// FNV-1a over integers with a finalizer, so that close numbers give distant
// slots.
uint64_t Hash(std::initializer_list<uint64_t> numbers) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const uint64_t number : numbers) {
    hash = (hash ^ number) * 0x100000001b3u;
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93u;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

uint64_t AnnouncementSlot(uint64_t sequence) {
  return Hash({kAnnouncement, sequence});
}

uint64_t PartSlot(const OperationSignature& signature, uint64_t n,
                  int64_t bytes) {
  return Hash({kPart, signature.sequence, static_cast<uint64_t>(signature.kind),
               n, static_cast<uint64_t>(bytes)});
}

uint64_t PartNoteSlot(const OperationSignature& signature, uint64_t n) {
  return Hash({kPartNote, signature.sequence,
               static_cast<uint64_t>(signature.kind), n});
}

uint64_t LabelSlot(int tag) {
  return Hash({kLabel, static_cast<uint64_t>(tag)});
}

uint64_t MessageSlot(int tag, int64_t bytes) {
  return Hash(
      {kMessage, static_cast<uint64_t>(tag), static_cast<uint64_t>(bytes)});
}

}  // namespace muster
