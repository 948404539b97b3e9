/* Compile a function for several instruction sets and take the best one when it is first called.

   Every clone does the same IEEE operations in the same order: there is no fast-math and no
   contraction. */
#ifndef SPARSEDP_WIDE_H
#define SPARSEDP_WIDE_H

#if !defined(SPARSEDP_PLAIN) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDE
#endif

#endif
