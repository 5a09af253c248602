set(TACTUS_BOARD microbit)
set(tactus_cpu cortex-m0)
include(${CMAKE_CURRENT_LIST_DIR}/cortex-m.cmake)
