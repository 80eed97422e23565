#include "trainer_sdk/process_group/split_part.h"

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/store/prefix_store.h"

namespace muster {
namespace {

// Larger than the number of splits of any group.
constexpr uint64_t kSplits = 1000003;

}  // namespace

GroupPlace PartOf(const GroupPlace& parent,
                  const std::vector<int>& parent_global_ranks,
                  const std::vector<int>& members, int color,
                  const SplitNaming& naming, std::vector<int>* global_ranks) {
  GroupPlace place;
  global_ranks->clear();
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i] == parent.rank) place.rank = static_cast<int>(i);
    global_ranks->push_back(parent_global_ranks[members[i]]);
  }
  place.size = static_cast<int>(members.size());
  place.store = std::make_shared<PrefixStore>(
      absl::StrCat(naming.prefix, "/group", color), parent.store);
  place.name = absl::StrCat(parent.name, "/",
                            naming.label.empty() ? naming.prefix : naming.label,
                            ":", color);
  place.birth = parent.birth * kSplits + static_cast<uint64_t>(naming.number);
  return place;
}

}  // namespace muster
