#include "models/trainer/training_flags.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::models {
namespace {

// Parses `text` as a number. Fails if characters are left over.
template <typename Number>
bool Parse(const std::string& text, Number* number) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && at == end;
}

CLI::Validator NumberThat(std::function<bool(double)> fits,
                          const std::string& words) {
  return {[fits = std::move(fits), words](std::string& text) {
            double number = 0;
            return Parse(text, &number) && std::isfinite(number) && fits(number)
                       ? std::string()
                       : absl::StrCat("'", text, "' is no number ", words);
          },
          ""};
}

}  // namespace

CLI::Validator FromZero() {
  return NumberThat([](double number) { return number >= 0; }, "from 0 on");
}

CLI::Validator AboveZero() {
  return NumberThat([](double number) { return number > 0; }, "above 0");
}

CLI::Validator FromZeroToBelowOne() {
  return NumberThat([](double number) { return number >= 0 && number < 1; },
                    "from 0 to below 1");
}

CLI::Validator WholeBetween(int least, int most) {
  return {[least, most](std::string& text) {
            int number = 0;
            return Parse(text, &number) && number >= least && number <= most
                       ? std::string()
                       : absl::StrCat("'", text, "' is no whole number from ",
                                      least, " to ", most);
          },
          ""};
}

CLI::Validator WholeFromZero() {
  return {[](std::string& text) {
            uint64_t number = 0;
            return Parse(text, &number)
                       ? std::string()
                       : absl::StrCat("'", text,
                                      "' is no whole number from 0 to 2^64-1");
          },
          ""};
}

namespace {

// Omits the bounds from the help text of a flag.
CLI::Validator Quiet(CLI::Validator bounds) { return bounds.description(""); }
// Validators of flags whose values are counts: Some() accepts integers from 1,
// Any() integers from 0.
CLI::Validator Some() { return WholeBetween(1, 1 << 30); }
CLI::Validator Any() { return WholeBetween(0, 1 << 30); }

void AddModelFlags(CLI::App& app, GptTrainingOptions* options) {
  GptConfig& model = options->model;
  app.add_option("--context", model.context, "tokens of a window")
      ->check(Some());
  app.add_option("--layers", model.layers, "transformer blocks")->check(Some());
  app.add_option("--heads", model.heads, "attention heads of a block")
      ->check(Some());
  app.add_option("--width", model.width, "of the residual stream")
      ->check(Some());
  app.add_flag_callback(
      "--biases", [&model] { model.biases = GptConfig::Biases::kAll; },
      "linear layers and norms have biases, as GPT-2's");
}

void AddOptimizerFlags(CLI::App& app, GptTrainingOptions* options) {
  app.add_option("--batch", options->batch, "windows in a micro-batch")
      ->check(Some());
  app.add_option("--steps", options->steps, "steps of the optimizer")
      ->check(Some());
  app.add_option("--learning-rate", options->learning_rate.peak, "the highest")
      ->check(FromZero());
  app.add_option("--last-learning-rate", options->learning_rate.floor,
                 "the lowest, at the end")
      ->check(FromZero());
  app.add_option("--decay", options->learning_rate.decay,
                 "how it gets there: cosine, linear, none")
      ->transform(Choice<LearningRateSchedule::Decay>(
          {{"cosine", LearningRateSchedule::Decay::kCosine},
           {"linear", LearningRateSchedule::Decay::kLinear},
           {"none", LearningRateSchedule::Decay::kNone}}))
      ->type_name("")
      ->default_str("cosine");
  app.add_option("--warmup", options->learning_rate.warmup,
                 "steps until the highest learning rate")
      ->check(Any());
  app.add_option("--weight-decay", options->adamw.weight_decay,
                 "of matrices; vectors have none")
      ->check(FromZero());
  app.add_option("--beta2", options->adamw.beta2, "AdamW's")
      ->check(FromZeroToBelowOne());
  app.add_option("--clip", options->clip,
                 "the gradient's longest norm; 0 for any")
      ->check(FromZero());
  app.add_option("--seed", options->seed, "of weights and data")
      ->check(WholeFromZero());
  app.add_flag_callback(
      "--zero",
      [options] { options->sharding = GptTrainingOptions::Sharding::kZero1; },
      "ZeRO stage 1: each rank keeps a share of the optimizer's state");
  app.add_flag_callback(
      "--recompute",
      [options] { options->checkpointing = GptStage::Checkpointing::kBlocks; },
      "keep each block's input only, and compute the rest again for the "
      "backward pass (activation checkpointing)");
}

// Adds --device, --precision and similar flags. A pipeline-parallel training
// does not have these flags, because they only work if each rank has the whole
// model.
void AddArithmeticFlags(CLI::App& app, GptTrainingOptions* options) {
  app.add_option("--device", options->device,
                 "what computes: cpu, or cuda: a GPU for each rank, gradients "
                 "averaged over NCCL")
      ->transform(Choice<GptTrainingOptions::Device>(
          {{"cpu", GptTrainingOptions::Device::kCpu},
           {"cuda", GptTrainingOptions::Device::kCuda}}))
      ->type_name("")
      ->default_str("cpu");
  app.add_option("--precision", options->precision,
                 "of weights and gradients: fp32, bf16, fp16 (with a dynamic "
                 "loss scale); fp32 master weights are kept")
      ->transform(Choice<DType>({{"fp32", DType::kFloat32},
                                 {"bf16", DType::kBFloat16},
                                 {"fp16", DType::kFloat16}}))
      ->type_name("")
      ->default_str("fp32");
  const CLI::Option* const scale =
      app.add_option("--loss-scale", options->loss_scale.initial,
                     "the first one of fp16; it grows and shrinks as needed")
          ->check(AboveZero());
  // CLI11 runs this callback after all flags are parsed.
  app.callback([scale, options] {
    if (scale->count() > 0 && options->precision != DType::kFloat16) {
      throw CLI::ValidationError("--loss-scale", "is for --precision fp16");
    }
  });
  app.add_flag_callback(
      "--pairwise",
      [options] {
        options->order = GptTrainingOptions::GradientOrder::kPairwise;
      },
      "add gradients in pairs: the losses are the same to the last bit on 1, "
      "2, 4, ... ranks, over any transport; needs micro-batches that are a "
      "power of two, and fp32");
}

}  // namespace

