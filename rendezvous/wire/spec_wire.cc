#include "rendezvous/wire/spec_wire.h"

#include "proto/coordinator.pb.h"

namespace muster::rendezvous {

void ToWire(const JobSpec& spec, v1::JobSpec* wire) {
  wire->set_min_nodes(spec.min_nodes);
  wire->set_max_nodes(spec.max_nodes);
  wire->set_max_restarts(spec.max_restarts);
  wire->set_join_timeout(spec.join_timeout.count());
  wire->set_last_call(spec.last_call.count());
  wire->set_wait_for_replacement(spec.wait_for_replacement.count());
  wire->set_shutdown_timeout(spec.shutdown_timeout.count());
  wire->set_keep_alive_interval(spec.keep_alive_interval.count());
  wire->set_keep_alive_misses(spec.keep_alive_misses);
  wire->set_reconnect_grace(spec.reconnect_grace.count());
  switch (spec.scale_up) {
    case ScaleUp::kNever:
      wire->set_scale_up(v1::JobSpec::NEVER);
      break;
    case ScaleUp::kRestart:
      wire->set_scale_up(v1::JobSpec::RESTART);
      break;
  }
  wire->set_scale_up_cool_down(spec.scale_up_cool_down.count());
  wire->set_preempt_grace(spec.preempt_grace.count());
  wire->set_rejoin_timeout(spec.rejoin_timeout.count());
  wire->set_command(spec.command);
  wire->set_mixed_nodes(spec.mixed_nodes);
  switch (spec.store_host) {
    case StoreHost::kAgent:
      wire->set_store_host(v1::JobSpec::AGENT);
      break;
    case StoreHost::kWorker:
      wire->set_store_host(v1::JobSpec::WORKER);
      break;
  }
}

void FromWire(const v1::JobSpec& wire, BoundedReader* reader, JobSpec* spec) {
  reader->Integer("min_nodes", wire.min_nodes(), 0, kAnyInt32,
                  &spec->min_nodes);
  reader->Integer("max_nodes", wire.max_nodes(), 0, kAnyInt32,
                  &spec->max_nodes);
  reader->Integer("max_restarts", wire.max_restarts(), 0, kAnyInt32,
                  &spec->max_restarts);
  reader->Span("join_timeout", wire.join_timeout(), &spec->join_timeout);
  reader->Span("last_call", wire.last_call(), &spec->last_call);
  reader->Span("wait_for_replacement", wire.wait_for_replacement(),
               &spec->wait_for_replacement);
  reader->Span("shutdown_timeout", wire.shutdown_timeout(),
               &spec->shutdown_timeout);
  reader->Span("keep_alive_interval", wire.keep_alive_interval(),
               &spec->keep_alive_interval);
  // The lease is the product of interval and misses; with both bounded, it
  // cannot overflow.
  reader->Integer("keep_alive_misses", wire.keep_alive_misses(), 0, 200,
                  &spec->keep_alive_misses);
  reader->Span("reconnect_grace", wire.reconnect_grace(),
               &spec->reconnect_grace);
  switch (wire.scale_up()) {
    case v1::JobSpec::NEVER:
      spec->scale_up = ScaleUp::kNever;
      break;
    case v1::JobSpec::RESTART:
      spec->scale_up = ScaleUp::kRestart;
      break;
    default:
      reader->Unknown("scale_up", wire.scale_up());
  }
  reader->Span("scale_up_cool_down", wire.scale_up_cool_down(),
               &spec->scale_up_cool_down);
  reader->Span("preempt_grace", wire.preempt_grace(), &spec->preempt_grace);
  reader->Span("rejoin_timeout", wire.rejoin_timeout(), &spec->rejoin_timeout);
  reader->Text("command", wire.command(), kMaxCommandBytes, TextKind::kName,
               &spec->command);
  spec->mixed_nodes = wire.mixed_nodes();
  switch (wire.store_host()) {
    case v1::JobSpec::AGENT:
      spec->store_host = StoreHost::kAgent;
      break;
    case v1::JobSpec::WORKER:
      spec->store_host = StoreHost::kWorker;
      break;
    default:
      reader->Unknown("store_host", wire.store_host());
  }
}

}  // namespace muster::rendezvous
