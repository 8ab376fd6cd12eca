// SPDX-License-Identifier: Apache-2.0
// Hand-written functions that call back (void (*)(void) in rdi), without CFI or with CFI that lacks the mark of
// an end.
  .text
  .globl without_cfi, thread_without_end

// rbp, which nothing describes, holds a number.
  .type without_cfi, @function
without_cfi:
  push %rbp
  mov $0x1234, %ebp
  call *%rdi
  pop %rbp
  ret
  .size without_cfi, . - without_cfi

// Without a symbol, so nobody knows where it starts.
.Lby_frame_pointer:
  push %rbp
  mov %rsp, %rbp
  sub $32, %rsp
  call *%rdi
  leave
  ret
  .section .data.rel.ro, "aw"
  .globl without_cfi_by_frame_pointer
without_cfi_by_frame_pointer:
  .quad .Lby_frame_pointer
  .text

// As musl's __clone where its CFI is generated: a thread's first function, called with an empty stack (top in
// rsi), and a row that says there is a caller.
  .type thread_without_end, @function
thread_without_end:
  .cfi_startproc
  xor %ebp, %ebp
  mov %rsi, %rsp
  call *%rdi
  hlt
  .cfi_endproc
  .size thread_without_end, . - thread_without_end

  .section .note.GNU-stack, "", @progbits
