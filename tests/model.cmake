# The model checker's side of the tests: GoogleTest, one CTest test per TEST.
#
# tests/model/checker/ tests the checker itself; tests/model/*_test.cpp are the checks of the portable layers' lock-free
# code (MC-3). A file of those is found by its name; a new layer is added to the LINK line.
find_package(GTest REQUIRED)
include(GoogleTest)
target_include_directories(test_support INTERFACE support/host)  # the same framework

function(model_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE test_support GTest::gtest_main ${arg_LINK})
  gtest_discover_tests(${name} TEST_PREFIX "${name}: " DISCOVERY_TIMEOUT 600 PROPERTIES TIMEOUT ${time_limit})
endfunction()

# The contract of the port, outside of a check: the model's types are ordinary values there.
list(FILTER base_tests EXCLUDE REGEX "plain_edge_test\\.cpp$")  # of the real platforms
model_test(base_tests SOURCES ${base_tests} LINK tactus::base tactus::port)

file(GLOB checker_tests CONFIGURE_DEPENDS model/checker/*_test.cpp)
model_test(checker_tests SOURCES ${checker_tests} LINK tactus::port)

# The checks are tests, and scenarios for the mutations (MC-4): the same objects, two programs.
file(GLOB model_tests CONFIGURE_DEPENDS model/*_test.cpp)
add_library(model_scenarios OBJECT model/scenario.cpp ${model_tests})
target_link_libraries(model_scenarios PUBLIC test_support GTest::gtest tactus::actor tactus::scheduler)
model_test(model_tests SOURCES $<TARGET_OBJECTS:model_scenarios> LINK tactus::actor tactus::scheduler)

add_executable(model_mutations model/mutations.cpp $<TARGET_OBJECTS:model_scenarios>)
target_link_libraries(model_mutations PRIVATE test_support GTest::gtest tactus::actor tactus::scheduler)
# A minute and a half: for --full, and for who changes an edge.
if(TACTUS_ALL_TESTS)
  add_test(NAME model_mutations COMMAND model_mutations --check ${PROJECT_SOURCE_DIR}/docs/model.md)
  set_tests_properties(model_mutations PROPERTIES TIMEOUT ${time_limit})
endif()
