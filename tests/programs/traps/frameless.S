// SPDX-License-Identifier: Apache-2.0
// Hand-written functions without CFI and without frame pointers, the forms that assembly takes. All give back
// what they must; "runs_frameless" calls the others.
  .text
  .macro function name
  .globl \name
  .type \name, @function
\name:
  .endm
  .macro end name
  .size \name, . - \name
  .endm

function leaf_only
  lea 1(%rdi), %rax
  ret
end leaf_only

function pushes
  push %rbx
  mov %rdi, %rbx
  push %r12
  xor %r12d, %r12d
  sub $24, %rsp
  mov %rbx, 8(%rsp)
  call leaf_only
  add $24, %rsp
  pop %r12
  pop %rbx
  ret
end pushes

// rbp holds a number, and there are two ways out and a loop between.
function two_epilogues
  push %rbp
  mov $3, %ebp
  sub $16, %rsp
  test %rdi, %rdi
  je 2f
  jmp 3f
1:
  call pushes
  dec %ebp
3:
  test %ebp, %ebp
  jne 1b
  add $16, %rsp
  pop %rbp
  ret
2:
  mov $7, %eax
  add $16, %rsp
  pop %rbp
  jmp leaf_only
end two_epilogues

// Registers are stored, not pushed, first below rsp.
function stores
  mov %rbx, -16(%rsp)
  mov %r13, -8(%rsp)
  sub $40, %rsp
  mov $1, %r13d
  lea (%rdi,%r13), %rbx
  mov %rbx, %rdi
  call two_epilogues
  mov 24(%rsp), %rbx
  mov 32(%rsp), %r13
  add $40, %rsp
  ret
end stores

// The stack is aligned; where it was is kept in a register that calls preserve.
function aligns
  push %rbx
  lea 16(%rsp), %rbx
  and $-64, %rsp
  sub $128, %rsp
  call stores
  lea -16(%rbx), %rsp
  pop %rbx
  ret
end aligns

// The return address is in a register for a while.
function pops_return_address
  pop %rcx
  lea 1(%rdi), %rax
  push %rcx
  ret
end pops_return_address

// Constants between two parts of the code.
function has_constants
  push %r14
  jmp 1f
  .byte 0x06, 0x0e, 0xff, 0xff, 0xe8
1:
  mov has_constants(%rip), %r14
  call leaf_only
  pop %r14
  ret
end has_constants

function runs_frameless
  push %r15
  sub $32, %rsp
  mov $5, %edi
  call leaf_only
  call pushes
  call two_epilogues
  xor %edi, %edi
  call two_epilogues
  call aligns
  call pops_return_address
  call has_constants
  add $32, %rsp
  pop %r15
  ret
end runs_frameless

  .section .note.GNU-stack, "", @progbits
