#include "trainer_sdk/checkpoint/open_together.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/little_endian.h"
#include "trainer_sdk/checkpoint/checkpoint_files.h"
#include "trainer_sdk/checkpoint/checkpoint_folders.h"
#include "trainer_sdk/checkpoint/checkpoint_opening.h"
#include "trainer_sdk/checkpoint/exchange.h"
#include "trainer_sdk/checkpoint/message_reader.h"
#include "trainer_sdk/checkpoint/share_plan.h"
#include "trainer_sdk/files/disk.h"

namespace muster {
namespace {

// The names of the checkpoints that rank 0 sees in the directory, newest first.
Word Candidates(FileSystem& files, const std::string& directory) {
  Word word;
  const auto entries = ListCheckpoints(files, directory);
  if (!entries.ok()) return {entries.status(), ""};
  for (const CheckpointEntry& entry : *entries) {
    AppendString(entry.name, &word.bytes);
  }
  return word;
}

// This rank's finding about a candidate. Also returns its manifest.
Word Judge(FileSystem& files, const std::string& folder, ProcessGroup& group,
           absl::StatusOr<Manifest>* manifest) {
  Word word;
  *manifest = ReadManifest(files, folder);
  word.status = manifest->status();
  if (!word.status.ok()) return word;
  word.status = CheckpointOpening::Verify(files, folder, **manifest,
                                          group.rank(), group.size());
  AppendInteger<int64_t>((*manifest)->serial, &word.bytes);
  return word;
}

// Combines the ranks' findings.
absl::Status Finding(const std::vector<Word>& words) {
  if (absl::Status failure = FirstFailureOf(words); !failure.ok()) {
    return failure;
  }
  for (size_t rank = 1; rank < words.size(); ++rank) {
    if (words[rank].bytes == words[0].bytes) continue;
    return absl::DataLossError(
        absl::StrCat("rank ", rank, " sees another manifest than rank 0"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<CheckpointReader>> OpenNewestTogether(
    ProcessGroup& group, const std::string& directory, FileSystem* file_system,
    CallOptions call) {
  FileSystem& files = file_system != nullptr ? *file_system : Disk();
  Word mine;
  if (group.rank() == 0) mine = Candidates(files, directory);
  auto words = Exchange(group, mine, call);
  if (!words.ok()) return words.status();
  const Word& seen = words->front();
  if (!seen.status.ok()) return seen.status;
  std::vector<SkippedCheckpoint> skipped;
  for (MessageReader names(seen.bytes); !names.at_end();) {
    const std::string folder =
        absl::StrCat(directory, "/", std::string(names.Text()));
    absl::StatusOr<Manifest> manifest;
    const auto verdicts =
        Exchange(group, Judge(files, folder, group, &manifest), call);
    if (!verdicts.ok()) return verdicts.status();
    absl::Status status = Finding(*verdicts);
    if (status.ok()) {
      // The state is small, so each rank reads it; then they agree once more.
      auto reader =
          CheckpointOpening::Make(files, folder, *std::move(manifest), skipped);
      const auto opened = Exchange(group, {reader.status(), ""}, call);
      if (!opened.ok()) return opened.status();
      status = Finding(*opened);
      if (status.ok()) return reader;
    }
    if (!CheckpointOpening::IsBroken(status)) return status;
    skipped.push_back({folder, std::string(status.message())});
  }
  return CheckpointOpening::NoneIsWhole(directory, skipped);
}

absl::Status ReadTogether(ProcessGroup& group, const CheckpointReader& reader,
                          const std::vector<CheckpointSlice>& slices,
                          CallOptions call) {
  absl::Status status = CheckSlices(slices);
  Word mine = {status, status.ok() ? WriteRanges(RangesOf(slices)) : ""};
  auto words = Exchange(group, mine, call);
  if (!words.ok()) return words.status();
  if (status = FirstFailureOf(*words); !status.ok()) return status;
  std::vector<std::vector<SliceRange>> ranks;
  for (const Word& word : *words) {
    auto ranges = ReadRanges(word.bytes);
    if (!ranges.ok()) return ranges.status();
    ranks.push_back(*std::move(ranges));
  }
  // The ranks' own errors are reported first, since they are more specific than
  // missing elements.
  words = Exchange(group, {reader.Read(slices), ""}, call);
  if (!words.ok()) return words.status();
  if (status = FirstFailureOf(*words); !status.ok()) return status;
  const auto plan = PlanShares(ranks);
  if (!plan.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the ranks do not ask for all of ", reader.folder(), ": ",
                     plan.status().message()));
  }
  for (const CheckpointTensor& tensor : reader.tensors()) {
    if (std::find(plan->tensors.begin(), plan->tensors.end(), tensor) ==
        plan->tensors.end()) {
      return absl::FailedPreconditionError(
          absl::StrCat(reader.folder(), " has ", Describe(tensor),
                       ", which no rank asks for"));
    }
  }
  return absl::OkStatus();
}

}  // namespace muster
