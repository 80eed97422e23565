#include "trainer_sdk/checkpoint/manifest.h"

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/checksum.h"
#include "trainer_sdk/checkpoint/share_plan.h"

namespace muster {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr char kFormat[] = "muster-checkpoint";
constexpr char kBeforeChecksum[] = "{\"xxh3\":\"";
constexpr char kAfterChecksum[] = "\",\n";

std::string FirstLine(std::string_view rest) {
  Checksum checksum;
  checksum.Add(rest);
  return absl::StrCat(kBeforeChecksum, ChecksumText(checksum.value()),
                      kAfterChecksum);
}

std::optional<DType> DTypeNamed(const std::string& name) {
  for (int i = 0; i < kDTypes; ++i) {
    if (name == Name(static_cast<DType>(i))) return static_cast<DType>(i);
  }
  return std::nullopt;
}

// Thrown while a manifest is parsed, if a field does not have the expected
// form.
class Malformed : public std::exception {};

const Json& Field(const Json& object, const char* name) {
  if (!object.is_object()) throw Malformed();
  const auto at = object.find(name);
  if (at == object.end()) throw Malformed();
  return *at;
}

int64_t Number(const Json& json) {
  if (!json.is_number_unsigned()) throw Malformed();
  const auto value = json.get<uint64_t>();
  if (value > std::numeric_limits<int64_t>::max()) throw Malformed();
  return static_cast<int64_t>(value);
}

const std::string& Text(const Json& json) {
  if (!json.is_string()) throw Malformed();
  return json.get_ref<const std::string&>();
}

const Json& List(const Json& json) {
  if (!json.is_array()) throw Malformed();
  return json;
}

uint64_t ReadChecksum(const std::string& text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (text.size() != 16) throw Malformed();
  uint64_t value = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) throw Malformed();
    value = value * 16 + digit;
  }
  return value;
}

Manifest Read(const Json& json) {
  Manifest manifest;
  manifest.step = Number(Field(json, "step"));
  manifest.serial = Number(Field(json, "serial"));
  manifest.ranks = Number(Field(json, "ranks"));
  for (const Json& file : List(Field(json, "files"))) {
    manifest.files.push_back(
        {.name = Text(Field(file, "name")),
         .bytes = Number(Field(file, "bytes")),
         .checksum = ReadChecksum(Text(Field(file, "xxh3")))});
  }
  for (const Json& entry : List(Field(json, "tensors"))) {
    StoredTensor stored;
    stored.tensor.name = Text(Field(entry, "name"));
    const auto dtype = DTypeNamed(Text(Field(entry, "dtype")));
    if (!dtype) throw Malformed();
    stored.tensor.dtype = *dtype;
    for (const Json& size : List(Field(entry, "shape"))) {
      stored.tensor.shape.push_back(Number(size));
    }
    for (const Json& part : List(Field(entry, "parts"))) {
      if (List(part).size() != 3) throw Malformed();
      const int64_t file = Number(part[2]);
      if (file >= static_cast<int64_t>(manifest.files.size())) {
        throw Malformed();
      }
      stored.parts.push_back(
          {Number(part[0]), Number(part[1]), static_cast<int>(file)});
    }
    manifest.tensors.push_back(std::move(stored));
  }
  return manifest;
}

absl::Status Wrong(const std::string& what) {
  return absl::DataLossError(absl::StrCat("the manifest ", what));
}

absl::Status CheckFiles(const Manifest& manifest) {
  std::set<std::string> names;
  for (const FileRecord& file : manifest.files) {
    if (file.name.empty() || file.name.front() == '.' ||
        file.name.find_first_of(std::string_view("/\0", 2)) !=
            std::string::npos ||
        !names.insert(file.name).second) {
      return Wrong("has a file with no name of its own in the folder");
    }
  }
  if (!names.contains(kStateFile)) return Wrong("has no state");
  return absl::OkStatus();
}

