#include "launcher/token_command.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "launcher/local_token.h"
#include "launcher/options/command_line.h"
#include "launcher/options/option_values.h"
#include "rendezvous/token/token.h"

namespace muster::launcher {
namespace {

using rendezvous::Role;

constexpr char kHead[] = R"(Usage:
  launch token                  print a new secret for a job or a cluster
  launch token --role ROLES …   print a token that permits less

Everybody who has the secret may join, see and end every job of a coordinator with
that secret. A token that is derived from it permits only what its flags name, until
it expires. Give either to `launch` by MUSTER_TOKEN or --token-file.

)";

absl::StatusOr<std::set<Role>> ReadRoles(const std::string& text) {
  std::set<Role> roles;
  for (const std::string& name :
       std::vector<std::string>(absl::StrSplit(text, ','))) {
    const std::optional<Role> role = rendezvous::RoleOf(name);
    if (!role.has_value()) {
      return absl::InvalidArgumentError(
          "is no list of roles; write for example join, or view,operate");
    }
    roles.insert(*role);
  }
  return roles;
}

absl::StatusOr<std::vector<std::string>> ReadJobs(const std::string& text) {
  if (text.empty()) return std::vector<std::string>();
  std::vector<std::string> jobs = absl::StrSplit(text, ',');
  for (const std::string& job : jobs) {
    if (!rendezvous::IsJobPattern(job)) {
      return absl::InvalidArgumentError(
          "is no list of jobs; write run ids, or PREFIX-*, with commas "
          "between");
    }
  }
  return jobs;
}

// Reads "30d", "12h", "90m" or "45s" as seconds.
absl::StatusOr<int64_t> ReadLifetime(const std::string& text) {
  constexpr std::array<std::pair<char, int64_t>, 4> kUnits = {
      {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}}};
  constexpr int64_t kMaxDays = 36500;
  for (const auto& [unit, seconds] : kUnits) {
    if (text.empty() || text.back() != unit) continue;
    const absl::StatusOr<int64_t> count = ReadNumber(
        text.substr(0, text.size() - 1), 1, kMaxDays * 86400 / seconds);
    if (count.ok()) return *count * seconds;
  }
  return absl::InvalidArgumentError(
      "is no time; write for example 12h or 30d, at most 36500d");
}

std::string UserName() {
  const passwd* const user = getpwuid(geteuid());
  return user != nullptr && rendezvous::IsPrincipalName(user->pw_name)
             ? user->pw_name
             : absl::StrCat("uid-", geteuid());
}

// Returns the secret from which the token is derived; "": none was given.
// NotFound: at the request's endpoint there is no coordinator of this user
// whose secret was made by `launch`. (A secret that the user gave to the
// coordinator cannot be found in this way.)
absl::StatusOr<std::string> ReadSecret(const TokenRequest& request,
                                       const Voice& voice) {
  if (!request.endpoint.has_value()) {
    return rendezvous::ReadToken(
        request.token_file,
        [&](const std::string& sentence) { voice.Error(sentence); });
  }
  std::optional<LocalCoordinator> local =
      FindLocalCoordinator(*request.endpoint, LocalTokenParents());
  if (local.has_value()) return std::move(local->token);
  return absl::NotFoundError(absl::StrCat(
      "token: no job of yours on this machine has its coordinator at ",
      request.endpoint->ToString(), " with a secret that `launch` made"));
}

}  // namespace

std::vector<Flag> TokenFlags() {
  constexpr PetVariable kNone = PetVariable::kNone;
  return {
      {.name = "role",
       .value = "ROLES",
       .help = "What the token permits, with commas between: join (be a node), "
               "view (status, watch), operate (cancel, drain, and view). "
               "Default: all three.",
       .pet = kNone},
      {.name = "job",
       .value = "IDS",
       .help = "For which jobs: run ids, or PREFIX-*, with commas between. Not "
               "given: for every job.",
       .pet = kNone},
      {.name = "name",
       .value = "NAME",
       .help = "Whose token it is, for the coordinator's log and verdicts. "
               "Default: the user's name.",
       .pet = kNone},
      {.name = "valid-for",
       .value = "TIME",
       .help = "How long the token is valid from now: 45s, 90m, 12h, 30d. Not "
               "given: as long as the secret.",
       .pet = kNone},
      {.name = "token-file",
       .value = "FILE",
       .help =
           "The secret from which the token is derived; MUSTER_TOKEN in the "
           "environment does the same.",
       .completions = "<file>",
       .pet = kNone},
      {.name = "endpoint",
       .value = "HOST:PORT",
       .help = "The coordinator of your own job on this machine, from whose "
               "secret the token is derived: `launch` made that secret itself.",
       .pet = kNone},
      {.name = "help", .letter = 'h', .help = "Show this text.", .pet = kNone},
  };
}

absl::StatusOr<TokenRequest> ParseTokenRequest(
    const std::vector<std::string>& args,
    const std::map<std::string, std::string>& environment, std::time_t now,
    const std::string& user) {
  const std::vector<Flag> flags = TokenFlags();
  const absl::StatusOr<CommandLine> line = ParseCommandLine(flags, args);
  if (!line.ok()) return line.status();
  if (!line->rest.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("token: ", line->rest.front(), ": it has flags only"));
  }
  TokenRequest request;
  FlagValues values(flags, *line, environment);
  if (values.IsGiven("help")) {
    request.way = TokenRequest::Way::kHelp;
    return request;
  }
  if (values.Given().empty()) return request;
  request.way = TokenRequest::Way::kDerived;
  request.token_file = values.Text("token-file");
  if (values.IsGiven("endpoint")) {
    values.Into("endpoint", ReadOptionalEndpoint, request.endpoint);
  }
  request.grant = {.name = user, .roles = rendezvous::AllRoles()};
  if (values.IsGiven("role"))
    values.Into("role", ReadRoles, request.grant.roles);
  if (values.IsGiven("job")) values.Into("job", ReadJobs, request.grant.jobs);
  if (values.IsGiven("name")) request.grant.name = values.Text("name");
  if (values.IsGiven("valid-for")) {
    int64_t seconds = 0;
    values.Into("valid-for", ReadLifetime, seconds);
    request.grant.expires = now + seconds;
  }
  if (!values.status().ok()) return values.status();
  return request;
}

int TokenCommand(const std::vector<std::string>& args,
                 const std::map<std::string, std::string>& environment,
                 const Voice& voice) {
  const absl::StatusOr<TokenRequest> request =
      ParseTokenRequest(args, environment, std::time(nullptr), UserName());
  if (!request.ok()) return voice.Refuse(request.status(), "token");
  if (request->way == TokenRequest::Way::kHelp) {
    return Print(absl::StrCat(kHead, FlagHelp(TokenFlags())));
  }
  if (request->way == TokenRequest::Way::kSecret) {
    return Print(absl::StrCat(rendezvous::FreshToken(), "\n"));
  }
  const absl::StatusOr<std::string> secret = ReadSecret(*request, voice);
  if (!secret.ok()) {
    return voice.Refuse(absl::InvalidArgumentError(secret.status().message()),
                        "token");
  }
  if (secret->empty()) {
    return voice.Refuse(
        absl::InvalidArgumentError(
            "token: there is no secret to derive it from; give one by "
            "MUSTER_TOKEN or --token-file (launch token prints one)"),
        "token");
  }
  const absl::StatusOr<std::string> token =
      rendezvous::DeriveToken(*secret, request->grant);
  if (!token.ok()) return voice.Refuse(token.status(), "token");
  return Print(absl::StrCat(*token, "\n"));
}

}  // namespace muster::launcher
