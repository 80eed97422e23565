#include "launcher/config/accelerate_variables.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::launcher {
namespace {

// The ways in which Accelerate turns the value of a key into the text of an
// environment variable.
enum class Form {
  kText,        // the variable gets Python's str(value)
  kLower,       // the variable gets Python's str(value).lower()
  kTextIfAny,   // str(value); no variable if the key is absent
  kLowerIfAny,  // str(value).lower(); no variable if the key is absent
};

struct Rule {
  const char* key;
  const char* variable;
  Form form;
  const char* fallback;  // value if the configuration does not have the key
};

// The rules for FSDP. Every table of rules has the same order as the source of
// `accelerate launch` (accelerate/utils/launch.py). The default of a key is the
// default of the `accelerate launch` flag for this key.
constexpr Rule kFsdp[] = {
    {"fsdp_version", "FSDP_VERSION", Form::kText, "1"},
    {"fsdp_sharding_strategy", "FSDP_SHARDING_STRATEGY", Form::kText,
     "FULL_SHARD"},
    {"fsdp_reshard_after_forward", "FSDP_RESHARD_AFTER_FORWARD", Form::kLower,
     "true"},
    {"fsdp_offload_params", "FSDP_OFFLOAD_PARAMS", Form::kLower, "false"},
    {"fsdp_min_num_params", "FSDP_MIN_NUM_PARAMS", Form::kText, "100000000"},
    {"fsdp_auto_wrap_policy", "FSDP_AUTO_WRAP_POLICY", Form::kTextIfAny, ""},
    {"fsdp_transformer_layer_cls_to_wrap", "FSDP_TRANSFORMER_CLS_TO_WRAP",
     Form::kTextIfAny, ""},
    {"fsdp_backward_prefetch", "FSDP_BACKWARD_PREFETCH", Form::kTextIfAny, ""},
    {"fsdp_state_dict_type", "FSDP_STATE_DICT_TYPE", Form::kTextIfAny, ""},
    {"fsdp_forward_prefetch", "FSDP_FORWARD_PREFETCH", Form::kLower, "false"},
    {"fsdp_use_orig_params", "FSDP_USE_ORIG_PARAMS", Form::kLower, "true"},
    {"fsdp_cpu_ram_efficient_loading", "FSDP_CPU_RAM_EFFICIENT_LOADING",
     Form::kLower, "true"},
    {"fsdp_sync_module_states", "FSDP_SYNC_MODULE_STATES", Form::kLower,
     "true"},
    {"fsdp_activation_checkpointing", "FSDP_ACTIVATION_CHECKPOINTING",
     Form::kLower, "false"},
    {"fsdp_activation_checkpointing_offload",
     "FSDP_ACTIVATION_CHECKPOINTING_OFFLOAD", Form::kLower, "false"},
    {"fsdp_ignored_modules", "FSDP_IGNORED_MODULES", Form::kTextIfAny, ""},
};

constexpr Rule kDeepSpeed[] = {
    {"zero_stage", "ACCELERATE_DEEPSPEED_ZERO_STAGE", Form::kTextIfAny, ""},
    {"gradient_accumulation_steps", "ACCELERATE_GRADIENT_ACCUMULATION_STEPS",
     Form::kTextIfAny, ""},
    {"gradient_clipping", "ACCELERATE_GRADIENT_CLIPPING", Form::kLowerIfAny,
     ""},
    {"offload_optimizer_device",
     "ACCELERATE_DEEPSPEED_OFFLOAD_OPTIMIZER_DEVICE", Form::kLowerIfAny, ""},
    {"offload_param_device", "ACCELERATE_DEEPSPEED_OFFLOAD_PARAM_DEVICE",
     Form::kLowerIfAny, ""},
    {"zero3_init_flag", "ACCELERATE_DEEPSPEED_ZERO3_INIT", Form::kLowerIfAny,
     ""},
    {"zero3_save_16bit_model", "ACCELERATE_DEEPSPEED_ZERO3_SAVE_16BIT_MODEL",
     Form::kLowerIfAny, ""},
    {"deepspeed_config_file", "ACCELERATE_DEEPSPEED_CONFIG_FILE",
     Form::kTextIfAny, ""},
    {"deepspeed_moe_layer_cls_names",
     "ACCELERATE_DEEPSPEED_MOE_LAYER_CLS_NAMES", Form::kTextIfAny, ""},
};

// Keys of the DeepSpeed section for which no variable is set:
// accelerate_config.cc reads them for the launcher, or Accelerate does not use
// them.
constexpr const char* kDeepSpeedElsewhere[] = {
    "deepspeed_hostfile",          "deepspeed_exclusion_filter",
    "deepspeed_inclusion_filter",  "deepspeed_multinode_launcher",
    "offload_optimizer_nvme_path", "offload_param_nvme_path"};

constexpr Rule kDynamo[] = {
    {"dynamo_mode", "ACCELERATE_DYNAMO_MODE", Form::kText, "default"},
    {"dynamo_use_fullgraph", "ACCELERATE_DYNAMO_USE_FULLGRAPH", Form::kText,
     "False"},
    {"dynamo_use_dynamic", "ACCELERATE_DYNAMO_USE_DYNAMIC", Form::kText,
     "False"},
    {"dynamo_use_regional_compilation",
     "ACCELERATE_DYNAMO_USE_REGIONAL_COMPILATION", Form::kText, "False"},
};

constexpr Rule kParallelism[] = {
    {"parallelism_config_dp_replicate_size",
     "PARALLELISM_CONFIG_DP_REPLICATE_SIZE", Form::kText, "1"},
    {"parallelism_config_dp_shard_size", "PARALLELISM_CONFIG_DP_SHARD_SIZE",
     Form::kText, "1"},
    {"parallelism_config_tp_size", "PARALLELISM_CONFIG_TP_SIZE", Form::kText,
     "1"},
    {"parallelism_config_cp_size", "PARALLELISM_CONFIG_CP_SIZE", Form::kText,
     "1"},
    {"parallelism_config_cp_backend", "PARALLELISM_CONFIG_CP_BACKEND",
     Form::kText, "torch"},
    {"parallelism_config_sp_size", "PARALLELISM_CONFIG_SP_SIZE", Form::kText,
     "1"},
    {"parallelism_config_sp_backend", "PARALLELISM_CONFIG_SP_BACKEND",
     Form::kText, "deepspeed"},
    {"parallelism_config_cp_comm_strategy",
     "PARALLELISM_CONFIG_CP_COMM_STRATEGY", Form::kText, "allgather"},
    {"parallelism_config_sp_seq_length", "PARALLELISM_CONFIG_SP_SEQ_LENGTH",
     Form::kText, "None"},
    {"parallelism_config_sp_seq_length_is_variable",
     "PARALLELISM_CONFIG_SP_SEQ_LENGTH_IS_VARIABLE", Form::kText, "True"},
    {"parallelism_config_sp_attn_implementation",
     "PARALLELISM_CONFIG_SP_ATTN_IMPLEMENTATION", Form::kText, "sdpa"},
};

constexpr Rule kFp8[] = {
    {"fp8_backend", "ACCELERATE_FP8_BACKEND", Form::kTextIfAny, ""},
    {"fp8_use_autocast_during_eval", "ACCELERATE_FP8_USE_AUTOCAST_DURING_EVAL",
     Form::kText, "False"},
    {"fp8_margin", "ACCELERATE_FP8_MARGIN", Form::kText, "0"},
    {"fp8_interval", "ACCELERATE_FP8_INTERVAL", Form::kText, "1"},
    {"fp8_format", "ACCELERATE_FP8_FORMAT", Form::kText, "HYBRID"},
    {"fp8_amax_history_len", "ACCELERATE_FP8_AMAX_HISTORY_LEN", Form::kText,
     "1024"},
    {"fp8_amax_compute_algo", "ACCELERATE_FP8_AMAX_COMPUTE_ALGO", Form::kText,
     "most_recent"},
    {"fp8_opt_level", "ACCELERATE_FP8_OPT_LEVEL", Form::kText, "O2"},
    {"fp8_enable_fsdp_float8_all_gather",
     "ACCELERATE_FP8_ENABLE_FSDP_FLOAT8_ALL_GATHER", Form::kText, "1"},
    {"fp8_pad_inner_dim", "ACCELERATE_FP8_PAD_INNER_DIM", Form::kText, "1"},
};

bool IsMap(const YamlValue* value) {
  return value != nullptr && value->kind == YamlValue::Kind::kMap;
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return text;
}

class Writer {
 public:
  Writer(const YamlValue& document, std::vector<IgnoredKey>& ignored)
      : document_(document), ignored_(ignored) {}

