#ifndef MUSTER_RENDEZVOUS_WIRE_INQUIRY_WIRE_H_
#define MUSTER_RENDEZVOUS_WIRE_INQUIRY_WIRE_H_

#include "absl/status/status.h"
#include "rendezvous/protocol/inquiry.h"
#include "rendezvous/wire/bounded_reader.h"

namespace muster::v1 {
class AnswerPart;
class Inquiry;
}  // namespace muster::v1

namespace muster::rendezvous {

// Converts an Inquiry (a question of an operator to nodes, such as `launch
// logs`) to and from protobuf.
void ToWire(const Inquiry& inquiry, v1::Inquiry* wire);
void FromWire(const v1::Inquiry& wire, BoundedReader* reader, Inquiry* inquiry);

// Converts a part of a node's answer to an Inquiry to and from protobuf. ToWire
// omits lines, stacks and notes beyond the limits of protocol/inquiry.h.
void ToWire(const AnswerPart& part, v1::AnswerPart* wire);
void FromWire(const v1::AnswerPart& wire, BoundedReader* reader,
              AnswerPart* part);
// Reads a part of an answer. InvalidArgument names the field that is out of its
// bounds.
absl::Status FromWire(const v1::AnswerPart& wire, AnswerPart* part);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_INQUIRY_WIRE_H_
