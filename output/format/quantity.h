// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "output/view.h"

namespace jitprof {

// How people read a value. Nanoseconds are shown as seconds with all nine digits, so that a printed column
// still sums to the printed total.
std::string shown_value(const ValueType& type, uint64_t value);
// "s" for nanoseconds, else nothing.
std::string shown_unit(const ValueType& type);
// Two digits behind the point; 0.00 of nothing.
std::string shown_percent(uint64_t part, uint64_t whole);

// One line on what a view sums to and what was left out of it: "total: 5000 samples, only process 12".
std::string describe_total(const Profile& profile, const View& view, uint64_t total);
// What a listing says about itself before its lines: the command, if known, and describe_total.
std::string describe_view(const Profile& profile, const View& view, uint64_t total);

}  // namespace jitprof