  void Set(const std::string& name, const std::string& value) {
    variables_[name] = value;
  }

  // Sets the variables for the section `name` by `rules`. As in Accelerate, a
  // key may be written without `prefix`.
  template <size_t N>
  void AddSection(const std::string& name, const std::string& prefix,
                  const Rule (&rules)[N],
                  const std::vector<std::string>& elsewhere) {
    static const YamlValue kNoSection;
    const YamlValue* section = document_.Find(name);
    if (!IsMap(section)) section = &kNoSection;
    std::map<std::string, const YamlValue*> given;
    for (const YamlEntry& entry : section->entries) {
      const std::string key = entry.key.rfind(prefix, 0) == 0
                                  ? entry.key
                                  : absl::StrCat(prefix, entry.key);
      given[key] = &entry.value;
      const bool known =
          std::any_of(std::begin(rules), std::end(rules),
                      [&](const Rule& rule) { return key == rule.key; }) ||
          std::find(elsewhere.begin(), elsewhere.end(), key) != elsewhere.end();
      if (!known) {
        ignored_.push_back({absl::StrCat(name, ".", entry.key), entry.line,
                            "accelerate launch does not use it"});
      }
    }
    for (const Rule& rule : rules) AddRule(rule, given);
  }

  // Removes all `variables` if the variable named `size` has the value "1".
  // `size` names the size of one kind of parallelism, such as
  // PARALLELISM_CONFIG_CP_SIZE. Accelerate sets `variables` only if this size
  // is larger than 1.
  void DropUnless(const std::string& size,
                  const std::vector<std::string>& variables) {
    if (variables_[size] != "1") return;
    for (const std::string& variable : variables) variables_.erase(variable);
  }

