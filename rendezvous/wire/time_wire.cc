#include "rendezvous/wire/time_wire.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

#include "proto/coordinator.pb.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {
namespace {

// Upper limit of each time that a node reports. Such a time is summed up since
// the start of the node's agent, so real times are far below the limit.
constexpr Duration kMaxOfNode = std::chrono::hours(24 * 365 * 100);

// Maximum number of activities in a message. A later version of Muster may have
// more activities than this one.
constexpr int kMaxActivities = 64;

// Upper limit of each number of incidents, so that the sums of JobTime do not
// overflow.
constexpr int kMaxOfCause = 1'000'000;

void Time(const char* field, int64_t wire, BoundedReader* reader,
          Duration* time) {
  // Do not use BoundedReader::Span, which refuses a duration of more than one
  // year: an agent may run longer.
  int64_t nanoseconds = 0;
  reader->Integer64(field, wire, 0, &nanoseconds);
  *time = std::min(Duration(nanoseconds), kMaxOfNode);
}

double Seconds(double wire) {
  return wire > 0 && std::isfinite(wire) ? wire : 0;
}

using Sums = std::array<JobTime::Sum, kLossCauses>;
using WireSums = google::protobuf::RepeatedPtrField<v1::JobTime::Sum>;

void ToWire(const Sums& by_cause, WireSums* wire) {
  for (const JobTime::Sum& sum : by_cause) {
    v1::JobTime::Sum* const one = wire->Add();
    one->set_incidents(sum.incidents);
    one->set_pause_s(sum.pause_s);
  }
}

void FromWire(const WireSums& wire, BoundedReader* reader, Sums* by_cause) {
  if (!reader->Count("by_cause", wire.size(), kLossCauses)) return;
  for (int i = 0; i < wire.size(); ++i) {
    BoundedReader::Within within(reader, "by_cause", i);
    JobTime::Sum& sum = (*by_cause)[static_cast<size_t>(i)];
    reader->Integer("incidents", wire[i].incidents(), 0, kAnyInt32,
                    &sum.incidents);
    sum.incidents = std::min(sum.incidents, kMaxOfCause);
    sum.pause_s = Seconds(wire[i].pause_s());
  }
}

void FromWire(const v1::JobTime::HostLosses& wire, BoundedReader* reader,
              JobTime::HostLosses* losses) {
  reader->Text("host", wire.host(), kMaxNameBytes, TextKind::kName,
               &losses->host);
  FromWire(wire.by_cause(), reader, &losses->by_cause);
}

}  // namespace

void ToWire(const NodeTime& time, v1::NodeTime* wire) {
  for (const Duration spent : time.ledger.spent) wire->add_spent(spent.count());
  for (const RoundLoss& loss : time.losses) {
    v1::NodeTime::Loss* const one = wire->add_losses();
    one->set_round(loss.round);
    one->set_lost(loss.lost.count());
  }
}

void FromWire(const v1::NodeTime& wire, BoundedReader* reader, NodeTime* time) {
  if (reader->Count("spent", wire.spent_size(), kMaxActivities)) {
    const size_t known = std::min<size_t>(wire.spent_size(), kActivities);
    for (size_t i = 0; i < known; ++i) {
      Time("spent", wire.spent(static_cast<int>(i)), reader,
           &time->ledger.spent[i]);
    }
  }
  if (!reader->Count("losses", wire.losses_size(), kMaxRoundLosses)) return;
  time->losses.resize(wire.losses_size());
  for (int i = 0; i < wire.losses_size(); ++i) {
    BoundedReader::Within within(reader, "losses", i);
    reader->Integer("round", wire.losses(i).round(), 0, kAnyInt32,
                    &time->losses[i].round);
    Time("lost", wire.losses(i).lost(), reader, &time->losses[i].lost);
  }
}

void ToWire(const Incident& incident, v1::JobTime_Incident* wire) {
  wire->set_round(incident.round);
  wire->set_cause(static_cast<int>(incident.cause));
  wire->set_host(incident.host);
  wire->set_why(incident.why.substr(0, kMaxReasonBytes));
  wire->set_nodes(incident.nodes);
  wire->set_lost_s(incident.lost_s);
}

void FromWire(const v1::JobTime_Incident& wire, BoundedReader* reader,
              Incident* incident) {
  reader->Integer("round", wire.round(), 0, kAnyInt32, &incident->round);
  int cause = 0;
  reader->Integer("cause", wire.cause(), 0, kLossCauses - 1, &cause);
  incident->cause = static_cast<LossCause>(cause);
  reader->Text("host", wire.host(), kMaxNameBytes, TextKind::kName,
               &incident->host);
  reader->Text("why", wire.why(), kMaxReasonBytes, TextKind::kWords,
               &incident->why);
  reader->Integer("nodes", wire.nodes(), 0, kAnyInt32, &incident->nodes);
  incident->lost_s = Seconds(wire.lost_s());
}

void ToWire(const JobTime& time, v1::JobTime* wire) {
  for (const double spent : time.spent_s) wire->add_spent_s(spent);
  ToWire(time.by_cause, wire->mutable_by_cause());
  for (const JobTime::HostLosses& losses : time.by_host) {
    v1::JobTime::HostLosses* const one = wire->add_by_host();
    one->set_host(losses.host);
    ToWire(losses.by_cause, one->mutable_by_cause());
  }
  for (const Incident& incident : time.newest) {
    ToWire(incident, wire->add_newest());
  }
}

void FromWire(const v1::JobTime& wire, BoundedReader* reader, JobTime* time) {
  if (reader->Count("spent_s", wire.spent_s_size(), kMaxActivities)) {
    const size_t known = std::min<size_t>(wire.spent_s_size(), kActivities);
    for (size_t i = 0; i < known; ++i) {
      time->spent_s[i] = Seconds(wire.spent_s(static_cast<int>(i)));
    }
  }
  FromWire(wire.by_cause(), reader, &time->by_cause);
  if (reader->Count("by_host", wire.by_host_size(), kMaxLossHosts)) {
    time->by_host.resize(wire.by_host_size());
    for (int i = 0; i < wire.by_host_size(); ++i) {
      BoundedReader::Within within(reader, "by_host", i);
      FromWire(wire.by_host(i), reader, &time->by_host[i]);
    }
  }
  if (!reader->Count("newest", wire.newest_size(), kMaxIncidents)) return;
  time->newest.resize(wire.newest_size());
  for (int i = 0; i < wire.newest_size(); ++i) {
    BoundedReader::Within within(reader, "newest", i);
    FromWire(wire.newest(i), reader, &time->newest[i]);
  }
}

}  // namespace muster::rendezvous
