// SPDX-License-Identifier: Apache-2.0
// Built twice with -shared -fPIC, with -DMARKER=marker_plugin_one and -DMARKER=marker_plugin_two: two
// libraries of the same layout, so that the second's marker lies where the first's was. Loaded by
// dlopen_marker.

#include "marker.h"

extern "C" KEEP void MARKER(double seconds) { SPIN_SECONDS(seconds); }

extern "C" void (*const plugin_marker)(double seconds) = MARKER;
