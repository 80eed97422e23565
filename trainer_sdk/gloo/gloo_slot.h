#ifndef MUSTER_TRAINER_SDK_GLOO_GLOO_SLOT_H_
#define MUSTER_TRAINER_SDK_GLOO_GLOO_SLOT_H_

#include <cstdint>

#include "trainer_sdk/process_group/signature.h"

namespace muster {

// Gloo matches a send with a receive of the same slot, and aborts the process
// if the send is longer than the receive. So a slot number here encodes
// everything on which both sides must agree. Ranks that disagree wait for each
// other until the group breaks. Pure.

// The slot of the announcement of collective number `sequence`.
uint64_t AnnouncementSlot(uint64_t sequence);
// The slots of the n-th part of a collective that one rank sends to another,
// and of the note with its length, if there is one.
uint64_t PartSlot(const OperationSignature& signature, uint64_t n,
                  int64_t bytes);
uint64_t PartNoteSlot(const OperationSignature& signature, uint64_t n);
// The slots of the label of the next point-to-point message with this tag, and
// of its data.
uint64_t LabelSlot(int tag);
uint64_t MessageSlot(int tag, int64_t bytes);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_GLOO_GLOO_SLOT_H_
