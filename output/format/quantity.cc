// SPDX-License-Identifier: Apache-2.0
#include "output/format/quantity.h"

#include <algorithm>
#include <cstdio>

#include "base/one_line.h"

namespace jitprof {
namespace {

uint64_t count_samples(const Profile& profile, const View& view) {
  return std::count_if(profile.rows.begin(), profile.rows.end(),
                       [&](const ProfileRow& row) { return view.shows(profile, row); });
}

}  // namespace

std::string shown_unit(const ValueType& type) { return type.unit == "nanoseconds" ? "s" : ""; }

std::string shown_value(const ValueType& type, uint64_t value) {
  if (type.unit != "nanoseconds") return std::to_string(value);
  char text[32];
  std::snprintf(text, sizeof text, "%llu.%09llu", static_cast<unsigned long long>(value / 1'000'000'000),
                static_cast<unsigned long long>(value % 1'000'000'000));
  return text;
}

std::string shown_percent(uint64_t part, uint64_t whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f",
                whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

std::string describe_total(const Profile& profile, const View& view, uint64_t total) {
  const ValueType& type = profile.value_types[view.value];
  std::string unit = shown_unit(type);
  std::string text =
      "total: " + shown_value(type, total) + (unit.empty() ? "" : " " + unit) + " " + on_one_line(type.name);
  if (type.by_period) text += " in " + std::to_string(count_samples(profile, view)) + " samples";
  if (!view.inlined) text += ", physical functions only";
  if (view.pid) text += ", only process " + std::to_string(*view.pid);
  if (view.tid) text += ", only thread " + std::to_string(*view.tid);
  if (view.comm) text += ", only threads named '" + on_one_line(*view.comm) + "'";
  return text;
}

std::string describe_view(const Profile& profile, const View& view, uint64_t total) {
  std::string command = profile.command.empty() ? "" : "command: " + on_one_line(profile.command) + "\n";
  return command + describe_total(profile, view, total) + "\n";
}

}  // namespace jitprof
