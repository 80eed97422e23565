// Fuzzes the parser of pipeline schedules in CSV with edits (edited_bytes.h) of
// a valid schedule. The valid schedule has either computations only, or
// computations and messages. Aborts if an accepted schedule is invalid or
// changes when it is written again.

#include <cstddef>
#include <string>
#include <vector>

#include "base/check.h"
#include "tests/fuzz/edited_bytes.h"
#include "tests/fuzz/fuzz_case.h"
#include "trainer_sdk/pipeline/schedule/schedule_csv.h"

namespace muster {
namespace {

// Valid schedules of two ranks and two micro-batches: 1F1B, one with a split
// backward pass, and one with messages. Also the empty text, from which edits
// can build any schedule.
constexpr std::string_view kSound[] = {
    "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n",
    "0F0,0F1,,0I0,0W0,0B1\n1F0,1I0,1F1,1I1,1W0,1W1\n",
    "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
    "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n",
    "",
};

}  // namespace

void RunFuzzCase(std::string_view input) {
  if (input.empty()) return;
  const std::string_view sound =
      kSound[static_cast<unsigned char>(input[0]) % std::size(kSound)];
  input.remove_prefix(1);
  const std::string text = EditedBytes(sound, input);
  const auto schedule = ReadScheduleCsv(text);
  if (!schedule.ok()) {
    MUSTER_CHECK(!schedule.status().message().empty());
    return;
  }
  const PipelineShape& shape = schedule->shape;
  MUSTER_CHECK(schedule->ranks.size() == static_cast<size_t>(shape.ranks));
  size_t actions = 0;
  for (const std::vector<Action>& rank : schedule->ranks) {
    actions += rank.size();
  }
  // A valid schedule has at least a forward and a backward pass for each stage
  // and micro-batch.
  MUSTER_CHECK(actions >= static_cast<size_t>(shape.stages()) * 2 *
                              static_cast<size_t>(shape.micro_batches));
  const auto again = ReadScheduleCsv(WriteScheduleCsv(*schedule));
  MUSTER_CHECK(again.ok()) << again.status();
  MUSTER_CHECK(again->shape == shape && again->ranks == schedule->ranks);
}

}  // namespace muster
