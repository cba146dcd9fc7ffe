// The C library's elementary functions, for ticks: glibc computes them without a lock or an allocation. Inline, so that
// what the processor has an instruction for (a square root) is that instruction. Linked from libm.
#pragma once

#define TACTUS_MATH_1(name)                                                                                   \
  TACTUS_REALTIME static inline double tactus_##name(double x) { return __builtin_##name(x); }                \
  TACTUS_REALTIME static inline float tactus_##name##f(float x) { return __builtin_##name##f(x); }

#define TACTUS_MATH_2(name)                                                                                   \
  TACTUS_REALTIME static inline double tactus_##name(double x, double y) { return __builtin_##name(x, y); }   \
  TACTUS_REALTIME static inline float tactus_##name##f(float x, float y) { return __builtin_##name##f(x, y); }

TACTUS_MATH_1(sin)
TACTUS_MATH_1(cos)
TACTUS_MATH_1(tan)
TACTUS_MATH_1(asin)
TACTUS_MATH_1(acos)
TACTUS_MATH_1(atan)
TACTUS_MATH_2(atan2)
TACTUS_MATH_1(sinh)
TACTUS_MATH_1(cosh)
TACTUS_MATH_1(tanh)
TACTUS_MATH_1(exp)
TACTUS_MATH_1(exp2)
TACTUS_MATH_1(expm1)
TACTUS_MATH_1(log)
TACTUS_MATH_1(log2)
TACTUS_MATH_1(log10)
TACTUS_MATH_1(log1p)
TACTUS_MATH_2(pow)
TACTUS_MATH_2(hypot)
TACTUS_MATH_1(sqrt)
TACTUS_MATH_1(cbrt)

TACTUS_MATH_1(round)
TACTUS_MATH_1(floor)
TACTUS_MATH_1(ceil)
TACTUS_MATH_1(trunc)
TACTUS_MATH_1(roundeven)
TACTUS_MATH_2(remainder)
TACTUS_MATH_2(fmod)

#undef TACTUS_MATH_1
#undef TACTUS_MATH_2
