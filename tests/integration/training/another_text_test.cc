// Tests of trainings in which the text differs: on one of the ranks, in a later
// launch, or for validation.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/harness/cluster.h"
#include "tests/integration/training/training_fixture.h"

namespace muster {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class AnotherText : public Training {
 protected:
  // Writes two texts of equal length with the same characters in a different
  // order.
  AnotherText() {
    std::string text = "abc";
    while (text.size() < 2000) text += text;
    std::ofstream(folder() + "/text0") << text;
    std::swap(text[999], text[1000]);
    std::ofstream(folder() + "/text1") << text;
  }

  void IsSaidBy(const std::string& program) {
    const auto worker = [&](const std::string& text) {
      return "exec models/" + program + " --data " + folder() + "/" + text +
             " --heads 2 --width 16 --layers 2 --context 8" +
             " --steps 2 --checkpoint-dir " + folder() + "/checkpoints";
    };
    Subprocess ranks({kLaunch, "--standalone", "--nproc-per-node=2", "sh", "-c",
                      worker("text$RANK")});
    EXPECT_NE(ranks.ExitCode(), 0) << ranks.Output();
    EXPECT_THAT(ranks.Output(),
                ContainsRegex("rank 1 was started with other options than rank "
                              "0: text 3072 tokens .*, on rank 0 3072 tokens"));
    Subprocess first({"sh", "-c", worker("text0")});
    EXPECT_EQ(first.ExitCode(), 0) << first.Output();
    Subprocess second({"sh", "-c", worker("text1")});
    EXPECT_EQ(second.ExitCode(), 0) << second.Output();
    EXPECT_THAT(second.Output(),
                ContainsRegex("no longer the training that was begun: text "
                              "3072 tokens .*, was 3072 tokens"));
  }
};

TEST_F(AnotherText, IsReported) {
  IsSaidBy("trainer/gpt train --micro-batches 2");
}

TEST_F(AnotherText, IsReportedByPipelines) {
  IsSaidBy("pipeline_trainer/gpt_pipeline");
}

// Validation uses the vocabulary of the checkpoint. So another text is accepted
// if all of its characters are in this vocabulary.
TEST_F(AnotherText, IsValidatedIfTheModelHasItsCharacters) {
  const auto run = [&](const std::string& words) {
    return std::make_unique<Subprocess>(std::vector<std::string>{
        "sh", "-c",
        "exec models/trainer/gpt " + words + " --checkpoint-dir " + folder() +
            "/checkpoints --data " + folder() + "/text"});
  };
  const auto train =
      run("train --heads 2 --width 16 --layers 2 --context 8 --steps 2");
  ASSERT_EQ(train->ExitCode(), 0) << train->Output();
  std::ofstream(folder() + "/text") << std::string(500, '7');
  const auto fewer = run("validate --batches 1");
  EXPECT_EQ(fewer->ExitCode(), 0) << fewer->Output();
  EXPECT_THAT(fewer->Output(), HasSubstr("step 2  validation loss "));
  std::ofstream(folder() + "/text") << "7z";
  const auto strange = run("validate --batches 1");
  EXPECT_EQ(strange->ExitCode(), 1) << strange->Output();
  EXPECT_THAT(strange->Output(),
              ContainsRegex("the checkpoint's model .* cannot read .*text': "
                            "byte 122 at position 1 "));
}

}  // namespace
}  // namespace muster