  std::map<std::string, std::string> Take() { return std::move(variables_); }

 private:
  void AddRule(const Rule& rule,
               const std::map<std::string, const YamlValue*>& given) {
    const auto found = given.find(rule.key);
    const bool only_if_any =
        rule.form == Form::kTextIfAny || rule.form == Form::kLowerIfAny;
    if (only_if_any && (found == given.end() ||
                        found->second->kind == YamlValue::Kind::kNull)) {
      return;
    }
    std::string text =
        found == given.end() ? rule.fallback : PythonText(*found->second);
    if (rule.form == Form::kLower || rule.form == Form::kLowerIfAny) {
      text = Lower(text);
    }
    variables_[rule.variable] = text;
  }

  const YamlValue& document_;
  std::vector<IgnoredKey>& ignored_;
  std::map<std::string, std::string> variables_;
};

bool Holds(const YamlValue& document, const std::string& key) {
  const YamlValue* const value = document.Find(key);
  return value != nullptr && ReadYamlTruth(*value).value_or(false);
}

std::string MixedPrecision(const YamlValue& document) {
  const YamlValue* const given = document.Find("mixed_precision");
  if (given == nullptr || given->kind != YamlValue::Kind::kScalar) {
    return Holds(document, "fp16") ? "fp16" : "no";
  }
  // In YAML an unquoted `no` is a truth value, but in mixed_precision it means
  // the text "no".
  return Lower(given->text);
}

std::string DynamoBackend(const YamlValue& document) {
  const YamlValue* backend = document.Find("dynamo_backend");
  const YamlValue* const section = document.Find("dynamo_config");
  if (IsMap(section)) {
    for (const char* const key : {"dynamo_backend", "backend"}) {
      if (section->Find(key) != nullptr) backend = section->Find(key);
    }
  }
  if (backend == nullptr || backend->kind != YamlValue::Kind::kScalar) {
    return "NO";
  }
  return Upper(backend->text);
}

// Returns the keys of the section "deepspeed_config", and mixed_precision if it
// is set, in lower case and separated by commas. Accelerate compares these
// names with the fields of a DeepSpeed configuration file.
std::string DeepSpeedFields(const YamlValue& document) {
  std::string fields;
  const YamlValue* const section = document.Find("deepspeed_config");
  if (IsMap(section)) {
    for (const YamlEntry& entry : section->entries) {
      absl::StrAppend(&fields, fields.empty() ? "" : ",", entry.key);
    }
  }
  const YamlValue* const precision = document.Find("mixed_precision");
  if (precision != nullptr && precision->kind != YamlValue::Kind::kNull) {
    absl::StrAppend(&fields, fields.empty() ? "" : ",", "mixed_precision");
  }
  return Lower(fields);
}

void AddSimple(const YamlValue& document, Writer& writer) {
  const bool on_cpu = Holds(document, "use_cpu");
  writer.Set("ACCELERATE_USE_CPU", on_cpu ? "True" : "False");
  if (!on_cpu) return;
  writer.Set("KMP_AFFINITY", "granularity=fine,compact,1,0");
  writer.Set("KMP_BLOCKTIME", "1");
}

void AddDeepSpeed(const YamlValue& document,
                  const ConfigSurroundings& surroundings, Writer& writer) {
  std::string path = surroundings.python_path;
  absl::StrAppend(&path, path.empty() ? "" : ":",
                  surroundings.working_directory);
  writer.Set("PYTHONPATH", path);
  writer.Set("ACCELERATE_CONFIG_DS_FIELDS", DeepSpeedFields(document));
  writer.Set("ACCELERATE_USE_DEEPSPEED", "true");
  writer.AddSection(
      "deepspeed_config", "", kDeepSpeed,
      {std::begin(kDeepSpeedElsewhere), std::end(kDeepSpeedElsewhere)});
}

void AddParallelism(Writer& writer) {
  writer.Set("ACCELERATE_USE_PARALLELISM_CONFIG", "true");
  writer.AddSection("parallelism_config", "parallelism_config_", kParallelism,
                    {});
  writer.DropUnless("PARALLELISM_CONFIG_CP_SIZE",
                    {"PARALLELISM_CONFIG_CP_COMM_STRATEGY"});
  writer.DropUnless("PARALLELISM_CONFIG_SP_SIZE",
                    {"PARALLELISM_CONFIG_SP_SEQ_LENGTH",
                     "PARALLELISM_CONFIG_SP_SEQ_LENGTH_IS_VARIABLE",
                     "PARALLELISM_CONFIG_SP_ATTN_IMPLEMENTATION"});
}

}  // namespace