void AddTextFlags(CLI::App& app, GptTextFiles* files) {
  app.add_option("--data", files->data, "the text, or what `gpt prepare` wrote")
      ->required()
      ->check(Quiet(CLI::ExistingFile));
  app.add_option("--vocab", files->vocabulary,
                 "of a text: GPT-2's vocab.json; without, characters are the "
                 "tokens")
      ->check(Quiet(CLI::ExistingFile));
  app.add_option("--merges", files->merges, "of a text: GPT-2's merges.txt")
      ->check(Quiet(CLI::ExistingFile));
}

void AddCommonFlags(CLI::App& app, GptTrainingOptions* options) {
  AddTextFlags(app, &options->text);
  AddModelFlags(app, options);
  AddOptimizerFlags(app, options);
  app.add_option("--checkpoint-dir", options->checkpoint_directory,
                 "a folder that all ranks reach, for checkpoints; the newest "
                 "one that is whole is where training goes on");
  app.add_option("--checkpoint-every", options->checkpoint_every, "steps")
      ->check(Some());
  app.add_option("--keep", options->keep_checkpoints, "newest checkpoints")
      ->check(WholeBetween(1, 1000));
  app.add_option("--log", options->log, "a file for the log, as JSON lines");
  app.add_option("--log-every", options->log_every, "steps")->check(Some());
  app.add_option("--validate-every", options->validate_every,
                 "steps; 0 for never")
      ->check(Any());
}

void AddTrainingFlags(CLI::App& app, GptTrainingOptions* options) {
  AddCommonFlags(app, options);
  app.add_option("--micro-batches", options->micro_batches,
                 "micro-batches in a step, of all ranks together; a multiple "
                 "of the number of ranks")
      ->check(Some());
  app.add_option("--init-from", options->initial_weights,
                 "weights to begin with: a safetensors file with Hugging "
                 "Face's names, of this model's size")
      ->check(Quiet(CLI::ExistingFile));
  AddArithmeticFlags(app, options);
  CLI::Option* const timeline = app.add_option(
      "--timeline", options->timeline,
      "a file for what all ranks did in the last steps, passes and "
      "reductions of gradients beside them, for ui.perfetto.dev "
      "and chrome://tracing; rank 0 writes it at the end");
  app.add_option("--timeline-steps", options->timeline_steps,
                 "how many of the last steps it has")
      ->check(WholeBetween(1, 100))
      ->needs(timeline);
  app.add_option("--validation-batches", options->validation_batches,
                 "micro-batches of a validation")
      ->check(Some());
  app.add_option("--peak", options->peak,
                 "FLOP/s of all ranks together, which MFU is a share of; 0: "
                 "what matrix products alone reach, measured at the start")
      ->check(FromZero());
  app.add_option("--sample", options->sample, "tokens to write at the end")
      ->check(Any());
}

}  // namespace muster::models
