// SPDX-License-Identifier: Apache-2.0
#include "unwind/sniff/plugin.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/one_line.h"
#include "unwind/sniff/plugin_sniffer.h"

namespace jitprof {
namespace {

constexpr uint32_t kMaxCount = 64;  // as sniffer.h says
constexpr size_t kMaxNameSize = 64;
constexpr size_t kMaxObjectSize = 255;  // NAME_MAX

Error cannot_load(const std::string& path, const std::string& reason) {
  return Error{"cannot load sniffers from '" + on_one_line(path) + "': " + reason};
}

// Why the library did not load, without the path that the loader puts in front of most of its messages.
std::string loader_message(const std::string& path) {
  const char* message = dlerror();
  std::string_view text = message == nullptr ? "no reason given" : message;
  if (text.starts_with(path + ": ")) text.remove_prefix(path.size() + 2);
  return on_one_line(text);
}

Result<const jitprof_sniffer_list*> list_of(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return cannot_load(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return cannot_load(path, "it is no regular file");
  // Without a slash the loader would look for it in the system's library folders.
  std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return cannot_load(
        path, loader_message(file) + ": a plug-in is a shared library for this machine, 'cc -shared -fPIC'");
  }
  const void* list = dlsym(library, "jitprof_sniffers");
  if (list == nullptr) {
    return cannot_load(path,
                       "it does not export 'jitprof_sniffers': define that list as <jitprof/sniffer.h> says");
  }
  return static_cast<const jitprof_sniffer_list*>(list);
}

Status check(const std::string& path, const jitprof_sniffer_list& list) {
  // The version first: of another one, no other member may be looked at.
  if (list.version != JITPROF_SNIFFER_VERSION) {
    return cannot_load(path, "it is made for version " + std::to_string(list.version) +
                                 " of the sniffer interface, and this jitprof understands version " +
                                 std::to_string(JITPROF_SNIFFER_VERSION) +
                                 " only: compile it with this jitprof's <jitprof/sniffer.h>");
  }
  if (list.sniffer_size < sizeof(jitprof_sniffer)) {
    return cannot_load(path, "its sniffers take " + std::to_string(list.sniffer_size) +
                                 " bytes each: set sniffer_size to sizeof(struct jitprof_sniffer), " +
                                 std::to_string(sizeof(jitprof_sniffer)));
  }
  if (list.count == 0 || list.count > kMaxCount || list.sniffers == nullptr) {
    return cannot_load(path, "it lists " + std::to_string(list.sniffers == nullptr ? 0 : list.count) +
                                 " sniffers: 1 to " + std::to_string(kMaxCount) +
                                 " may stand in one plug-in");
  }
  return Nothing{};
}

bool may_be_in_name(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '-' || letter == '_' || letter == '.';
}

// The text, or nullopt when it is missing, empty, or longer than `most`.
std::optional<std::string> text_of(const char* text, size_t most) {
  size_t size = text == nullptr ? 0 : strnlen(text, most + 1);
  if (size == 0 || size > most) return std::nullopt;
  return std::string(text, size);
}

Result<std::string> name_of(const std::string& path, const jitprof_sniffer& plugin) {
  auto name = text_of(plugin.name, kMaxNameSize);
  if (name && std::all_of(name->begin(), name->end(), may_be_in_name)) return *name;
  return cannot_load(path, "the name of a sniffer in it" + (name ? ", '" + on_one_line(*name) + "'," : "") +
                               " is not made of 1 to 64 letters, digits, '-', '_' and '.'");
}

Result<Locus> locus_of(const std::string& path, const std::string& name, uint32_t locus) {
  switch (locus) {
    case JITPROF_OBJECT_FILE:
      return Locus::kObjectFile;
    case JITPROF_PROGRAM_SPACE:
      return Locus::kProgramSpace;
    case JITPROF_GLOBAL:
      return Locus::kGlobal;
    default:
      return cannot_load(path, "its sniffer '" + name + "' has the locus " + std::to_string(locus) +
                                   ": take one of enum jitprof_locus, 0 to 2");
  }
}

Result<std::string> object_of(const std::string& path, const std::string& name, Locus locus,
                              const jitprof_sniffer& plugin) {
  std::string sniffer = "its sniffer '" + name + "' ";
  if (plugin.object == nullptr) {
    if (locus != Locus::kObjectFile) return std::string();
    return cannot_load(path, sniffer + "is for an object file but names none: set object to the file's name");
  }
  if (locus == Locus::kGlobal) {
    return cannot_load(
        path,
        sniffer + "is global but names an object: make it a program-space sniffer, or set object to NULL");
  }
  auto object = text_of(plugin.object, kMaxObjectSize);
  if (object && object->find('/') == std::string::npos) return *object;
  return cannot_load(
      path, sniffer + "names as its object something other than a file name: give the last part of the path");
}

Result<Sniffers::Entry> entry_of(const std::string& path, const jitprof_sniffer& plugin) {
  Sniffers::Entry entry;
  entry.name = JP_TRY(name_of(path, plugin));
  entry.locus = JP_TRY(locus_of(path, entry.name, plugin.locus));
  entry.object = JP_TRY(object_of(path, entry.name, entry.locus, plugin));
  if (plugin.unwind == nullptr)
    return cannot_load(path, "its sniffer '" + entry.name + "' has no unwind function");
  entry.sniffer = std::make_unique<PluginSniffer>(plugin);
  return entry;
}

}  // namespace

Status load_plugin(const std::string& path, Sniffers& sniffers) {
  const jitprof_sniffer_list& list = *JP_TRY(list_of(path));
  JP_TRY(check(path, list));
  const auto* first = reinterpret_cast<const std::byte*>(list.sniffers);
  for (uint32_t i = 0; i < list.count; ++i) {
    jitprof_sniffer plugin;  // what this version knows of a sniffer that may be larger
    std::memcpy(&plugin, first + uint64_t{i} * list.sniffer_size, sizeof plugin);
    Status added = sniffers.add(JP_TRY(entry_of(path, plugin)));
    if (!added.ok()) return cannot_load(path, added.error().message);
  }
  return Nothing{};
}

}  // namespace jitprof
