// SPDX-License-Identifier: Apache-2.0
// Hand-written functions that call back (void (*)(void) in rdi), without CFI or with CFI that lacks the mark of
// an end; with frames of the shapes that assembly has.
  .text
  .globl without_cfi, without_cfi_by_frame_pointer, thread_without_end
  .globl pushes, subtracts, leaves_early, jumps_on, moves_pointer, has_no_size

// rbp, which nothing describes, holds a number.
  .type without_cfi, @function
without_cfi:
  push %rbp
  mov $0x1234, %ebp
  call *%rdi
  pop %rbp
  ret
  .size without_cfi, . - without_cfi

  .type without_cfi_by_frame_pointer, @function
without_cfi_by_frame_pointer:
  push %rbp
  mov %rsp, %rbp
  sub $32, %rsp
  call *%rdi
  leave
  ret
  .size without_cfi_by_frame_pointer, . - without_cfi_by_frame_pointer

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

// Six registers saved, of which rbp becomes a number.
  .type pushes, @function
pushes:
  push %rbp
  push %r15
  push %r14
  push %r13
  push %r12
  push %rbx
  mov %rdi, %rbx
  mov $2, %ebp
  xor %r12d, %r12d
1:
  call *%rbx
  call frameless
  dec %ebp
  jnz 1b
  pop %rbx
  pop %r12
  pop %r13
  pop %r14
  pop %r15
  pop %rbp
  ret
  .size pushes, . - pushes

// Has nothing but the red zone.
  .type frameless, @function
frameless:
  mov %rdi, -8(%rsp)
  lea (%rdi, %rdi), %rax
  test %rax, %rax
  jz 1f
  nop
1:
  ret
  .size frameless, . - frameless

  .type subtracts, @function
subtracts:
  sub $40, %rsp
  mov %rbx, 32(%rsp)
  mov %rdi, %rbx
  call *%rbx
  pushq $1
  pushq $2
  call *%rbx
  add $16, %rsp
  mov 32(%rsp), %rbx
  add $40, %rsp
  ret
  .size subtracts, . - subtracts

// A way out before the frame is made, one in the midst, and code behind the returns.
  .type leaves_early, @function
leaves_early:
  test %rdi, %rdi
  jz 3f
  push %rbx
  sub $16, %rsp
  mov %rdi, %rbx
  test %rsi, %rsi
  jnz 4f
1:
  call *%rbx
2:
  add $16, %rsp
  pop %rbx
  ret
3:
  mov $1, %eax
  ret
4:
  call frameless
  jmp 2b
  .size leaves_early, . - leaves_early

// Ends in a jump to another function.
  .type jumps_on, @function
jumps_on:
  push %rdi
  call *%rdi
  pop %rdi
  jmp subtracts
  .size jumps_on, . - jumps_on

// A frame pointer after a while, and room whose size the code computes.
  .type moves_pointer, @function
moves_pointer:
  mov %rdi, %rax
  push %rbp
  mov %rsp, %rbp
  push %rbx
  mov %rdi, %rbx
  and $63, %eax
  sub %rax, %rsp
  and $-16, %rsp
  call *%rbx
  lea -8(%rbp), %rsp
  pop %rbx
  pop %rbp
  ret
  .size moves_pointer, . - moves_pointer

has_no_size:
  push %rbx
  mov %rdi, %rbx
  call *%rbx
has_no_size_label:
  pop %rbx
  ret

  .section .note.GNU-stack, "", @progbits
