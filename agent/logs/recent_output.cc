#include "agent/logs/recent_output.h"

#include <re2/re2.h>

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "agent/logs/terminal_text.h"
#include "base/monotonic_clock.h"

namespace muster::agent {
namespace {

using rendezvous::AnswerPart;
using rendezvous::Inquiry;
using rendezvous::OutputLine;

constexpr size_t kMaxBlockBytes = 16 << 10;
// The assumed memory in bytes that a Block (a piece of output) uses in addition
// to its text.
constexpr size_t kBlockOverhead = 128;
// Interval at which a reader that follows the output gets a progress bar's
// newest state.
constexpr Duration kStateInterval = std::chrono::seconds(1);
constexpr int64_t kMaxPatternMemory = 1 << 20;

size_t MemoryOf(const RecentOutput::Block& block) {
  return block.bytes.size() + kBlockOverhead;
}

}  // namespace

void RecentOutput::Begin() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++open_streams_;
}

void RecentOutput::Append(const Worker& worker, Stream stream,
                          std::string_view bytes, Instant now) {
  std::lock_guard<std::mutex> lock(mutex_);
  sums_.written += static_cast<int64_t>(bytes.size());
  Kept& kept = kept_[worker.local_rank];
  if (bytes.size() > kMaxBytesPerWorker) {
    const size_t skipped = bytes.size() - kMaxBytesPerWorker;
    kept.offset += skipped;
    // Keep only the last kMaxBytesPerWorker bytes of `bytes`, and skip the
    // bytes before them. Readers look for skipped bytes only just before the
    // oldest block, so all older blocks are removed.
    kept.blocks.clear();
    kept.bytes = 0;
    bytes.remove_prefix(skipped);
  }
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kMaxBlockBytes);
    bytes.remove_prefix(piece.size());
    AppendLocked(worker, stream, piece, now, Ends::kNo);
  }
  changed_.notify_all();
}

void RecentOutput::End(const Worker& worker, Stream stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  --open_streams_;
  // The end of the stream is recorded as an empty block, but only if other
  // blocks of this local rank are kept.
  const auto kept = kept_.find(worker.local_rank);
  if (kept != kept_.end() && !kept->second.blocks.empty()) {
    AppendLocked(worker, stream, "", kept->second.blocks.back().time,
                 Ends::kYes);
  }
  changed_.notify_all();
}

void RecentOutput::AppendLocked(const Worker& worker, Stream stream,
                                std::string_view bytes, Instant now,
                                Ends ends) {
  Kept& kept = kept_[worker.local_rank];
  Block block{.number = next_number_++,
              .offset = kept.offset,
              .worker = worker,
              .stream = stream,
              .time = now,
              .bytes = std::string(bytes),
              .ends = ends == Ends::kYes};
  kept.offset += bytes.size();
  kept.bytes += MemoryOf(block);
  kept.blocks.push_back(std::move(block));
  while (kept.bytes > kMaxBytesPerWorker && kept.blocks.size() > 1) {
    kept.bytes -= MemoryOf(kept.blocks.front());
    kept.blocks.pop_front();
  }
  ++version_;
}

void RecentOutput::WaitUntilEnded(Instant deadline) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_until(lock, ToSteady(deadline),
                      [this] { return open_streams_ == 0; });
}

void RecentOutput::Close() {
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  ++version_;
  changed_.notify_all();
}

std::vector<RecentOutput::Block> RecentOutput::Read(int local_rank,
                                                    uint64_t from) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Block> blocks;
  const auto found = kept_.find(local_rank);
  if (found == kept_.end()) return blocks;
  // The reader has read up to the offset `from`. The empty block that marks the
  // end of a stream may have the same offset, so the reader may get this block
  // twice, which does no harm.
  for (auto block = found->second.blocks.rbegin();
       block != found->second.blocks.rend() && block->offset >= from; ++block) {
    blocks.push_back(*block);
  }
  std::reverse(blocks.begin(), blocks.end());
  return blocks;
}

