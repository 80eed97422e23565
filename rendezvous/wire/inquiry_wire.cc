#include "rendezvous/wire/inquiry_wire.h"

#include <algorithm>
#include <string>

#include "proto/coordinator.pb.h"
#include "rendezvous/protocol/failure.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {
namespace {

void ToWire(const OutputLine& line, v1::OutputLine* wire) {
  wire->set_rank(line.rank);
  wire->set_round(line.round);
  wire->set_is_stderr(line.stream == OutputLine::Stream::kErr);
  wire->set_text(line.text.substr(0, kMaxOutputLineBytes));
  wire->set_position(line.position);
}

void FromWire(const v1::OutputLine& wire, BoundedReader* reader,
              OutputLine* line) {
  reader->Integer("rank", wire.rank(), 0, kAnyInt32, &line->rank);
  reader->Integer("round", wire.round(), 0, kAnyInt32, &line->round);
  line->stream =
      wire.is_stderr() ? OutputLine::Stream::kErr : OutputLine::Stream::kOut;
  reader->Text("text", wire.text(), kMaxOutputLineBytes, TextKind::kWords,
               &line->text);
  line->position = wire.position();
}

void ToWire(const RankStack& stack, v1::RankStack* wire) {
  wire->set_rank(stack.rank);
  wire->set_pid(stack.pid);
  const size_t count = std::min<size_t>(stack.lines.size(), kMaxStackLines);
  for (size_t i = 0; i < count; ++i) {
    wire->add_lines(stack.lines[i].substr(0, kMaxLineBytes));
  }
}

void FromWire(const v1::RankStack& wire, BoundedReader* reader,
              RankStack* stack) {
  reader->Integer("rank", wire.rank(), 0, kAnyInt32, &stack->rank);
  reader->Integer64("pid", wire.pid(), 0, &stack->pid);
  if (!reader->Count("lines", wire.lines_size(), kMaxStackLines)) return;
  stack->lines.resize(wire.lines_size());
  for (int i = 0; i < wire.lines_size(); ++i) {
    reader->Text("lines", wire.lines(i), kMaxLineBytes, TextKind::kWords,
                 &stack->lines[i]);
  }
}

}  // namespace

void ToWire(const Inquiry& inquiry, v1::Inquiry* wire) {
  wire->set_id(inquiry.id);
  wire->set_kind(inquiry.kind == Inquiry::Kind::kStacks ? v1::Inquiry::STACKS
                                                        : v1::Inquiry::LOGS);
  for (const int rank : inquiry.ranks) wire->add_ranks(rank);
  wire->set_lines(inquiry.lines);
  wire->set_since(inquiry.since.count());
  wire->set_follow(inquiry.follow == Inquiry::Follow::kYes);
  wire->set_pattern(inquiry.pattern);
  wire->set_native(inquiry.frames == Inquiry::Frames::kNative);
}

void FromWire(const v1::Inquiry& wire, BoundedReader* reader,
              Inquiry* inquiry) {
  inquiry->id = wire.id();
  switch (wire.kind()) {
    case v1::Inquiry::LOGS:
      inquiry->kind = Inquiry::Kind::kLogs;
      break;
    case v1::Inquiry::STACKS:
      inquiry->kind = Inquiry::Kind::kStacks;
      break;
    default:
      reader->Unknown("kind", wire.kind());
  }
  if (reader->Count("ranks", wire.ranks_size(), kMaxInquiredRanks)) {
    inquiry->ranks.resize(wire.ranks_size());
    for (int i = 0; i < wire.ranks_size(); ++i) {
      reader->Integer("ranks", wire.ranks(i), 0, kAnyInt32, &inquiry->ranks[i]);
    }
  }
  reader->Integer("lines", wire.lines(), -1, kMaxInquiredLines,
                  &inquiry->lines);
  reader->Span("since", std::max<int64_t>(wire.since(), 0), &inquiry->since);
  inquiry->follow =
      wire.follow() ? Inquiry::Follow::kYes : Inquiry::Follow::kNo;
  reader->Text("pattern", wire.pattern(), kMaxPatternBytes, TextKind::kWords,
               &inquiry->pattern);
  inquiry->frames = wire.native() ? Inquiry::Frames::kNative
                                  : Inquiry::Frames::kWithoutStopping;
}

void ToWire(const AnswerPart& part, v1::AnswerPart* wire) {
  const size_t lines = std::min(part.lines.size(), kMaxPartLines);
  for (size_t i = 0; i < lines; ++i) ToWire(part.lines[i], wire->add_lines());
  const size_t stacks = std::min(part.stacks.size(), kMaxPartStacks);
  for (size_t i = 0; i < stacks; ++i) {
    ToWire(part.stacks[i], wire->add_stacks());
  }
  const size_t notes = std::min(part.notes.size(), kMaxPartNotes);
  for (size_t i = 0; i < notes; ++i) {
    wire->add_notes(part.notes[i].substr(0, kMaxNoteBytes));
  }
  wire->set_is_last(part.is_last);
}

void FromWire(const v1::AnswerPart& wire, BoundedReader* reader,
              AnswerPart* part) {
  if (reader->Count("lines", wire.lines_size(), kMaxPartLines)) {
    part->lines.resize(wire.lines_size());
    for (int i = 0; i < wire.lines_size(); ++i) {
      BoundedReader::Within within(reader, "lines", i);
      FromWire(wire.lines(i), reader, &part->lines[i]);
    }
  }
  if (reader->Count("stacks", wire.stacks_size(), kMaxPartStacks)) {
    part->stacks.resize(wire.stacks_size());
    for (int i = 0; i < wire.stacks_size(); ++i) {
      BoundedReader::Within within(reader, "stacks", i);
      FromWire(wire.stacks(i), reader, &part->stacks[i]);
    }
  }
  if (reader->Count("notes", wire.notes_size(), kMaxPartNotes)) {
    part->notes.resize(wire.notes_size());
    for (int i = 0; i < wire.notes_size(); ++i) {
      reader->Text("notes", wire.notes(i), kMaxNoteBytes, TextKind::kWords,
                   &part->notes[i]);
    }
  }
  part->is_last = wire.is_last();
}

absl::Status FromWire(const v1::AnswerPart& wire, AnswerPart* part) {
  BoundedReader reader("answer");
  FromWire(wire, &reader, part);
  return reader.status();
}

}  // namespace muster::rendezvous