absl::Status CheckTensors(const Manifest& manifest) {
  const StoredTensor* before = nullptr;
  for (const StoredTensor& stored : manifest.tensors) {
    if (absl::Status wrong = CheckRange({stored.tensor, 0, 0}); !wrong.ok()) {
      return Wrong(absl::StrCat("has a ", wrong.message()));
    }
    if (before != nullptr && before->tensor.name >= stored.tensor.name) {
      return Wrong("has tensors out of order");
    }
    before = &stored;
    int64_t filled = 0;
    for (const TensorPart& part : stored.parts) {
      if (part.begin != filled || part.end <= part.begin) {
        return Wrong(absl::StrCat("has parts of ", Describe(stored.tensor),
                                  " that do not follow each other"));
      }
      filled = part.end;
    }
    if (filled != stored.tensor.count()) {
      return Wrong(absl::StrCat("lacks the end of ", Describe(stored.tensor)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<StoredTensor> StoredTensors(const SharePlan& plan,
                                        std::vector<FileRecord>* files) {
  std::map<std::string, std::map<int64_t, TensorPart>> parts;
  std::vector<FileRecord> written;
  for (size_t rank = 0; rank < plan.shares.size(); ++rank) {
    if (plan.shares[rank].empty()) continue;
    const int file = static_cast<int>(written.size());
    written.push_back((*files)[rank]);
    for (const SliceRange& range : plan.shares[rank]) {
      parts[range.tensor.name][range.begin] = {range.begin, range.end, file};
    }
  }
  *files = std::move(written);
  std::vector<StoredTensor> stored;
  for (const CheckpointTensor& tensor : plan.tensors) {
    StoredTensor entry = {.tensor = tensor};
    for (const auto& [begin, part] : parts[tensor.name]) {
      entry.parts.push_back(part);
    }
    stored.push_back(std::move(entry));
  }
  return stored;
}

std::string WriteManifest(const Manifest& manifest) {
  Json json = {{"format", kFormat},       {"version", kVersion},
               {"step", manifest.step},   {"serial", manifest.serial},
               {"ranks", manifest.ranks}, {"files", Json::array()},
               {"tensors", Json::array()}};
  for (const FileRecord& file : manifest.files) {
    json["files"].push_back({{"name", file.name},
                             {"bytes", file.bytes},
                             {"xxh3", ChecksumText(file.checksum)}});
  }
  for (const StoredTensor& stored : manifest.tensors) {
    Json parts = Json::array();
    for (const TensorPart& part : stored.parts) {
      parts.push_back(Json::array({part.begin, part.end, part.file}));
    }
    json["tensors"].push_back({{"name", stored.tensor.name},
                               {"dtype", Name(stored.tensor.dtype)},
                               {"shape", stored.tensor.shape},
                               {"parts", std::move(parts)}});
  }
  const std::string rest = absl::StrCat("\"checkpoint\":", json.dump(), "}\n");
  return FirstLine(rest) + rest;
}

absl::StatusOr<Manifest> ParseManifest(std::string_view bytes) {
  const size_t line = bytes.find('\n');
  if (line == std::string_view::npos) return Wrong("is cut off");
  const std::string_view rest = bytes.substr(line + 1);
  if (bytes.substr(0, line + 1) != std::string_view(FirstLine(rest))) {
    return Wrong("has another checksum than its first line says");
  }
  const Json json = Json::parse(bytes.begin(), bytes.end(), nullptr,
                                /*allow_exceptions=*/false);
  try {
    const Json& body = Field(json, "checkpoint");
    if (Text(Field(body, "format")) != kFormat) throw Malformed();
    const int64_t version = Number(Field(body, "version"));
    if (version != kVersion) {
      return absl::UnimplementedError(
          absl::StrCat("the manifest is of version ", version,
                       "; this reads version ", kVersion));
    }
    Manifest manifest = Read(body);
    absl::Status wrong = CheckFiles(manifest);
    if (wrong.ok()) wrong = CheckTensors(manifest);
    if (!wrong.ok()) return wrong;
    return manifest;
  } catch (const Malformed&) {
    return Wrong("is no manifest of a checkpoint");
  }
}

}  // namespace muster
