#include "launcher/config/config_questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/config/yaml_value.h"
#include "launcher/options/flag_table.h"

namespace muster::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<Flag>& Flags() {
  static const auto& flags =
      *new std::vector<Flag>(FlagsOf(FlagUser::kLaunchOnly));
  return flags;
}

std::vector<std::string> Asked(std::map<std::string, std::string> answers) {
  std::vector<std::string> keys;
  while (const auto question = NextQuestion(answers)) {
    keys.push_back(question->key);
    answers.emplace(question->key, question->fallback);
  }
  return keys;
}

TEST(ConfigQuestionsTest, SingleNodeIsNotAskedForAnEndpoint) {
  EXPECT_THAT(Asked({}),
              ElementsAre("program", "nproc-per-node", "nnodes", "max-restarts",
                          "log-dir", "framework-env"));
  EXPECT_THAT(Asked({{"nnodes", "2"}}),
              ElementsAre("program", "nproc-per-node", "rdzv-endpoint",
                          "max-restarts", "log-dir", "framework-env"));
  EXPECT_THAT(Asked({{"nnodes", "2"}, {"rdzv-endpoint", "a"}}),
              ElementsAre("program", "nproc-per-node", "rdzv-id",
                          "max-restarts", "log-dir", "framework-env"));
}

TEST(ConfigQuestionsTest, EveryProposalIsAnAnswer) {
  std::map<std::string, std::string> answers = {{"nnodes", "1:4"},
                                                {"rdzv-endpoint", "host"}};
  while (const auto question = NextQuestion(answers)) {
    EXPECT_TRUE(CheckAnswer(*question, question->fallback, Flags()).ok())
        << question->key;
    answers.emplace(question->key, question->fallback);
  }
}

TEST(ConfigQuestionsTest, TheFlagsOwnReaderChecks) {
  const ConfigQuestion question = {"nnodes", "", ""};
  EXPECT_TRUE(CheckAnswer(question, "2:4", Flags()).ok());
  EXPECT_THAT(std::string(CheckAnswer(question, "4:2", Flags()).message()),
              HasSubstr("MIN is greater"));
  EXPECT_FALSE(CheckAnswer({"program", "", ""}, "  ", Flags()).ok());
  EXPECT_THAT(
      std::string(CheckAnswer({"program", "", ""}, "a 'b", Flags()).message()),
      HasSubstr("not closed"));
}

TEST(ConfigOfTest, OnlyWhatIsNoFallback) {
  const std::string text = ConfigOf({{"program", "sh -c 'echo hi' it\\'s"},
                                     {"nnodes", "2:4"},
                                     {"rdzv-endpoint", "host:29400"},
                                     {"max-restarts", "0"},
                                     {"log-dir", ""}},
                                    Flags());
  const auto document = ParseYaml(text);
  ASSERT_TRUE(document.ok()) << document.status() << text;
  ASSERT_EQ(document->Find("program")->items.size(), 4u) << text;
  EXPECT_EQ(document->Find("program")->items[2].text, "echo hi");
  EXPECT_EQ(document->Find("program")->items[3].text, "it's");
  EXPECT_EQ(document->Find("nnodes")->text, "2:4");
  EXPECT_EQ(document->Find("rdzv-backend")->text, "c10d");
  EXPECT_THAT(text, Not(HasSubstr("max-restarts")));
  EXPECT_THAT(text, Not(HasSubstr("log-dir")));
}

TEST(ConfigOfTest, DefaultNodeCountIsNotWritten) {
  EXPECT_THAT(ConfigOf({{"program", "a"}, {"nnodes", "1"}}, Flags()),
              Not(HasSubstr("nnodes")));
}

TEST(YamlScalarTest, ReadsAsTheVeryText) {
  for (const char* const text :
       {"a", "0.1", "no", "~", "", "- x", "a: b", "it's", "#x", "*x", "null",
        "'", "--lr", "[x]", "2:4"}) {
    const auto value = ParseYaml(std::string("k: ") + YamlScalar(text) + "\n");
    ASSERT_TRUE(value.ok()) << text << ": " << value.status();
    EXPECT_EQ(value->Find("k")->text, text);
    EXPECT_FALSE(ReadYamlTruth(*value->Find("k")).has_value()) << text;
  }
}

}  // namespace
}  // namespace muster::launcher
