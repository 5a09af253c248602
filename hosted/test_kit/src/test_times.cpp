// SPDX-License-Identifier: Apache-2.0
//
// The factor of the environment.
#include <tactus/test_kit/test_times.hpp>

#include <tactus/test_kit/failure_handler.hpp>

#include <cstdlib>
#include <string>

namespace tactus::inline v0::test {

test_times test_times::from_environment() {
    test_times made;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here changes the environment
    const char* text = std::getenv("TACTUS_TEST_DILATION");
    if (text == nullptr)
        return made;
    char* end = nullptr;
    made.dilation = std::strtod(text, &end);
    if (end == text || *end != '\0' || !(made.dilation > 0 && made.dilation <= 1e6))
        fail("TACTUS_TEST_DILATION is a positive number such as 3 or 0.5, not '" +
             std::string(text) + "'");
    return made;
}

duration test_times::dilated(duration d) const noexcept {
    if (dilation == 1)
        return d;
    const double ns = static_cast<double>(d.ns()) * dilation;
    constexpr double longest = 9.2e18;
    return ns < longest ? duration::from_ns(static_cast<std::int64_t>(ns)) : duration::max();
}

}  // namespace tactus::inline v0::test
