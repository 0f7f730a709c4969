#include "runtime/compiler/graph_report.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "runtime/compiler/graph_util.h"
#include "runtime/compiler/memory_planner.h"
#include "runtime/compiler/product.h"
#include "runtime/recipe/dump.h"
#include "runtime/recipe/recipe.h"

namespace trencadis::compiler {
namespace {

using PlanValue = recipe::MemoryPlanProto::Value;

std::string JsonText(absl::string_view text) {
  std::string escaped = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      absl::StrAppend(&escaped, "\\", std::string(1, c));
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&escaped, "\\u%04x", c);
    } else {
      escaped.push_back(c);
    }
  }
  return escaped + "\"";
}

std::string XmlText(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
}

std::string Bytes(double bytes) {
  if (bytes < 10240) return absl::StrFormat("%.0f B", bytes);
  if (bytes < 10240.0 * 1024) return absl::StrFormat("%.1f KiB", bytes / 1024);
  return absl::StrFormat("%.1f MiB", bytes / (1024 * 1024));
}

std::vector<uint64_t> LiveBytesOf(const recipe::RecipeProto& recipe) {
  std::vector<Lifetime> lifetimes;
  for (const PlanValue& value : recipe.plan().values()) {
    lifetimes.push_back({value.bytes(), static_cast<int32_t>(value.first_step()),
                         static_cast<int32_t>(value.last_step())});
  }
  return LiveBytes(lifetimes, recipe::kArenaAlignment, recipe.steps_size());
}

absl::string_view ColourOf(const ir::Node& node) {
  if (IsProduct(node)) return "lightsalmon";
  switch (ClassOf(node)) {
    case ir::OpClass::kInput:
      return "lightgrey";
    case ir::OpClass::kFusion:
      return "palegreen";
    case ir::OpClass::kComposite:
      return "plum";
    case ir::OpClass::kIndexing:
      return "khaki";
    default:
      return "white";
  }
}

std::string NodeText(const ir::Node& node) {
  std::string text(node.op->name);
  if (ClassOf(node) == ir::OpClass::kFusion) {
    for (const ir::Node& inner : node.attributes.Get<ir::GraphPtr>("body")->nodes()) {
      if (ClassOf(inner) != ir::OpClass::kInput) absl::StrAppend(&text, "\\n", inner.op->name);
    }
  }
  for (const TensorType& type : node.results) absl::StrAppend(&text, "\\n", type.ToString());
  if (!node.label.empty()) absl::StrAppend(&text, "\\n", node.label);
  return absl::StrReplaceAll(text, {{"\"", "'"}});
}

// Microseconds that a step may take where a core does 50 GFLOP/s and 10 GB/s: for pictures only.
double RoughMicroseconds(const recipe::Step& step) {
  return std::max({step.flops() / 50e3, step.bytes() / 10e3, 1.0});
}

}  // namespace

std::string GraphToDot(const ir::Graph& graph, absl::string_view title) {
  std::string dot = absl::StrCat("digraph ", JsonText(title),
                                 " {\n  node [shape=box, style=filled, fontname=monospace];\n");
  for (int32_t id = 0; id < graph.num_nodes(); ++id) {
    const ir::Node& node = graph.node(id);
    absl::StrAppend(&dot, "  n", id, " [label=\"", NodeText(node), "\", fillcolor=", ColourOf(node),
                    "];\n");
    for (ir::Value operand : node.operands) {
      absl::StrAppend(&dot, "  n", operand.node, " -> n", id, ";\n");
    }
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    absl::StrAppend(&dot, "  out", i, " [label=\"output ", i, "\", shape=oval];\n  n",
                    graph.outputs()[i].node, " -> out", i, ";\n");
  }
  return dot + "}\n";
}

