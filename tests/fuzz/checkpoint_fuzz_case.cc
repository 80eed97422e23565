// Fuzzes the readers of checkpoint files. Edits (edited_bytes.h) one of three
// valid inputs: a safetensors header, a checkpoint's manifest (its checksum is
// corrected afterwards), or a rank's list of slices. Aborts if an accepted
// input changes when it is written again, or if its tensors overlap or leave
// gaps.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/checksum.h"
#include "tests/fuzz/edited_bytes.h"
#include "tests/fuzz/fuzz_case.h"
#include "trainer_sdk/checkpoint/manifest.h"
#include "trainer_sdk/checkpoint/share_plan.h"
#include "trainer_sdk/safetensors/safetensors_header.h"

namespace muster {
namespace {

constexpr int64_t kDataBytes = 52;
constexpr std::string_view kHeaders[] = {
    R"({"__metadata__":{"format":"pt","k":""},)"
    R"("a":{"dtype":"F64","shape":[2,2],"data_offsets":[0,32]},)"
    R"("b.c":{"dtype":"I8","shape":[],"data_offsets":[48,49]},)"
    R"("d":{"dtype":"F32","shape":[4],"data_offsets":[32,48]},)"
    R"("e":{"dtype":"F4","shape":[3,2],"data_offsets":[49,52]},)"
    R"("f":{"dtype":"U16","shape":[0,9],"data_offsets":[52,52]}}  )",
    "{}",
};

Manifest SoundManifest() {
  Manifest manifest = {.step = 7, .serial = 3, .ranks = 2};
  manifest.files = {{"rank-00000.safetensors", 100, 17},
                    {"rank-00001.safetensors", 90, ~uint64_t{0}},
                    {"state", 0, 1}};
  manifest.tensors = {{{"a", DType::kFloat32, {3, 2}}, {{0, 4, 0}, {4, 6, 1}}},
                      {{"b", DType::kInt64, {}}, {{0, 1, 1}}},
                      {{"c", DType::kInt8, {0}}, {}}};
  return manifest;
}

void ReadHeader(std::string_view text) {
  const auto header = ParseSafetensorsHeader(text, kDataBytes);
  if (!header.ok()) {
    MUSTER_CHECK(!header.status().message().empty());
    MUSTER_CHECK(header.status().message().size() < 1000);
    return;
  }
  int64_t filled = 0;
  std::set<std::string> names;
  for (const SafetensorsTensor& tensor : header->tensors) {
    MUSTER_CHECK(tensor.begin == filled) << tensor.name;
    const auto bytes = BytesOf(tensor.type, tensor.shape);
    MUSTER_CHECK(bytes.ok() && *bytes == tensor.bytes()) << tensor.name;
    MUSTER_CHECK(names.insert(tensor.name).second) << tensor.name;
    filled = tensor.end;
  }
  MUSTER_CHECK(filled == kDataBytes);
  const auto written = WriteSafetensorsHeader(*header);
  MUSTER_CHECK(written.ok()) << written.status();
  const auto again = ParseSafetensorsHeader(
      std::string_view(*written).substr(kSafetensorsLengthBytes), kDataBytes);
  MUSTER_CHECK(again.ok()) << again.status();
  MUSTER_CHECK(*again == *header);
}

// Applies the edits to a valid manifest, except to its first line, which
// contains the checksum. Then corrects the checksum and parses the manifest.
void ReadManifestWith(std::string_view edits) {
  const std::string sound = WriteManifest(SoundManifest());
  const std::string rest =
      EditedBytes(std::string_view(sound).substr(sound.find('\n') + 1), edits);
  Checksum checksum;
  checksum.Add(rest);
  const auto manifest = ParseManifest(absl::StrCat(
      "{\"xxh3\":\"", ChecksumText(checksum.value()), "\",\n", rest));
  if (!manifest.ok()) {
    MUSTER_CHECK(!manifest.status().message().empty());
    return;
  }
  const auto again = ParseManifest(WriteManifest(*manifest));
  MUSTER_CHECK(again.ok()) << again.status();
  MUSTER_CHECK(*again == *manifest);
}

void ReadSlicesWith(std::string_view edits) {
  const std::string sound = WriteRanges({{{"a", DType::kFloat32, {3, 2}}, 0, 4},
                                         {{"bc", DType::kInt8, {}}, 0, 1}});
  const std::string bytes = EditedBytes(sound, edits);
  const auto ranges = ReadRanges(bytes);
  if (!ranges.ok()) return;
  MUSTER_CHECK(WriteRanges(*ranges) == bytes);
}

}  // namespace

void RunFuzzCase(std::string_view input) {
  if (input.empty()) return;
  const int kind = static_cast<unsigned char>(input[0]) % 4;
  input.remove_prefix(1);
  if (kind < 2) return ReadHeader(EditedBytes(kHeaders[kind], input));
  if (kind == 2) return ReadManifestWith(input);
  ReadSlicesWith(input);
}

}  // namespace muster
