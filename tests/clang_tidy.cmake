# clang-tidy belongs to the preset `clang`, whose compile commands it reads. It takes longer than all tests of that
# stage: it is run by ./test --full, and by hand for what one works on (tools/clang_tidy --build build/clang FOLDER).
# All 154 files take 15 minutes on two cores that others use, too, since no check is slow but each of them walks through
# the standard library's headers; files that have not changed since they passed take nothing.
find_program(tactus_clang_tidy clang-tidy-19)
if(tactus_clang_tidy)
  if(TACTUS_ALL_TESTS)
    add_test(NAME "clang_tidy: no warning in portable, hosted and the public headers"
      COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/clang_tidy --build ${PROJECT_BINARY_DIR})
    set_tests_properties("clang_tidy: no warning in portable, hosted and the public headers" PROPERTIES
      PROCESSORS 2 TIMEOUT 3600)
  endif()
  add_test(NAME "clang_tidy: planted violations are reported"
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/clang_tidy --self-test)
else()
  message(STATUS "clang-tidy-19 is not installed: its checks are not run")
endif()

# UP-8: aarch64 is promised as x86-64 is; here it is compiled for, on machines of its own everything else is run.
add_test(NAME "aarch64: the portable layers compile for it (UP-8)"
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/support/aarch64.py ${CMAKE_CXX_COMPILER}
    ${PROJECT_SOURCE_DIR})
