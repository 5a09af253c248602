# Bare-metal side of the tests: images for the board, each a CTest test under QEMU.
#
# On a board with megabytes the tests of a layer are one image. On a small one each file is an image of its own, since
# their static memory together does not fit.
set(qemu_run ${PROJECT_SOURCE_DIR}/tools/qemu_run)
set(small_boards microbit)

target_include_directories(test_support INTERFACE support/cortex_m/boards/${TACTUS_BOARD})
target_compile_options(test_support INTERFACE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)

add_library(test_main OBJECT support/cortex_m/test_main.cpp)
target_link_libraries(test_main PRIVATE test_support tactus::board)

function(board_image name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;INCLUDES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE test_support tactus::board ${arg_LINK})
  target_include_directories(${name} PRIVATE ${arg_INCLUDES})
  set_target_properties(${name} PROPERTIES SUFFIX .elf)
  target_link_options(${name} PRIVATE -Wl,-Map=$<TARGET_FILE:${name}>.map -fno-lto)
  set_property(GLOBAL APPEND PROPERTY TACTUS_IMAGES ${name})
endfunction()

# board_test(<name> SOURCES <file> ... [LINK ...] [INCLUDES ...] [RUN <option of qemu_run> ...])
function(board_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;INCLUDES;RUN" ${ARGN})
  board_image(${name} SOURCES ${arg_SOURCES} LINK test_main ${arg_LINK} INCLUDES ${arg_INCLUDES})
  add_test(NAME ${name} COMMAND ${qemu_run} --timeout 880 ${arg_RUN} ${TACTUS_BOARD} $<TARGET_FILE:${name}>)
  set_tests_properties(${name} PROPERTIES TIMEOUT ${time_limit})
endfunction()

function(board_tests name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;INCLUDES;RUN" ${ARGN})
  if(NOT TACTUS_BOARD IN_LIST small_boards)
    board_test(${name} ${ARGN})
    return()
  endif()
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(part ${source} NAME_WE)
    board_test(${name}.${part} SOURCES ${source} LINK ${arg_LINK} INCLUDES ${arg_INCLUDES} RUN ${arg_RUN})
  endforeach()
endfunction()

file(GLOB port_tests CONFIGURE_DEPENDS portable/port/cortex_m/*_test.cpp)
file(GLOB time_port_tests CONFIGURE_DEPENDS portable/time/cortex_m/*_test.cpp)
file(GLOB actor_port_tests CONFIGURE_DEPENDS portable/actor/cortex_m/*_test.cpp)

# Settled layers on the smallest board; on the others with ./test --full.
if(TACTUS_ALL_TESTS OR TACTUS_BOARD IN_LIST small_boards)
  board_tests(base_tests SOURCES ${base_tests} LINK tactus::base tactus::port)
  board_tests(time_tests_narrow SOURCES ${time_tests} LINK tactus::time INCLUDES support/narrow_links)
  board_tests(mailbox_tests SOURCES ${mailbox_tests} LINK tactus::mailbox)
  board_tests(dispatch_tests SOURCES ${dispatch_tests} LINK tactus::dispatch)
endif()
# These look at interrupts: with -icount two runs must not differ, not even in when one came.
board_tests(port_tests SOURCES ${port_tests} LINK tactus::port RUN --twice)
board_tests(clock_tests SOURCES ${time_port_tests} LINK tactus::time INCLUDES support/narrow_links RUN --twice)
board_tests(driven_tests SOURCES ${actor_port_tests} LINK tactus::actor RUN --twice)
# An object with wide links has 33 KiB: more than a small board.
if(TACTUS_ALL_TESTS AND NOT TACTUS_BOARD IN_LIST small_boards)
  board_tests(time_tests SOURCES ${time_tests} LINK tactus::time INCLUDES support/wide_links)
endif()

# Services and the text of a dump have no room beside a system on a small board.
if(TACTUS_BOARD IN_LIST small_boards)
  list(FILTER actor_tests EXCLUDE REGEX "/dump_request_test\\.cpp$")
endif()
board_tests(scheduler_tests SOURCES ${scheduler_tests} LINK tactus::scheduler)
board_tests(actor_tests SOURCES ${actor_tests} LINK tactus::actor)
board_tests(interrupt_tests SOURCES ${actor_port_tests} LINK tactus::actor RUN --twice)

# The harness must be able to fail, and each way a program can end has its own status and text.
function(board_end_test name)
  cmake_parse_arguments(arg "" "STATUS;TEXT" "LINK" ${ARGN})
  board_image(${name} SOURCES support/cortex_m/ends/${name}.cpp LINK tactus::port ${arg_LINK})
  add_test(NAME ${name} COMMAND ${qemu_run} --status ${arg_STATUS} --text ${arg_TEXT}
    ${TACTUS_BOARD} $<TARGET_FILE:${name}>)
  set_tests_properties(${name} PROPERTIES TIMEOUT ${time_limit})
endfunction()
board_end_test(ends_with_a_failed_test STATUS 1 TEXT "1 passed, 3 failed" LINK test_main)
board_end_test(ends_without_a_test STATUS 1 TEXT "0 passed, 0 failed" LINK test_main)
board_end_test(ends_with_a_failed_check STATUS 70 TEXT "tactus: check failed: ending:12" LINK test_main)
board_end_test(ends_with_a_late_malloc STATUS 70 TEXT "tactus: check failed: heap:1" LINK test_main)
board_end_test(ends_with_a_late_new STATUS 70 TEXT "tactus: check failed: heap:1" LINK test_main)
board_end_test(ends_with_a_late_free STATUS 70 TEXT "tactus: check failed: heap:2" LINK test_main)
board_end_test(ends_with_a_full_heap STATUS 70 TEXT "tactus: check failed: heap:3")
board_end_test(ends_with_a_hard_fault STATUS 71 TEXT "tactus: hard fault at 0x" LINK test_main)
board_end_test(ends_with_a_used_up_stack STATUS 1 TEXT "the stack is used up" LINK test_main)
board_end_test(ends_with_an_unexpected_interrupt STATUS 70 TEXT "tactus: check failed: interrupt:14" LINK test_main)
board_end_test(ends_with_a_zero_resolution STATUS 70 TEXT "check failed: systick_clock:1" LINK tactus::time test_main)
board_end_test(ends_with_a_broken_resolution STATUS 70 TEXT "check failed: systick_clock:2" LINK tactus::time test_main)
board_end_test(ends_with_a_tick_too_long STATUS 70 TEXT "check failed: systick:1" LINK tactus::time test_main)
board_end_test(ends_with_two_clocks STATUS 70 TEXT "check failed: systick:2" LINK tactus::time test_main)

get_property(images GLOBAL PROPERTY TACTUS_IMAGES)
list(TRANSFORM images REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE image_files)
add_custom_target(size ALL
  COMMAND ${PROJECT_SOURCE_DIR}/tools/size_report --wheel "$<FILTER:$<TARGET_OBJECTS:tactus_time>,INCLUDE,timer_wheel>"
    ${image_files}
  DEPENDS ${images} tactus_time COMMENT "Sizes for ${TACTUS_BOARD}" VERBATIM COMMAND_EXPAND_LISTS)
