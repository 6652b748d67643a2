#include "frontends/c/processor.h"

namespace sous::frontends::c {

// Leaf 1: FMA is bit 12 of ecx, OSXSAVE 27, AVX 28. XCR0: what of registers the system saves. Leaf 7, ebx: BMI1 3,
// AVX2 5, BMI2 8, AVX512F 16, DQ 17, BW 30, VL 31 (Intel 64 and IA-32 Architectures Software Developer's Manual, 2A).
// (No macros: what this is written into is preprocessed. 0 is __ATOMIC_RELAXED.)
std::string_view processor_function() {
  return "int sous_processor(int) __attribute__((__const__, __nothrow__, __visibility__(\"hidden\"))); "
         "__attribute__((__noinline__, __cold__, __no_instrument_function__)) static int sous_ask_processor(int level) "
         "{ "
         "unsigned int a = 0, b = 0, c = 0, d = 0; unsigned int saved = level > 1 ? 0xe6u : 0x6u; "
         "unsigned int has = level > 1 ? 0xc0030128u : 0x128u; "
         "__asm__ __volatile__(\"cpuid\" : \"+a\"(a), \"=b\"(b), \"+c\"(c), \"=d\"(d)); "
         "if (a < 7u) return 1; "
         "a = 1; c = 0; __asm__ __volatile__(\"cpuid\" : \"+a\"(a), \"=b\"(b), \"+c\"(c), \"=d\"(d)); "
         "if ((c & 0x18001000u) != 0x18001000u) return 1; "
         "c = 0; __asm__ __volatile__(\"xgetbv\" : \"=a\"(a), \"=d\"(d) : \"c\"(c)); "
         "if ((a & saved) != saved) return 1; "
         "a = 7; c = 0; __asm__ __volatile__(\"cpuid\" : \"+a\"(a), \"=b\"(b), \"+c\"(c), \"=d\"(d)); "
         "return (b & has) == has ? 2 : 1; } "
         "__attribute__((__no_instrument_function__)) int sous_processor(int level) { static int known; "
         "int said = __atomic_load_n(&known, 0); "
         "if (said == 0) { said = sous_ask_processor(level); __atomic_store_n(&known, said, 0); } "
         "return said > 1; } ";
}

}  // namespace sous::frontends::c
