/* The exported MPI functions, those of C first, then Fortran's (fortran/README.md). Each is one jump through its
   slot, so that nothing of the caller's arguments is touched and a function that is not ours to handle costs one
   predicted jump. A slot first points to code that lets pclscope_first_call() (library.cpp) find the MPI library,
   with all argument registers kept. */
#if !defined(__x86_64__)
#error "pclscope: the trampolines are written for x86-64; port interpose/library/trampoline.S to this architecture"
#endif

.macro STUB name, index
    .pushsection .text
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    jmp *pclscope_slots+8*\index(%rip)
    .size \name, .-\name
.Lfirst\index:
    pushq $\index
    jmp pclscope_keep_arguments
    .popsection
    .quad .Lfirst\index
.endm

/* Another spelling of a Fortran routine: the same slot. */
.macro ALIAS name, target
    .globl \name
    .type \name, @function
    .set \name, \target
.endm

    .data
    .p2align 3
    .globl pclscope_slots
    .hidden pclscope_slots
pclscope_slots:
#include "stubs.inc"
#include "fortran_stubs.inc"

/* dlsym(handle, name). The C library's finds out by the return address who asks: it is jumped to, not called. */
    .text
    .p2align 4
    .globl dlsym
    .type dlsym, @function
dlsym:
    .cfi_startproc
    pushq %rdi
    pushq %rsi
    subq $8, %rsp
    .cfi_adjust_cfa_offset 24
    call pclscope_instead_of
    addq $8, %rsp
    popq %rsi
    popq %rdi
    .cfi_adjust_cfa_offset -24
    cmpq $1, %rax
    ja .Ldlsym_answered
    je .Ldlsym_nothing
    jmp *pclscope_system_dlsym(%rip)
.Ldlsym_nothing:
    xorl %eax, %eax
.Ldlsym_answered:
    ret
    .cfi_endproc
    .size dlsym, .-dlsym

    .text
    .p2align 4
    .type pclscope_keep_arguments, @function
pclscope_keep_arguments:
    .cfi_startproc
    .cfi_adjust_cfa_offset 8          /* the index */
    pushq %rax                        /* al: number of vector arguments of a variadic call */
    pushq %rdi
    pushq %rsi
    pushq %rdx
    pushq %rcx
    pushq %r8
    pushq %r9
    subq $136, %rsp                   /* 8 vector registers, and 16-byte alignment for the call */
    .cfi_adjust_cfa_offset 192
    movups %xmm0, 0(%rsp)
    movups %xmm1, 16(%rsp)
    movups %xmm2, 32(%rsp)
    movups %xmm3, 48(%rsp)
    movups %xmm4, 64(%rsp)
    movups %xmm5, 80(%rsp)
    movups %xmm6, 96(%rsp)
    movups %xmm7, 112(%rsp)
    movl 192(%rsp), %edi
    call pclscope_first_call
    movq %rax, %r11
    movups 0(%rsp), %xmm0
    movups 16(%rsp), %xmm1
    movups 32(%rsp), %xmm2
    movups 48(%rsp), %xmm3
    movups 64(%rsp), %xmm4
    movups 80(%rsp), %xmm5
    movups 96(%rsp), %xmm6
    movups 112(%rsp), %xmm7
    addq $136, %rsp
    popq %r9
    popq %r8
    popq %rcx
    popq %rdx
    popq %rsi
    popq %rdi
    popq %rax
    .cfi_adjust_cfa_offset -192
    leaq 8(%rsp), %rsp
    .cfi_adjust_cfa_offset -8
    jmp *%r11
    .cfi_endproc
    .size pclscope_keep_arguments, .-pclscope_keep_arguments

    .section .note.GNU-stack,"",@progbits
