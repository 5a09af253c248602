set(TACTUS_BOARD mps2-an505)
set(tactus_cpu cortex-m33)
include(${CMAKE_CURRENT_LIST_DIR}/cortex-m.cmake)
