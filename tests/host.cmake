# Host side of the tests: GoogleTest, one CTest test per TEST.
find_package(GTest REQUIRED)
include(GoogleTest)

# The debug build with g++ has the tests of all layers. Other compilers and sanitizers have, unless all are asked for
# (./test --full), those of the layers that are being worked on: building is what takes long.
option(TACTUS_ALL_TESTS "build the tests of settled layers with every compiler and sanitizer, too" OFF)
set(settled ON)
if(NOT TACTUS_ALL_TESTS AND (TACTUS_SANITIZE OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU"))
  set(settled OFF)
endif()

# Tests of the tree itself (rules, layers, headers, installation): once per compiler is enough.
if(CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT TACTUS_SANITIZE AND NOT TACTUS_FUZZ)
  if(settled)
    add_subdirectory(layering)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    include(tidy.cmake)
    add_subdirectory(consumers)
  else()
    include(clang_tidy.cmake)
  endif()
endif()

function(host_test name)
  cmake_parse_arguments(arg "" "PRECOMPILE" "SOURCES;LINK;INCLUDES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE test_support GTest::gtest_main ${arg_LINK})
  target_include_directories(${name} PRIVATE ${arg_INCLUDES})
  # Half of what compiling a test takes is GoogleTest's header.
  target_precompile_headers(${name} PRIVATE <gtest/gtest.h>)
  target_compile_options(${name} PRIVATE
    $<IF:$<CXX_COMPILER_ID:GNU>,-fpch-preprocess,SHELL:-Xclang -fno-pch-timestamp>)
  if(arg_PRECOMPILE)
    tactus_precompile(${name} ${arg_PRECOMPILE})
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${name}: " DISCOVERY_TIMEOUT 600 PROPERTIES TIMEOUT ${time_limit})
endfunction()

file(GLOB base_death CONFIGURE_DEPENDS portable/base/*_death_test.cpp)
file(GLOB time_death CONFIGURE_DEPENDS portable/time/*_death_test.cpp)
file(GLOB mailbox_death CONFIGURE_DEPENDS portable/mailbox/*_death_test.cpp)
file(GLOB mailbox_hosted CONFIGURE_DEPENDS hosted/mailbox/*_test.cpp)
file(GLOB port_hosted CONFIGURE_DEPENDS hosted/port/*_test.cpp)
# Looking at poisoned memory needs who reports it.
if(NOT TACTUS_SANITIZE MATCHES "address")
  list(FILTER mailbox_hosted EXCLUDE REGEX "_asan_test\\.cpp$")
  list(FILTER port_hosted EXCLUDE REGEX "_asan_test\\.cpp$")
endif()
file(GLOB runtime_tests CONFIGURE_DEPENDS hosted/runtime/*_test.cpp)

if(settled OR TACTUS_SANITIZE MATCHES "address")  # poisoning is tested there
  host_test(base_tests SOURCES ${base_tests} ${base_death} ${port_hosted} LINK tactus::base tactus::port)
endif()
# Under sanitizers what they can find nothing new in is left out, since building is what takes long there: of the
# wheel's tests all but the random programs, and under ThreadSanitizer what has one thread.
set(wheel_tests ${time_tests})
if(TACTUS_SANITIZE)
  list(FILTER wheel_tests INCLUDE REGEX "(model|traces|regression)_test\\.cpp$")
endif()
if(settled AND NOT TACTUS_SANITIZE STREQUAL "thread")
  host_test(time_tests SOURCES ${wheel_tests} ${time_death} LINK tactus::time INCLUDES support/wide_links)
endif()
# Narrow links are tested on Cortex-M.
if(TACTUS_ALL_TESTS AND NOT TACTUS_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  host_test(time_tests_narrow SOURCES ${time_tests} LINK tactus::time INCLUDES support/narrow_links)
endif()
# ThreadSanitizer has nothing to say about what has one thread.
if(TACTUS_SANITIZE STREQUAL "thread" AND settled)
  host_test(mailbox_tests SOURCES ${mailbox_hosted} LINK tactus::mailbox)
elseif(settled)
  host_test(mailbox_tests SOURCES ${mailbox_tests} ${mailbox_death} ${mailbox_hosted} LINK tactus::mailbox)
endif()
if(settled OR TACTUS_SANITIZE STREQUAL "thread")
  host_test(runtime_tests PRECOMPILE <tactus/dispatch/actor_scheduler.hpp>
    SOURCES ${runtime_tests} LINK tactus::runtime INCLUDES support/wide_links)
  if(TACTUS_SANITIZE STREQUAL "thread")
    target_compile_definitions(runtime_tests PRIVATE BOOST_ASIO_DISABLE_FENCED_BLOCK)  # fences are not understood
  endif()
  target_compile_definitions(runtime_tests PRIVATE TACTUS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endif()

# UP-6 under Valgrind, which finds nothing where a sanitizer is linked in.
if(NOT TACTUS_SANITIZE AND NOT TACTUS_FUZZ AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # reads g++'s debug data only
  find_program(tactus_valgrind valgrind)
  if(tactus_valgrind)
    add_executable(freed_envelope hosted/mailbox/freed_envelope.cpp)
    target_link_libraries(freed_envelope PRIVATE tactus_build_flags tactus::mailbox)
    set(memcheck ${tactus_valgrind} -q --error-exitcode=9 $<TARGET_FILE:freed_envelope>)
    add_test(NAME "valgrind: envelopes in use raise no error (UP-6)"
      COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/support/says.py "poisons: yes" ${memcheck} used)
    add_test(NAME "valgrind: touching a freed payload is an error (UP-6)"
      COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/support/refused.py --status 9
        --saying "Invalid read of size 4" ${memcheck} freed)
  else()
    message(STATUS "valgrind is not installed: UP-6 is tested under AddressSanitizer alone")
  endif()
endif()

file(GLOB dispatch_death CONFIGURE_DEPENDS portable/dispatch/*_death_test.cpp)
if(settled AND NOT TACTUS_SANITIZE STREQUAL "thread")
  host_test(dispatch_tests PRECOMPILE <tactus/dispatch/actor_scheduler.hpp>
    SOURCES ${dispatch_tests} ${dispatch_death} LINK tactus::dispatch)
endif()
file(GLOB scheduler_death CONFIGURE_DEPENDS portable/scheduler/*_death_test.cpp)
file(GLOB scheduler_hosted CONFIGURE_DEPENDS hosted/scheduler/*_test.cpp)
if(TACTUS_SANITIZE STREQUAL "thread")
  set(scheduler_tests)
  set(scheduler_death)
  set(threaded)
  foreach(source IN LISTS scheduler_hosted)
    file(STRINGS ${source} words REGEX "std::j?thread")
    if(words)
      list(APPEND threaded ${source})
    endif()
  endforeach()
  set(scheduler_hosted ${threaded})
endif()
if(scheduler_tests OR scheduler_hosted)
  host_test(scheduler_tests PRECOMPILE <tactus/dispatch/actor_scheduler.hpp>
    SOURCES ${scheduler_tests} ${scheduler_death} ${scheduler_hosted} LINK tactus::scheduler)
  target_compile_definitions(scheduler_tests PRIVATE TACTUS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endif()
file(GLOB actor_death CONFIGURE_DEPENDS portable/actor/*_death_test.cpp)
file(GLOB actor_hosted CONFIGURE_DEPENDS hosted/actor/*_test.cpp)
if(NOT TACTUS_SANITIZE MATCHES "address")
  list(FILTER actor_hosted EXCLUDE REGEX "_asan_test\\.cpp$")
endif()
file(GLOB test_kit_tests CONFIGURE_DEPENDS hosted/test_kit/*_test.cpp)
if(TACTUS_SANITIZE STREQUAL "thread")
  foreach(list IN ITEMS actor_hosted test_kit_tests)
    set(threaded)
    foreach(source IN LISTS ${list})
      file(STRINGS ${source} words REGEX "actor_system|std::j?thread|system_kit")
      if(words)
        list(APPEND threaded ${source})
      endif()
    endforeach()
    set(${list} ${threaded})
  endforeach()
  set(actor_tests)
  set(actor_death)
endif()
if(settled OR TACTUS_SANITIZE)
  host_test(actor_tests PRECOMPILE <tactus/runtime/actor_system.hpp>
    SOURCES ${actor_tests} ${actor_death} ${actor_hosted} LINK tactus::runtime)
endif()
# A program of its own: the layers whose steps it counts are compiled for it with a call at each edge of their control
# flow.
if(settled AND NOT TACTUS_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(counted)
  foreach(layer IN ITEMS actor dispatch)
    file(GLOB counted_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/portable/${layer}/src/*.cpp)
    add_library(counted_${layer} OBJECT ${counted_sources})
    target_include_directories(counted_${layer} PRIVATE ${PROJECT_SOURCE_DIR}/portable/${layer}/src)
    target_link_libraries(counted_${layer} PRIVATE tactus::${layer} tactus_build_flags)
    target_compile_options(counted_${layer} PRIVATE -O1 -fno-exceptions -fsanitize-coverage=trace-pc)
    tactus_unite(counted_${layer} ${counted_sources})
    list(APPEND counted $<TARGET_OBJECTS:counted_${layer}>)
  endforeach()
  host_test(family_tests SOURCES hosted/family/family_scale_test.cpp ${counted} LINK tactus::runtime)
endif()
host_test(test_kit_tests PRECOMPILE <tactus/runtime/actor_system.hpp>
  SOURCES ${test_kit_tests} LINK tactus::test_kit)
# TK-1: the test kit needs no framework; those there are report what it says.
if(settled AND NOT TACTUS_SANITIZE)
  find_path(tactus_catch2 catch2/catch.hpp)
  foreach(framework IN ITEMS gtest catch2)
    if(framework STREQUAL "catch2" AND NOT tactus_catch2)
      message(STATUS "Catch2 is not installed: the test kit is tested with GoogleTest alone")
      continue()
    endif()
    add_executable(failing_${framework} hosted/test_kit/failing_${framework}.cpp)
    target_link_libraries(failing_${framework} PRIVATE tactus_build_flags tactus::test_kit)
    add_test(NAME "test_kit: ${framework} reports what a probe says (TK-1)"
      COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/support/refused.py --status 1
        --saying "${framework}-1: timeout (3 s) during expect while waiting for 42, waited 3 s"
        $<TARGET_FILE:failing_${framework}>)
  endforeach()
  target_link_libraries(failing_gtest PRIVATE GTest::gtest_main)
endif()
if(settled AND TACTUS_CONFIG)
  file(GLOB config_tests CONFIGURE_DEPENDS hosted/config/*_test.cpp)
  host_test(config_tests SOURCES ${config_tests} LINK tactus::config tactus::runtime tactus::test_kit)
  target_compile_definitions(config_tests PRIVATE TACTUS_DOCUMENT="${PROJECT_SOURCE_DIR}/docs/dispatchers.md")
endif()
# A program of its own: it replaces operator new and malloc to count.
add_executable(kernel_allocations hosted/runtime/kernel_allocations.cpp)
target_link_libraries(kernel_allocations PRIVATE test_support tactus::runtime)
add_test(NAME "kernel_allocations: steady traffic allocates nothing (PF-12)" COMMAND kernel_allocations)
set_tests_properties("kernel_allocations: steady traffic allocates nothing (PF-12)" PROPERTIES TIMEOUT ${time_limit})

# Likewise, to refuse. Sanitizers replace malloc themselves.
if(NOT TACTUS_SANITIZE)
  add_executable(exhaustion hosted/runtime/exhaustion.cpp)
  target_link_libraries(exhaustion PRIVATE tactus_build_flags tactus::runtime ${CMAKE_DL_LIBS})
  add_test(NAME "exhaustion: what is refused never aborts (DF-46)" COMMAND exhaustion)
  set_tests_properties("exhaustion: what is refused never aborts (DF-46)" PROPERTIES TIMEOUT ${time_limit})
endif()

# A program of its own: it replaces what tells the time. Sanitizers do so, too.
if(NOT TACTUS_SANITIZE)
  add_executable(wall_clock hosted/runtime/wall_clock.cpp)
  target_link_libraries(wall_clock PRIVATE tactus_build_flags tactus::runtime)
  add_test(NAME "wall_clock: its changes have no effect (SC-25)"
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/support/says.py "the wall clock does not matter"
      $<TARGET_FILE:wall_clock>)
  set_tests_properties("wall_clock: its changes have no effect (SC-25)" PROPERTIES TIMEOUT ${time_limit})
endif()

option(TACTUS_FUZZ "build the fuzzers; clang only, everything is instrumented for them" OFF)
if(TACTUS_FUZZ)
  set(fuzz_sanitizers address,undefined)
  target_compile_options(tactus_build_flags INTERFACE -g -O1 -fsanitize=fuzzer-no-link,${fuzz_sanitizers}
    -fno-sanitize-recover=all)
  target_link_options(tactus_build_flags INTERFACE -fsanitize=${fuzz_sanitizers})
  add_executable(timer_wheel_fuzz fuzz/timer_wheel_fuzz.cpp)
  target_include_directories(timer_wheel_fuzz PRIVATE support/wide_links)
  target_link_libraries(timer_wheel_fuzz PRIVATE test_support tactus::time GTest::gtest)
  target_link_options(timer_wheel_fuzz PRIVATE -fsanitize=fuzzer,${fuzz_sanitizers})
  add_executable(scheduler_fuzz fuzz/scheduler_fuzz.cpp)
  target_link_libraries(scheduler_fuzz PRIVATE test_support tactus::scheduler GTest::gtest)
  target_link_options(scheduler_fuzz PRIVATE -fsanitize=fuzzer,${fuzz_sanitizers})
  add_executable(settings_fuzz fuzz/settings_fuzz.cpp)
  target_link_libraries(settings_fuzz PRIVATE test_support tactus::config tactus::runtime)
  target_link_options(settings_fuzz PRIVATE -fsanitize=fuzzer,${fuzz_sanitizers})
endif()

# Documents that show what the code says: it says so with every compiler.
if(settled AND CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT TACTUS_SANITIZE AND NOT TACTUS_FUZZ)
  add_executable(state_table documents/state_table.cpp)
  target_link_libraries(state_table PRIVATE tactus_build_flags tactus::mailbox)
  add_test(NAME "documents: kernel.md has the state table of the code (ME-7)"
    COMMAND ${PROJECT_SOURCE_DIR}/tools/render_section --check ${PROJECT_SOURCE_DIR}/docs/kernel.md states
      $<TARGET_FILE:state_table>)
  add_executable(life_table documents/life_table.cpp)
  target_link_libraries(life_table PRIVATE tactus_build_flags tactus::actor)
  foreach(part IN ITEMS diagram states events actions rows)
    add_test(NAME "documents: lifecycle.md has the ${part} of the code (SV-1)"
      COMMAND ${PROJECT_SOURCE_DIR}/tools/render_section --check ${PROJECT_SOURCE_DIR}/docs/lifecycle.md ${part}
        $<TARGET_FILE:life_table> ${part})
  endforeach()
  add_executable(error_names documents/error_names.cpp)
  target_link_libraries(error_names PRIVATE tactus_build_flags tactus::runtime)
  add_test(NAME "documents: troubleshooting.md has every error by its name (DC-6)"
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/documents/troubleshooting.py ${PROJECT_SOURCE_DIR}
      $<TARGET_FILE:error_names>)
  add_test(NAME "documents: names missing in troubleshooting.md are reported (DC-6)"
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/documents/troubleshooting.py --self-test)
  foreach(program IN ITEMS actors_code ask_code backoff_code services_code supervision_code)
    add_executable(${program} documents/${program}.cpp)
    target_link_libraries(${program} PRIVATE tactus_build_flags tactus::runtime)
    add_test(NAME "documents: ${program} runs"
      COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/support/says.py " code works" $<TARGET_FILE:${program}>)
  endforeach()
  if(TACTUS_CONFIG)
    add_executable(dispatcher_tables documents/dispatcher_tables.cpp)
    target_link_libraries(dispatcher_tables PRIVATE tactus_build_flags tactus::config tactus::runtime)
    add_executable(page_code documents/page_code.cpp)
    target_link_libraries(page_code PRIVATE tactus_build_flags tactus::config tactus::runtime)
    add_test(NAME "documents: the code of the pages runs"
      COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/support/says.py "the pages' code works"
        $<TARGET_FILE:page_code>)
    add_executable(shutdown_code documents/shutdown_code.cpp)
    target_link_libraries(shutdown_code PRIVATE tactus_build_flags tactus::config tactus::runtime)
    add_test(NAME "documents: the code of shutdown.md and patterns.md runs (EV-3)"
      COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/support/says.py "the pages' code works"
        $<TARGET_FILE:shutdown_code>)
    foreach(part IN ITEMS settings names mailboxes requirements errors)
      add_test(NAME "documents: dispatchers.md has the ${part} of the code (DR-3)"
        COMMAND ${PROJECT_SOURCE_DIR}/tools/render_section --check ${PROJECT_SOURCE_DIR}/docs/dispatchers.md ${part}
          $<TARGET_FILE:dispatcher_tables> ${part})
    endforeach()
  endif()
  add_executable(testing_code documents/testing_code.cpp)
  target_link_libraries(testing_code PRIVATE tactus_build_flags tactus::test_kit)
  add_test(NAME "documents: the code of testing.md runs without a framework (TK-1)"
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/support/says.py "the page's code works"
      $<TARGET_FILE:testing_code>)
  add_executable(testing_gtest documents/testing_gtest.cpp)
  target_link_libraries(testing_gtest PRIVATE tactus_build_flags tactus::test_kit GTest::gtest_main)
  add_test(NAME "documents: the code of testing.md runs with GoogleTest (TK-1)" COMMAND testing_gtest)
  add_executable(coroutine_code documents/coroutine_code.cpp)
  target_link_libraries(coroutine_code PRIVATE tactus_build_flags tactus::runtime)
  add_test(NAME "documents: the code of coroutines.md runs (AC-2)"
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/support/says.py "the page's code works"
      $<TARGET_FILE:coroutine_code>)
  add_executable(overflow_table documents/overflow_table.cpp)
  target_link_libraries(overflow_table PRIVATE tactus_build_flags tactus::runtime)
  add_test(NAME "documents: mailboxes.md says what full mailboxes do (MB-1, MB-2)"
    COMMAND ${PROJECT_SOURCE_DIR}/tools/render_section --check ${PROJECT_SOURCE_DIR}/docs/mailboxes.md overflow
      $<TARGET_FILE:overflow_table>)
endif()
