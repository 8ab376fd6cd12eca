// SPDX-License-Identifier: Apache-2.0
#pragma once

// Catch2 v3 (by name) or Debian 12's v2.13.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
