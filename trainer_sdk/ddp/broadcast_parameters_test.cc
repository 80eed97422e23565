#include "trainer_sdk/ddp/broadcast_parameters.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Ranks : public testing::TestWithParam<int> {};

TEST_P(Ranks, AllHaveWhatRank0Has) {
  const auto statuses =
      RunWorld(GetParam(), [](ProcessGroup& group) -> absl::Status {
        const auto own = static_cast<float>(group.rank() + 7);
        // BroadcastParameters packs values into messages of up to 1 MiB. The
        // values cover each way of sending: small values, a value above 1 MiB
        // that is sent alone, an empty value, a value of another type, and two
        // values that do not fit into one message together.
        std::vector<std::vector<float>> floats;
        for (const size_t count : {3, 300000, 0, 5, 200000, 100000}) {
          floats.emplace_back(count, own);
        }
        std::vector<int64_t> numbers(4, group.rank());
        std::vector<Tensor> values;
        for (std::vector<float>& each : floats) {
          values.push_back({.name = "w",
                            .shape = {static_cast<int64_t>(each.size())},
                            .value = each});
        }
        values.push_back({"steps", {4}, numbers});
        absl::Status status = BroadcastParameters(group, values);
        if (!status.ok()) return status;
        for (const std::vector<float>& each : floats) {
          if (each != std::vector<float>(each.size(), 7.0f)) {
            return absl::InternalError("other floats");
          }
        }
        return numbers == std::vector<int64_t>(4, 0)
                   ? absl::OkStatus()
                   : absl::InternalError("other numbers");
      });
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
}

INSTANTIATE_TEST_SUITE_P(BroadcastParametersTest, Ranks,
                         testing::Values(1, 2, 3));

TEST(BroadcastParametersTest, ListsThatDifferChangeNothing) {
  const auto statuses = RunWorld(2, [](ProcessGroup& group) -> absl::Status {
    float value = static_cast<float>(group.rank());
    const std::string name = group.rank() == 0 ? "scale" : "bias";
    const absl::Status status =
        BroadcastParameters(group, {{.name = name, .value = {&value, 1}}});
    return value == static_cast<float>(group.rank())
               ? status
               : absl::InternalError("it was changed");
  });
  EXPECT_EQ(statuses[1].code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(statuses[1].message()),
              AllOf(HasSubstr("'bias' of 1"), HasSubstr("rank 0's")));
}

TEST(BroadcastParametersTest, AValueMustBeSomewhere) {
  const auto statuses = RunWorld(1, [](ProcessGroup& group) {
    return BroadcastParameters(group, {{.name = "w", .shape = {2}}});
  });
  EXPECT_THAT(std::string(statuses[0].message()),
              HasSubstr("tensor 'w' of shape [2] has 2 elements, its value 0"));
}

}  // namespace
}  // namespace muster
