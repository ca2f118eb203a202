/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A gate before each function of CALLS: hp3_fault() says whether the call fails. Whatever the
 * function takes, variable arguments among them, is as it was when it goes on.
 */
	.text
	.set number, 0

#define X(name, value, err)                                                                        \
	.globl __wrap_##name;                                                                      \
	.type __wrap_##name, @function;                                                            \
__wrap_##name:                                                                                     \
	mov $number, %r11d;                                                                        \
	call gate;                                                                                 \
	test %r11d, %r11d;                                                                         \
	jz 1f;                                                                                     \
	mov $number, %edi;                                                                         \
	jmp hp3_fault_answer;                                                                      \
1:	jmp __real_##name@PLT;                                                                     \
	.set number, number + 1;
#define H(name, value, err) .set number, number + 1;

/* In: r11, the number; out: r11, does it fail? Nothing else changes. */
gate:
	push %rax
	push %rdi
	push %rsi
	push %rdx
	push %rcx
	push %r8
	push %r9
	sub $136, %rsp
	movups %xmm0, (%rsp)
	movups %xmm1, 16(%rsp)
	movups %xmm2, 32(%rsp)
	movups %xmm3, 48(%rsp)
	movups %xmm4, 64(%rsp)
	movups %xmm5, 80(%rsp)
	movups %xmm6, 96(%rsp)
	movups %xmm7, 112(%rsp)
	mov %r11d, %edi
	mov 200(%rsp), %rsi /* where the function returns to */
	call hp3_fault
	mov %eax, %r11d
	movups (%rsp), %xmm0
	movups 16(%rsp), %xmm1
	movups 32(%rsp), %xmm2
	movups 48(%rsp), %xmm3
	movups 64(%rsp), %xmm4
	movups 80(%rsp), %xmm5
	movups 96(%rsp), %xmm6
	movups 112(%rsp), %xmm7
	add $136, %rsp
	pop %r9
	pop %r8
	pop %rcx
	pop %rdx
	pop %rsi
	pop %rdi
	pop %rax
	ret

#include CALLS

	.section .note.GNU-stack, "", @progbits
