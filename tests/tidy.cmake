# The written rules of the tree are a test, and a second one sees that each rule can fail.
add_test(NAME "tidy: the tree keeps its written rules" COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/tidy)
add_test(NAME "tidy: every rule reports a planted violation"
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/tidy --self-test)

# DC-4: the layers in docs/ARCHITECTURE.md are those of the build and of the includes.
set(layer_graph Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/layer_graph --layers ${PROJECT_BINARY_DIR}/layers.txt)
add_test(NAME "layer_graph: the document shows the layers as they are (DC-4)" COMMAND ${layer_graph} --check)
add_test(NAME "layer_graph: planted faults are reported" COMMAND ${layer_graph} --self-test)
add_test(NAME "documents: the README shows the example that is run"
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/readme_program.py
    ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/examples/hello.cpp)
add_test(NAME "documents: kernel.md shows the example that is run"
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/readme_program.py
    ${PROJECT_SOURCE_DIR}/docs/kernel.md ${PROJECT_SOURCE_DIR}/examples/bare_messages.cpp "struct doubled")
set(quick_start Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/documents/quick_start.py)
add_test(NAME "documents: the quick start shows short programs that are run (DC-3)"
  COMMAND ${quick_start} ${PROJECT_SOURCE_DIR}/docs/quick_start.md ${PROJECT_SOURCE_DIR}/examples/quick_start.cpp
    ${PROJECT_SOURCE_DIR}/examples/firmware/quick_start.cpp)
add_test(NAME "documents: planted faults of the quick start are reported (DC-3)" COMMAND ${quick_start} --self-test)
# Pages that show pieces: each is in a file that is compiled and run.
set(code_blocks Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/documents/code_blocks.py)
foreach(page IN ITEMS dispatchers events observability time)
  add_test(NAME "documents: the code of ${page}.md is compiled"
    COMMAND ${code_blocks} ${PROJECT_SOURCE_DIR}/docs/${page}.md ${CMAKE_CURRENT_SOURCE_DIR}/documents/page_code.cpp)
endforeach()
add_test(NAME "documents: the code of mailboxes.md is compiled"
  COMMAND ${code_blocks} ${PROJECT_SOURCE_DIR}/docs/mailboxes.md ${CMAKE_CURRENT_SOURCE_DIR}/documents/page_code.cpp
    ${PROJECT_SOURCE_DIR}/examples/bounded_mailbox.cpp)
foreach(page IN ITEMS actors:actors ask:ask backoff:backoff selection:backoff services:services stash_timers:ask
    supervision:supervision watch:supervision)
  string(REPLACE ":" ";" page ${page})
  list(GET page 1 program)
  list(GET page 0 page)
  add_test(NAME "documents: the code of ${page}.md is compiled"
    COMMAND ${code_blocks} ${PROJECT_SOURCE_DIR}/docs/${page}.md
      ${CMAKE_CURRENT_SOURCE_DIR}/documents/${program}_code.cpp)
endforeach()
add_test(NAME "documents: the code of coroutines.md is compiled"
  COMMAND ${code_blocks} ${PROJECT_SOURCE_DIR}/docs/coroutines.md
    ${CMAKE_CURRENT_SOURCE_DIR}/documents/coroutine_code.cpp)
foreach(page IN ITEMS patterns shutdown)
  add_test(NAME "documents: the code of ${page}.md is compiled"
    COMMAND ${code_blocks} ${PROJECT_SOURCE_DIR}/docs/${page}.md
      ${CMAKE_CURRENT_SOURCE_DIR}/documents/shutdown_code.cpp)
endforeach()
add_test(NAME "documents: the code of testing.md is compiled"
  COMMAND ${code_blocks} ${PROJECT_SOURCE_DIR}/docs/testing.md ${CMAKE_CURRENT_SOURCE_DIR}/documents/testing_code.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/documents/testing_gtest.cpp)
add_test(NAME "documents: planted differences of code are reported" COMMAND ${code_blocks} --self-test)
set(links Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/documents/links.py)
add_test(NAME "documents: links lead somewhere, and everywhere" COMMAND ${links} ${PROJECT_SOURCE_DIR})
add_test(NAME "documents: planted dead links are reported" COMMAND ${links} --self-test)
set(deviations Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/documents/deviations.py)
add_test(NAME "documents: deviations.md has every case that is run with a preset (DC-1)"
  COMMAND ${deviations} ${PROJECT_SOURCE_DIR})
add_test(NAME "documents: planted deviations are reported (DC-1)" COMMAND ${deviations} --self-test)
set(user_code Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/documents/user_code.py)
add_test(NAME "documents: user_code.md names a test for every place that may throw (DF-44)"
  COMMAND ${user_code} ${PROJECT_SOURCE_DIR})
add_test(NAME "documents: planted places without a test are reported (DF-44)" COMMAND ${user_code} --self-test)

# TC-F12: a gap that nobody explains, and an explanation of none, are both reported.
add_test(NAME "coverage: planted gaps are reported (TC-F12)"
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/coverage --self-test)

# PF-43: ./bench --compare ends non-zero when a median got worse than the threshold allows.
set(bench $<TARGET_FILE:Python3::Interpreter> ${PROJECT_SOURCE_DIR}/benchmarks/bench.py --compare)
set(bench_data ${CMAKE_CURRENT_SOURCE_DIR}/benchmarks)
add_test(NAME "bench: compare accepts what is within the threshold (PF-43)"
  COMMAND ${bench} ${bench_data}/base.json ${bench_data}/worse.json --threshold 0.25)
add_test(NAME "bench: compare refuses what is beyond it (PF-43)"
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/support/refused.py
    --saying "1 cases are more than 5% worse, 0 of the base were not measured now"
    ${bench} ${bench_data}/base.json ${bench_data}/worse.json)
# DF-73: the stage `counts` of ./test compares with the committed baseline; here it is read, and a missing case refused.
set(baseline ${PROJECT_SOURCE_DIR}/benchmarks/baseline.json)
add_test(NAME "bench: the committed baseline can be compared with (DF-73)"
  COMMAND ${bench} ${baseline} ${baseline})
add_test(NAME "bench: compare refuses results that lack cases of the baseline (DF-73)"
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/support/refused.py
    --saying "0 cases are more than 5% worse" ${bench} ${baseline} ${bench_data}/base.json)

add_test(NAME "tests: none has a time limit that a busy machine reaches (DF-41)"
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/support/time_limits.py ${PROJECT_BINARY_DIR} ${time_limit})
