// The file PCLSCOPE_BLANK, which make_blank wrote, as bytes of the program.
#include "analysis/store/blank.hpp"

extern "C" const std::byte pclscope_blank_begin[], pclscope_blank_end[];

__asm__(
    ".pushsection .rodata\n"
    ".balign 16\n"
    ".global pclscope_blank_begin, pclscope_blank_end\n"
    "pclscope_blank_begin:\n"
    ".incbin \"" PCLSCOPE_BLANK
    "\"\n"
    "pclscope_blank_end:\n"
    ".byte 0\n"
    ".popsection\n");

std::span<const std::byte> pclscope::store::blank_dump() { return {pclscope_blank_begin, pclscope_blank_end}; }
