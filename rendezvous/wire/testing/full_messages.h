#ifndef MUSTER_RENDEZVOUS_WIRE_TESTING_FULL_MESSAGES_H_
#define MUSTER_RENDEZVOUS_WIRE_TESTING_FULL_MESSAGES_H_

#include <string>
#include <vector>

#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/job_status.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/wire/record_wire.h"

namespace google::protobuf {
class Message;
}

namespace muster::rendezvous {

// Each function returns a message for tests. Every field of the message differs
// from its default, so a test notices a field that ToWire or FromWire, the
// conversions to and from protobuf, omits. The one exception is the group rank
// of the only member in FullJob, which is 0.
// `seed`: the value of WorkerProgress::local_rank.
WorkerProgress FullProgress(int seed);
Failure FullFailure(int seed);
Report FullReport();
Directive FullDirective(DirectiveKind kind);
Inquiry FullInquiry();
AnswerPart FullAnswerPart();
JobStatus FullStatus();
KeptJob FullJob();

// Returns the unset fields of `message` and of its submessages as dotted paths.
std::vector<std::string> UnsetFields(const google::protobuf::Message& message);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_TESTING_FULL_MESSAGES_H_
