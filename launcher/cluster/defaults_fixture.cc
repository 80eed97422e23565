#include "launcher/cluster/defaults_fixture.h"

#include "launcher/options/flag_table.h"

namespace muster::launcher {

absl::StatusOr<ParsedOptions> DefaultsFixture::Parse(
    const Environment& environment, std::vector<std::string> args) const {
  args.push_back("train.py");
  return ParseRunOptions(
      FlagsOf(FlagUser::kLaunchOnly), args, environment,
      [&](const FlagValues& given) { return defaults_(given, environment); });
}

RunOptions DefaultsFixture::Options(
    const Environment& environment,
    const std::vector<std::string>& args) const {
  const absl::StatusOr<ParsedOptions> parsed = Parse(environment, args);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() ? parsed->options : RunOptions();
}

std::string DefaultsFixture::Refusal(
    const Environment& environment,
    const std::vector<std::string>& args) const {
  return std::string(Parse(environment, args).status().message());
}

}  // namespace muster::launcher
