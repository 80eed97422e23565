#include "launcher/config/config_view.h"

#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

ConfigView View() {
  ConfigView view;
  view.file_name = "job.yaml";
  view.meaning.format = ConfigFormat::kAccelerate;
  view.meaning.defaults.program = {"train.py", "a b"};
  view.meaning.defaults.worker_environment = {{"A", "1"}, {"B\x1b[2J", "x"}};
  view.meaning.defaults.remarks = {"so it is"};
  view.meaning.ignored = {{"downcast_bf16", 7, "only TPUs"}};
  view.flags = {{"nnodes", "2", "job.yaml:3: num_machines"},
                {"role", "r", "PET_ROLE"}};
  return view;
}

TEST(ConfigTextTest, EverythingWithItsOrigin) {
  EXPECT_EQ(ConfigText(View()), R"(job.yaml: Accelerate's configuration

Flags, and who gives them
  --nnodes=2  job.yaml:3: num_machines
  --role=r    PET_ROLE

Program
  train.py 'a b'

Variables of every worker
  A=1
  B=x

Without effect, and why
  line 7  downcast_bf16  only TPUs

Remarks
  so it is
)");
}

TEST(ConfigJsonTest, JsonHasAllPartsOfTheView) {
  EXPECT_EQ(ConfigJson(View()), R"({
  "file": "job.yaml",
  "format": "accelerate",
  "flags": [
    {
      "name": "nnodes",
      "value": "2",
      "origin": "job.yaml:3: num_machines"
    },
    {
      "name": "role",
      "value": "r",
      "origin": "PET_ROLE"
    }
  ],
  "program": [
    "train.py",
    "a b"
  ],
  "environment": {
    "A": "1",
    "B\u001b[2J": "x"
  },
  "ignored": [
    {
      "key": "downcast_bf16",
      "line": 7,
      "why": "only TPUs"
    }
  ],
  "remarks": [
    "so it is"
  ]
}
)");
}

}  // namespace
}  // namespace muster::launcher
