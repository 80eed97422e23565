#ifndef MUSTER_RENDEZVOUS_WIRE_TESTING_FULL_MESSAGES_H_
#define MUSTER_RENDEZVOUS_WIRE_TESTING_FULL_MESSAGES_H_

#include <string>
#include <vector>

#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/job_status.h"
#include "rendezvous/protocol/report.h"

namespace google::protobuf {
class Message;
}

namespace muster {

// For tests: plain values in which no field has its default, so that one which
// a translation forgets shows.
WorkerProgress FullProgress(int seed);  // its local rank
Failure FullFailure(int seed);
Report FullReport();
Directive FullDirective(DirectiveKind kind);
JobStatus FullStatus();

// The fields of `message`, and of the messages in it, that are not set, as
// dotted paths.
std::vector<std::string> UnsetFields(const google::protobuf::Message& message);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_WIRE_TESTING_FULL_MESSAGES_H_