std::set<int> RecentOutput::local_ranks() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::set<int> ranks;
  for (const auto& [local_rank, kept] : kept_) ranks.insert(local_rank);
  return ranks;
}

RecentOutput::Sums RecentOutput::sums() {
  std::lock_guard<std::mutex> lock(mutex_);
  return sums_;
}

void RecentOutput::NoteSkipped(int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  sums_.skipped += bytes;
}

uint64_t RecentOutput::version() {
  std::lock_guard<std::mutex> lock(mutex_);
  return version_;
}

bool RecentOutput::closed() {
  std::lock_guard<std::mutex> lock(mutex_);
  return closed_;
}

void RecentOutput::WaitForMore(uint64_t version, Instant deadline) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_until(lock, ToSteady(deadline),
                      [&] { return closed_ || version_ != version; });
}

void RecentOutput::Wake() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++version_;
  changed_.notify_all();
}

OutputReader::OutputReader(std::shared_ptr<RecentOutput> output,
                           const Inquiry& question, Instant now)
    : output_(std::move(output)), question_(question), begin_(now) {
  if (question_.pattern.empty()) return;
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxPatternMemory);
  pattern_ = std::make_unique<RE2>(question_.pattern, options);
}

OutputReader::~OutputReader() = default;

bool OutputReader::Wants(int rank) const {
  return question_.ranks.empty() ||
         std::ranges::find(question_.ranks, rank) != question_.ranks.end();
}

void OutputReader::Add(const RecentOutput::Block& block, size_t index,
                       Line line, std::vector<Found>* found) const {
  if (!Wants(block.worker.rank)) return;
  if (pattern_ != nullptr &&
      !(pattern_->ok() &&
        RE2::PartialMatch(ForTerminal(line.text), *pattern_))) {
    return;
  }
  found->push_back({.number = block.number,
                    .time = block.time,
                    .line = {.rank = block.worker.rank,
                             .round = block.worker.round,
                             .stream = block.stream,
                             .text = std::move(line.text),
                             .position = block.offset + index + 1}});
}

void OutputReader::AddUnfinished(StreamState& stream, Instant now,
                                 std::vector<Found>* found) const {
  const bool is_last_call = first_ && question_.follow == Inquiry::Follow::kNo;
  if (!is_last_call && now - stream.newest.time < kUnfinishedAfter) return;
  auto line = stream.lines.Finish();
  if (!line.has_value()) return;
  Add(stream.newest, stream.ended++, *std::move(line), found);
  stream.is_rest = true;
}

void OutputReader::ReadSource(int local_rank, Instant now,
                              std::vector<Found>* found,
                              std::vector<std::string>* notes) {
  Source& source = sources_[local_rank];
  std::vector<RecentOutput::Block> blocks =
      output_->Read(local_rank, source.next);
  if (blocks.empty()) {
    for (auto& [stream, state] : source.streams) {
      AddUnfinished(state, now, found);
    }
    return;
  }
  const RecentOutput::Worker& worker = blocks.front().worker;
  uint64_t skipped = blocks.front().offset - source.next;
  if (skipped > 0) {
    // Drop the unfinished lines, because the rest of these lines is no longer
    // kept. Count their bytes as skipped, too.
    for (const auto& [stream, state] : source.streams) {
      skipped += state.lines.pending_bytes();
    }
    source.streams.clear();
    if (!first_ && Wants(worker.rank)) {
      output_->NoteSkipped(static_cast<int64_t>(skipped));
      notes->push_back(absl::StrCat(
          "rank ", worker.rank, ": ", skipped,
          " bytes were skipped, because they came faster than they were read"));
    }
  }
  const size_t before = found->size();
  for (RecentOutput::Block& block : blocks) {
    StreamState& state = source.streams[block.stream];
    const std::string bytes = std::move(block.bytes);
    source.next = block.offset + bytes.size();
    state.newest = block;
    state.ended = 0;
    for (Line& line : state.lines.Append(bytes)) {
      const size_t index = state.ended++;
      const bool is_end_alone = state.is_rest && line.text.empty();
      state.is_rest = false;
      if (is_end_alone) continue;
      if (line.end == LineEnd::kOverwritten) {
        if (first_ || now - state.shown_state < kStateInterval) continue;
        state.shown_state = now;
      }
      Add(state.newest, index, std::move(line), found);
    }
    if (!block.ends) continue;
    if (auto line = state.lines.Finish()) {
      Add(state.newest, 0, *std::move(line), found);
    }
  }
  for (auto& [stream, state] : source.streams) {
    AddUnfinished(state, now, found);
  }
  const size_t lines = found->size() - before;
  const bool wants_more =
      question_.lines < 0 || lines < static_cast<size_t>(question_.lines);
  const bool reaches_back = question_.since == Duration::zero() ||
                            blocks.front().time > begin_ - question_.since;
  if (first_ && skipped > 0 && wants_more && reaches_back &&
      Wants(worker.rank)) {
    notes->push_back(absl::StrCat(
        "rank ", worker.rank, ": older output, ", skipped,
        " bytes, is not in the node's memory, which has the newest ",
        RecentOutput::kMaxBytesPerWorker >> 10,
        " KiB of each worker; files of --log-dir have all of it"));
  }
}