std::string PlanToText(const recipe::RecipeProto& recipe, int rows) {
  const recipe::MemoryPlanProto& plan = recipe.plan();
  std::string text = absl::StrCat("arena ", Bytes(plan.peak_bytes()), ", lower bound ",
                                  Bytes(plan.lower_bound_bytes()), ", fragmentation ",
                                  Bytes(plan.fragmentation_bytes()), "\n");
  if (recipe.steps_size() == 0) return text;
  const uint32_t peak = plan.peak_step();
  absl::StrAppend(&text, "alive at the peak, step ", peak, " (", recipe.steps(peak).label(),
                  "):\n");
  std::vector<const PlanValue*> alive;
  for (const PlanValue& value : plan.values()) {
    if (value.first_step() <= peak && peak <= value.last_step()) alive.push_back(&value);
  }
  std::sort(alive.begin(), alive.end(), [](const PlanValue* a, const PlanValue* b) {
    return a->bytes() != b->bytes() ? a->bytes() > b->bytes() : a->offset() < b->offset();
  });
  for (const PlanValue* value : alive) {
    absl::StrAppendFormat(&text, "  %10s  at %-12u steps %u to %u  %s\n", Bytes(value->bytes()),
                          value->offset(), value->first_step(), value->last_step(), value->label());
  }
  const std::vector<uint64_t> live = LiveBytesOf(recipe);
  const int steps = recipe.steps_size();
  const int per_row = std::max(1, (steps + rows - 1) / rows);
  absl::StrAppend(&text, "live bytes by step:\n");
  for (int first = 0; first < steps; first += per_row) {
    const int last = std::min(steps, first + per_row);
    const uint64_t most = *std::max_element(live.begin() + first, live.begin() + last);
    const double share = plan.peak_bytes() == 0 ? 0 : static_cast<double>(most) / plan.peak_bytes();
    absl::StrAppendFormat(&text, "  %5d %10s %s\n", first, Bytes(most),
                          std::string(static_cast<size_t>(share * 50), '#'));
  }
  return text;
}

std::string PlanToSvg(const recipe::RecipeProto& recipe) {
  constexpr double kWidth = 1200;
  constexpr double kHeight = 600;
  const double step_width = kWidth / std::max(1, recipe.steps_size());
  const double byte_height = kHeight / std::max<double>(1, recipe.arena_bytes());
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\">\n", kWidth, kHeight);
  int index = 0;
  for (const PlanValue& value : recipe.plan().values()) {
    const double height = value.bytes() * byte_height;
    const int hue = index++ * 47 % 360;
    absl::StrAppendFormat(
        &svg,
        "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"hsl(%d,60%%,70%%)\" "
        "stroke=\"#555\" stroke-width=\"0.2\"><title>%s: %s, steps %u to %u</title></rect>\n",
        value.first_step() * step_width, kHeight - value.offset() * byte_height - height,
        (value.last_step() - value.first_step() + 1) * step_width, height, hue,
        XmlText(value.label()), Bytes(value.bytes()), value.first_step(), value.last_step());
  }
  return svg + "</svg>\n";
}

std::string RecipeToChromeTrace(const recipe::RecipeProto& recipe) {
  std::vector<double> starts = {0};
  for (const recipe::Step& step : recipe.steps()) {
    starts.push_back(starts.back() + RoughMicroseconds(step));
  }
  std::string json = "{\"traceEvents\":[\n";
  for (int i = 0; i < recipe.steps_size(); ++i) {
    const recipe::Step& step = recipe.steps(i);
    absl::StrAppendFormat(&json,
                          "{\"name\":%s,\"cat\":\"step\",\"ph\":\"X\",\"pid\":1,\"tid\":1,"
                          "\"ts\":%.1f,\"dur\":%.1f,\"args\":{\"step\":%d,\"kind\":%s,"
                          "\"flops\":%.0f,\"bytes\":%.0f}},\n",
                          JsonText(step.label()), starts[i], starts[i + 1] - starts[i], i,
                          JsonText(recipe::KindText(step)), step.flops(), step.bytes());
  }
  for (const PlanValue& value : recipe.plan().values()) {
    const double begin = starts[value.first_step()];
    absl::StrAppendFormat(&json,
                          "{\"name\":%s,\"cat\":\"memory\",\"ph\":\"X\",\"pid\":2,\"tid\":%u,"
                          "\"ts\":%.1f,\"dur\":%.1f,\"args\":{\"bytes\":%u}},\n",
                          JsonText(value.label()), value.offset() / recipe::kArenaAlignment, begin,
                          starts[value.last_step() + 1] - begin, value.bytes());
  }
  const std::vector<uint64_t> live = LiveBytesOf(recipe);
  for (size_t i = 0; i < live.size(); ++i) {
    absl::StrAppendFormat(&json,
                          "{\"name\":\"live bytes\",\"ph\":\"C\",\"pid\":1,\"ts\":%.1f,"
                          "\"args\":{\"bytes\":%u}},\n",
                          starts[i], live[i]);
  }
  absl::StrAppend(&json, "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":",
                  JsonText(absl::StrCat("recipe ", recipe.name())), "}}\n]}\n");
  return json;
}

}  // namespace trencadis::compiler
