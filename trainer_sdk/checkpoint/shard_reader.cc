#include "trainer_sdk/checkpoint/shard_reader.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/checkpoint/shard_layout.h"
#include "trainer_sdk/safetensors/safetensors_file.h"

namespace muster {

absl::Status ReadShard(FileSystem& files, const std::string& folder,
                       const FileRecord& record,
                       const std::vector<ShardRead>& reads) {
  const std::string path = absl::StrCat(folder, "/", record.name);
  const auto file = SafetensorsFile::Open(path, &files);
  if (!file.ok()) return file.status();
  std::map<std::string_view, const SafetensorsTensor*> entries;
  for (const SafetensorsTensor& tensor : (*file)->header().tensors) {
    entries.emplace(tensor.name, &tensor);
  }
  for (const ShardRead& read : reads) {
    const std::string name = ShardEntryName(read.stored);
    const int64_t bytes = (read.stored.end - read.stored.begin) *
                          SizeOf(read.stored.tensor.dtype);
    const auto entry = entries.find(name);
    if (entry == entries.end() ||
        entry->second->type != SafetensorsTypeOf(read.stored.tensor.dtype) ||
        entry->second->bytes() != bytes) {
      return absl::DataLossError(absl::StrCat(path, " does not have '", name,
                                              "' as its manifest says"));
    }
    absl::Status status =
        (*file)->ReadAt(*entry->second, read.offset, read.bytes, read.out);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace muster