// Removes from `found` the lines that are too old for the inquiry
// (question_.since), and all but the newest question_.lines lines of each rank.
// `found` is in the order of arrival.
void OutputReader::KeepNewest(std::vector<Found>* found) const {
  if (question_.since > Duration::zero()) {
    std::erase_if(*found, [&](const Found& one) {
      return one.time < begin_ - question_.since;
    });
  }
  if (question_.lines < 0) return;
  std::map<int, int> kept;  // number of kept lines by rank
  std::vector<Found> newest;
  for (auto one = found->rbegin(); one != found->rend(); ++one) {
    if (kept[one->line.rank]++ < question_.lines) {
      newest.push_back(std::move(*one));
    }
  }
  std::reverse(newest.begin(), newest.end());
  *found = std::move(newest);
}

AnswerPart OutputReader::Take(Instant now) {
  AnswerPart part;
  if (first_ && pattern_ != nullptr && !pattern_->ok()) {
    part.notes.push_back(absl::StrCat("the pattern is no regular expression: ",
                                      pattern_->error()));
  }
  std::vector<Found> found;
  for (const int local_rank : output_->local_ranks()) {
    ReadSource(local_rank, now, &found, &part.notes);
  }
  std::ranges::stable_sort(found, {}, &Found::number);
  if (first_) KeepNewest(&found);
  first_ = false;
  part.lines.reserve(found.size());
  for (Found& one : found) part.lines.push_back(std::move(one.line));
  return part;
}

std::vector<AnswerPart> SplitAnswer(AnswerPart part) {
  std::vector<AnswerPart> parts(1);
  size_t bytes = 0;
  const auto begin_part = [&](size_t count, size_t most, size_t size) {
    bytes += size;
    if (count < most && bytes <= rendezvous::kMaxPartBytes / 2) return;
    parts.emplace_back();
    bytes = size;
  };
  for (std::string& note : part.notes) {
    begin_part(parts.back().notes.size(), rendezvous::kMaxPartNotes,
               note.size());
    parts.back().notes.push_back(std::move(note));
  }
  for (OutputLine& line : part.lines) {
    begin_part(parts.back().lines.size(), rendezvous::kMaxPartLines,
               line.text.size());
    parts.back().lines.push_back(std::move(line));
  }
  for (rendezvous::RankStack& stack : part.stacks) {
    size_t size = 0;
    for (const std::string& line : stack.lines) size += line.size();
    begin_part(parts.back().stacks.size(), rendezvous::kMaxPartStacks, size);
    parts.back().stacks.push_back(std::move(stack));
  }
  parts.back().is_last = part.is_last;
  return parts;
}

}  // namespace muster::agent
