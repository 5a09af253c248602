// SPDX-License-Identifier: Apache-2.0
//
// Host port: the end of the program after a failed check: what was violated in words, where, and
// where to read more.
#include "check_texts.hpp"

#include <tactus/base/check.hpp>
#include <tactus/port/last_words.hpp>

#include <cstdio>
#include <cstdlib>

namespace tactus::inline v0 {

void fatal(const char* module, unsigned id) noexcept {
    const port::check_text* const known = port::find_check_text(module, id);
    char where[1'024];
    port::last_words::describe(where, sizeof where);
    std::fprintf(stderr, "tactus: check failed: %s:%u", module, id);
    if (known != nullptr)
        std::fprintf(stderr, ": %s", known->text);
    if (where[0] != '\0')
        std::fprintf(stderr, " (%s)", where);
    if (known != nullptr)
        std::fprintf(stderr, "; see docs/troubleshooting.md#%s", known->anchor);
    std::fputc('\n', stderr);
    std::fflush(stderr);
    port::last_words::flush();
    std::abort();
}

}  // namespace tactus::inline v0
