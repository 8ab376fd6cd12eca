// SPDX-License-Identifier: Apache-2.0
// Part of jit.h: the jitdump file of a process, whole records at a time.
#pragma once

#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1
#endif
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if !defined(CLOCK_MONOTONIC) || !defined(O_CLOEXEC)
#error "jit.h needs POSIX: include it before other headers, or compile with -std=gnu11 or -D_DEFAULT_SOURCE"
#endif

#ifdef __cplusplus
extern "C" {
#endif

// The members are for the functions of jit.h only. One is enough for a process, and two would take each
// other's file away.
struct jitprof_jit {
  uint32_t lock;  // the process that holds it, or 0
  uint32_t pid;   // whose file it is
  int fd;         // -1: there is none
  void* marker;
  uint64_t size;
  uint64_t next_index;
  char directory[4000];
};

// Spins rather than waits: a lock that a thread of the parent held at a fork is nobody's in the child.
static inline void jitprof_lock(struct jitprof_jit* jit) {
  const uint32_t self = (uint32_t)getpid();
  for (;;) {
    uint32_t holder = __atomic_load_n(&jit->lock, __ATOMIC_RELAXED);
    if (holder != self &&
        __atomic_compare_exchange_n(&jit->lock, &holder, self, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return;
    sched_yield();
  }
}

static inline void jitprof_unlock(struct jitprof_jit* jit) {
  __atomic_store_n(&jit->lock, 0u, __ATOMIC_RELEASE);
}

static inline uint64_t jitprof_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// All of the bytes or, with an errno value, none.
static inline int jitprof_write(struct jitprof_jit* jit, const void* bytes, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t written =
        pwrite(jit->fd, (const char*)bytes + done, size - done, (off_t)(jit->size + done));
    if (written > 0) {
      done += (size_t)written;
    } else if (written == 0 || errno != EINTR) {
      const int error = written == 0 ? EIO : errno;
      // Readers would take what follows a torn record for its rest.
      if (ftruncate(jit->fd, (off_t)jit->size) != 0) return errno;
      return error;
    }
  }
  jit->size += size;
  return 0;
}

// Not of one that is all zeros: a VM that never opened it may still call everything.
static inline int jitprof_has_file(const struct jitprof_jit* jit) { return jit->pid != 0 && jit->fd >= 0; }

static inline void jitprof_leave_file(struct jitprof_jit* jit) {
  if (jit->marker != NULL) munmap(jit->marker, 1);
  if (jitprof_has_file(jit)) close(jit->fd);
  jit->marker = NULL;
  jit->fd = -1;
}

static inline int jitprof_write_header(struct jitprof_jit* jit) {
  // "jItD", version, size, EM_X86_64, nothing, process; time; flags.
  const uint32_t head[6] = {0x4a695444, 1, 40, 62, 0, jit->pid};
  const uint64_t rest[2] = {jitprof_now(), 0};
  unsigned char bytes[40];
  memcpy(bytes, head, sizeof head);
  memcpy(bytes + sizeof head, rest, sizeof rest);
  return jitprof_write(jit, bytes, sizeof bytes);
}

static inline int jitprof_enter_file(struct jitprof_jit* jit) {
  char path[sizeof jit->directory + 32];
  int error;
  jit->pid = (uint32_t)getpid();
  jit->size = 0;
  snprintf(path, sizeof path, "%s/jit-%u.dump", jit->directory, jit->pid);
  // What an earlier process of this number left. A link that somebody put into /tmp is not followed.
  unlink(path);
  jit->fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (jit->fd < 0) return errno;
  error = jitprof_write_header(jit);
  if (error == 0) {
    // Profilers find the file by this executable mapping of it.
    void* page = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, jit->fd, 0);
    if (page != MAP_FAILED) {
      jit->marker = page;
      return 0;
    }
    error = errno;
  }
  jitprof_leave_file(jit);
  unlink(path);
  return error;
}

// directory NULL: $JITDUMPDIR, or else /tmp. EPERM: it is mounted noexec, and no profiler could find the
// file.
static inline int jitprof_jit_open(struct jitprof_jit* jit, const char* directory) {
  if (directory == NULL) directory = getenv("JITDUMPDIR");
  if (directory == NULL || *directory == 0) directory = "/tmp";
  memset(jit, 0, sizeof *jit);
  jit->fd = -1;
  if (strlen(directory) >= sizeof jit->directory) return ENAMETOOLONG;
  strcpy(jit->directory, directory);
  return jitprof_enter_file(jit);
}

#ifdef __cplusplus
}
#endif
