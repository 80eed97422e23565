#include "rendezvous/wire/progress_wire.h"

#include <algorithm>

#include "proto/coordinator.pb.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/wire/bounds.h"

namespace muster::rendezvous {
namespace {

void ToWire(const WorkerProgress& progress, v1::WorkerProgress* wire) {
  wire->set_local_rank(progress.local_rank);
  if (progress.step.has_value()) wire->set_step(*progress.step);
  if (progress.loss.has_value()) wire->set_loss(*progress.loss);
  if (progress.tokens_per_s.has_value()) {
    wire->set_tokens_per_s(*progress.tokens_per_s);
  }
  wire->set_status(progress.status.substr(0, kMaxStatusBytes));
  wire->set_silent_for(progress.silent_for.count());
  wire->set_deadline(progress.deadline.count());
}

void FromWire(const v1::WorkerProgress& wire, BoundedReader* reader,
              WorkerProgress* progress) {
  reader->Integer("local_rank", wire.local_rank(), 0, kMaxSlots - 1,
                  &progress->local_rank);
  if (wire.has_step()) {
    reader->Integer64("step", wire.step(), 0, &progress->step.emplace());
  }
  // Any number is valid, since these are only displayed.
  if (wire.has_loss()) progress->loss = wire.loss();
  if (wire.has_tokens_per_s()) progress->tokens_per_s = wire.tokens_per_s();
  reader->Text("status", wire.status(), kMaxStatusBytes, TextKind::kWords,
               &progress->status);
  reader->Span("silent_for", wire.silent_for(), &progress->silent_for);
  reader->Span("deadline", wire.deadline(), &progress->deadline);
}

}  // namespace

void ToWire(const std::vector<WorkerProgress>& progress, WireProgress* wire) {
  const size_t count = std::min<size_t>(progress.size(), kMaxProgressPerReport);
  wire->Reserve(static_cast<int>(count));
  for (size_t i = 0; i < count; ++i) ToWire(progress[i], wire->Add());
}

void FromWire(const WireProgress& wire, BoundedReader* reader,
              std::vector<WorkerProgress>* progress) {
  if (!reader->Count("progress", wire.size(), kMaxProgressPerReport)) return;
  progress->resize(wire.size());
  for (int i = 0; i < wire.size(); ++i) {
    BoundedReader::Within within(reader, "progress", i);
    FromWire(wire[i], reader, &(*progress)[i]);
  }
}

}  // namespace muster::rendezvous
