#ifndef MUSTER_TRAINER_SDK_GLOO_GLOO_SLOT_H_
#define MUSTER_TRAINER_SDK_GLOO_GLOO_SLOT_H_

#include <cstdint>

#include "trainer_sdk/process_group/signature.h"

namespace muster {

// Gloo brings a send and a receive together where both name the same slot, and
// ends the process where the send is longer than the receive. So a slot here
// stands for everything that both must agree on; ranks that disagree wait for
// each other until the group breaks. Pure.

// What is done under a collective's number.
uint64_t AnnouncementSlot(uint64_t sequence);
// The n-th part of a collective that one rank sends another, and its length,
// where that goes ahead.
uint64_t PartSlot(const OperationSignature& signature, uint64_t n,
                  int64_t bytes);
uint64_t PartNoteSlot(const OperationSignature& signature, uint64_t n);
// Point to point: the label of the next message with this tag, and its data.
uint64_t LabelSlot(int tag);
uint64_t MessageSlot(int tag, int64_t bytes);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_GLOO_GLOO_SLOT_H_