std::map<std::string, std::string> AccelerateVariables(
    const YamlValue& document, AccelerateKind kind,
    const ConfigSurroundings& surroundings, std::vector<IgnoredKey>& ignored) {
  Writer writer(document, ignored);
  if (Holds(document, "debug")) writer.Set("ACCELERATE_DEBUG_MODE", "true");
  const std::string precision = MixedPrecision(document);
  writer.Set("ACCELERATE_MIXED_PRECISION", precision);
  if (precision == "fp8") writer.AddSection("fp8_config", "fp8_", kFp8, {});
  const YamlValue* const ids = document.Find("gpu_ids");
  if (ids != nullptr && ids->kind == YamlValue::Kind::kScalar &&
      ids->text != "all") {
    writer.Set("CUDA_VISIBLE_DEVICES", ids->text);
  }
  if (kind != AccelerateKind::kDeepSpeed) {
    writer.Set("ACCELERATE_DYNAMO_BACKEND", DynamoBackend(document));
    writer.AddSection("dynamo_config", "dynamo_", kDynamo, {"dynamo_backend"});
  }
  switch (kind) {
    case AccelerateKind::kSimple:
      AddSimple(document, writer);
      break;
    case AccelerateKind::kMultiGpu:
      break;
    case AccelerateKind::kFsdp:
      writer.Set("ACCELERATE_USE_FSDP", "true");
      writer.AddSection("fsdp_config", "fsdp_", kFsdp, {});
      break;
    case AccelerateKind::kDeepSpeed:
      AddDeepSpeed(document, surroundings, writer);
      break;
  }
  if (kind != AccelerateKind::kSimple &&
      IsMap(document.Find("parallelism_config"))) {
    AddParallelism(writer);
  }
  return writer.Take();
}

}  // namespace muster::launcher
